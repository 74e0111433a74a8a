"""How hard the machine works. Knows nothing of what it works on."""

from __future__ import annotations

from textual.content import Content

from predtui.state.turn import Turn
from predtui.tui import figures
from predtui.tui.gate import assemble
from predtui.tui.graphs import picture
from predtui.tui.load import Course, Load, followed
from predtui.tui.widgets.pane import Pane

ENGINES = ("asr", "llm", "tts")
"""Shown before the other processes, where not all fit."""
GRAPHS = 8
"""Rows from which on graphs are drawn, as in a pane that is zoomed."""


class UtilisationPane(Pane[Load]):
    """CPU and GPU in percent with recent history, memory in MB, and each stage in percent of one core."""

    TOPIC = "utilisation"
    SAMPLED = True
    MEANINGS = (
        ("cpu", "percent of all the machine's cores, with recent history (one bar per sample)"),
        ("gpu", "percent of the GPU; – if there is none"),
        ("ram, vram", "memory used by predtui and its stages, and on the GPU (MB or GB)"),
        ("asr llm tts …", "percent of one core that the stage uses; with several threads, above 100 %"),
        ("W", "watts of the processors, which many systems tell only root (/sys/class/powercap), and of the GPU"),
        ("J", "joules of the processors from the last turn's beginning to the end of its reply, whatever used them"),
        ("°C", "temperature of the GPU"),
        ("core", "in a large pane: percent of each core, with recent history, or a bar each where they are many"),
        ("tokens/s", "in a large pane: tokens that the model chose a second, those of guesses that fell among them"),
        ("forwards/s", "in a large pane: forwards of the model a second; fewer than tokens where drafts hold"),
        ("most", "the most of what is shown, at which the graph is full"),
    )
    ROOM = """
        UtilisationPane { height: 2; }
        .-flat UtilisationPane, .-low UtilisationPane, .-middling UtilisationPane { display: none; }
        .-tall UtilisationPane, .-towering UtilisationPane { height: 3; }
        .-narrow.-tall UtilisationPane { height: 2; }
        .-vast.-towering UtilisationPane { height: 12; }
    """
    values: Load

    def read(self, turn: Turn) -> Load:
        return followed(getattr(self, "values", Load()), turn)

    def draw(self, values: Load, width: int, height: int) -> list[Content]:
        if values.now is None:
            return [assemble(("measuring…", ".dim"))]
        if height >= GRAPHS:
            return picture(values, values.now, width, height)
        usage = values.now
        cells = 8 if width < 100 else 16 if width < 160 else 32
        parts = [
            _level("cpu", values.course("cpu"), usage.cpu, cells, ".row-asr"),
            _level("gpu", values.course("gpu"), usage.gpu, cells, ".row-tts"),
            _figure("ram", figures.memory(usage.memory_mb)),
        ]
        if usage.gpu_memory_mb is not None:
            parts.append(_figure("vram", figures.memory(usage.gpu_memory_mb)))
        engines_first = sorted(usage.stages, key=lambda stage: stage[0] not in ENGINES)
        parts += [_figure(name, figures.percent(share)) for name, share, _ in engines_first]
        return figures.rows(parts, width, height)


def _level(name: str, course: Course, value: float | None, cells: int, style: str) -> Content:
    if value is None:
        return _figure(name, figures.NONE)
    bars = figures.sparkline(course, cells)
    return assemble(
        (f"{name} ", ".dim"), ("·" * bars.count("·"), ".dim"), (bars.lstrip("·"), style), f" {figures.percent(value)}"
    )


def _figure(name: str, value: str) -> Content:
    return assemble((f"{name} ", ".dim"), value)
