"""How hard the machine works. Knows nothing of what it works on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from textual.content import Content

from predtui.state.events import Usage
from predtui.state.turn import Turn
from predtui.tui import figures
from predtui.tui.gate import assemble
from predtui.tui.widgets.pane import Pane

ENGINES = ("asr", "llm", "tts")
"""Shown before the other processes, where not all fit."""
HISTORY = 200
"""Samples kept for the graphs."""
GRAPHS = 8
"""Rows from which on graphs are drawn, as in a pane that is zoomed."""
TALLEST = 8
"""Rows of a graph."""
NAME = 8


Level = tuple[str, tuple[float, ...], str, str]
"""Name, history, what is told of it, style."""


class Load(NamedTuple):
    """The latest sample, and the percentages before it, oldest first."""

    now: Usage | None
    cpu: tuple[float, ...]
    gpu: tuple[float, ...]
    stages: tuple[tuple[str, tuple[float, ...]], ...] = ()
    """Percent of one core of each process."""
    joules: float | None = None
    """Of the last reply."""


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
        ("cores", "in a large pane: a bar for each core, as it is now"),
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
        before = getattr(self, "values", Load(None, (), ()))
        joules = before.joules if turn.joules is None else turn.joules
        if not turn.usage.memory_mb or turn.usage == before.now:
            return before if joules == before.joules else before._replace(joules=joules)
        gpu = before.gpu if turn.usage.gpu is None else (*before.gpu, turn.usage.gpu)
        former = dict(before.stages)
        stages = tuple((name, (*former.get(name, ()), share)[-HISTORY:]) for name, share, _ in turn.usage.stages)
        return Load(turn.usage, (*before.cpu, turn.usage.cpu)[-HISTORY:], gpu[-HISTORY:], stages, joules)

    def draw(self, values: Load, width: int, height: int) -> list[Content]:
        if values.now is None:
            return [assemble(("measuring…", ".dim"))]
        if height >= GRAPHS:
            return list(_graphs(values, values.now, width, height))
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


def _graphs(values: Load, usage: Usage, width: int, height: int) -> Iterator[Content]:
    """CPU, GPU where there is one, each core, and each process with its memory: as much as fits."""
    told = _told(usage.cpu, usage.memory_mb, usage.watts)
    joules = "" if values.joules is None else f"   {figures.energy(values.joules)} the last reply"
    levels: list[Level] = [("cpu", values.cpu, told + joules, ".row-asr")]
    if usage.gpu is not None:
        told = _told(usage.gpu, usage.gpu_memory_mb, usage.gpu_watts, usage.gpu_celsius)
        levels.append(("gpu", values.gpu, told, ".row-tts"))
    loads = {name: (share, memory) for name, share, memory in usage.stages}
    rows = max(2, min(TALLEST, (height - len(loads) - 1) // len(levels) - 1))
    for name, course, told, style in levels:
        yield assemble((name, ".strong"), f"  {told}")
        yield from (assemble((line, style)) for line in figures.graph(course, width, rows))
    bars = "".join(figures.bar(core / 100) for core in usage.cores)
    yield assemble((f"{'cores':<{NAME}}", ".dim"), (bars[: width - NAME], ".row-asr"))
    for name, shares in values.stages:
        said = f" {figures.percent(loads[name][0]):>6} {figures.memory(loads[name][1]):>8}"
        cells = max(0, width - NAME - len(said))
        line = figures.sparkline(shares, cells)
        yield assemble((f"{name:<{NAME}}", ".dim"), (line, ".row-llm"), said)


def _told(percent: float, memory: float | None, watts: float | None, celsius: float | None = None) -> str:
    parts = [figures.percent(percent), "" if memory is None else figures.memory(memory)]
    parts += ["" if watts is None else f"{watts:.0f} W", "" if celsius is None else f"{celsius:.0f} °C"]
    return "   ".join(filter(None, parts))


def _level(name: str, course: tuple[float, ...], value: float | None, cells: int, style: str) -> Content:
    if value is None:
        return _figure(name, figures.NONE)
    bars = figures.sparkline(course, cells)
    return assemble(
        (f"{name} ", ".dim"), ("·" * bars.count("·"), ".dim"), (bars.lstrip("·"), style), f" {figures.percent(value)}"
    )


def _figure(name: str, value: str) -> Content:
    return assemble((f"{name} ", ".dim"), value)
