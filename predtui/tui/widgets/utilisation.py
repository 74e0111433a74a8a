"""How hard the machine works. Knows nothing of what it works on."""

from __future__ import annotations

from typing import NamedTuple

from textual.content import Content

from predtui.state.events import Usage
from predtui.state.turn import Turn
from predtui.tui import figures
from predtui.tui.gate import assemble
from predtui.tui.widgets.pane import Pane

ENGINES = ("asr", "llm", "tts")
"""Shown before the other processes, where not all fit."""
HISTORY = 120
"""Samples kept for the sparklines."""


class Load(NamedTuple):
    """The latest sample, and the percentages before it, oldest first."""

    now: Usage | None
    cpu: tuple[float, ...]
    gpu: tuple[float, ...]


class UtilisationPane(Pane[Load]):
    """CPU and GPU in percent with recent history, memory in MB, and each stage in percent of one core."""

    TOPIC = "utilisation"
    MEANINGS = (
        ("cpu", "percent of all the machine's cores, with recent history (one bar per sample)"),
        ("gpu", "percent of the GPU; – if there is none"),
        ("ram, vram", "memory used by predtui and its stages, and on the GPU (MB or GB)"),
        ("asr llm tts …", "percent of one core that the stage uses; with several threads, above 100 %"),
    )
    ROOM = """
        UtilisationPane { height: 2; }
        .-flat UtilisationPane, .-low UtilisationPane, .-middling UtilisationPane { display: none; }
        .-tall UtilisationPane, .-towering UtilisationPane { height: 3; }
        .-narrow.-tall UtilisationPane { height: 2; }
    """
    values: Load

    def read(self, turn: Turn) -> Load:
        before = getattr(self, "values", Load(None, (), ()))
        if not turn.usage.memory_mb or turn.usage == before.now:
            return before
        gpu = before.gpu if turn.usage.gpu is None else (*before.gpu, turn.usage.gpu)
        return Load(turn.usage, (*before.cpu, turn.usage.cpu)[-HISTORY:], gpu[-HISTORY:])

    def draw(self, values: Load, width: int, height: int) -> list[Content]:
        if values.now is None:
            return [assemble(("measuring…", ".dim"))]
        usage = values.now
        cells = 8 if width < 100 else 16 if width < 160 else 32
        parts = [
            _level("cpu", values.cpu, usage.cpu, cells, ".row-asr"),
            _level("gpu", values.gpu, usage.gpu, cells, ".row-tts"),
            _figure("ram", figures.memory(usage.memory_mb)),
        ]
        if usage.gpu_memory_mb is not None:
            parts.append(_figure("vram", figures.memory(usage.gpu_memory_mb)))
        engines_first = sorted(usage.stages, key=lambda stage: stage[0] not in ENGINES)
        parts += [_figure(name, figures.percent(share)) for name, share, _ in engines_first]
        return figures.rows(parts, width, height)


def _level(name: str, course: tuple[float, ...], value: float | None, cells: int, style: str) -> Content:
    if value is None:
        return _figure(name, figures.NONE)
    bars = figures.sparkline(course, cells)
    return assemble(
        (f"{name} ", ".dim"), ("·" * bars.count("·"), ".dim"), (bars.lstrip("·"), style), f" {figures.percent(value)}"
    )


def _figure(name: str, value: str) -> Content:
    return assemble((f"{name} ", ".dim"), value)
