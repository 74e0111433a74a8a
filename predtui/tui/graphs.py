"""The course of the machine's figures as graphs, in as many rows and columns as there is room for. Pure; knows nothing
of widgets, nor of where the figures come from.

A figure is a meter, a graph of some rows under its name, or a line, a row of bars behind it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import NamedTuple

from textual.content import Content

from predtui.state.events import Usage
from predtui.tui import figures
from predtui.tui.gate import assemble
from predtui.tui.load import Course, Load

WIDE = 100
"""Columns from which on there are two of graphs."""
GAP = 3
"""Cells between two columns."""
LEAST = 3
"""Rows of a meter, that of its name among them."""
NAME = 8
"""Cells before the bars of a line."""
CORE = 20
"""Least cells of a core's line, of which as many stand side by side as fit."""


class Graph(NamedTuple):
    """``top``: the figure that fills its height."""

    name: str
    course: Course
    told: str
    style: str
    top: float = 100.0


class Column(NamedTuple):
    """Of graphs, the most important ones first."""

    meters: Sequence[Graph]
    lines: Sequence[Content]


def picture(load: Load, usage: Usage, width: int, height: int) -> list[Content]:
    """All of it that fits, each line within the width."""
    if width < WIDE:
        return _drawn(_alone(load, usage, width, height), width, height)
    left, right = width - GAP - width // 2, width // 2
    beside = (_drawn(_left(load, usage, left, height), left, height), _drawn(_right(load, usage, right), right, height))
    return [a + " " * (left - a.cell_length + GAP) + b for a, b in zip_longest(*beside, fillvalue=assemble())]


def _alone(load: Load, usage: Usage, width: int, height: int) -> Column:
    lines = [*_cores(load, usage, width, height // 4), *_stages(load, usage, width, memory=False)]
    return Column([_cpu(load, usage), *_gpu(load, usage), *_rates(load)], lines)


def _left(load: Load, usage: Usage, width: int, height: int) -> Column:
    watts = _of_device(load, ("cpu W",), ".row-asr", width)
    return Column([_cpu(load, usage)], [*_cores(load, usage, width, height // 2), *watts])


def _right(load: Load, usage: Usage, width: int) -> Column:
    device = _of_device(load, ("gpu MB", "gpu W", "gpu °C"), ".row-tts", width)
    return Column([*_gpu(load, usage), *_rates(load)], [*device, *_stages(load, usage, width)])


def _drawn(column: Column, width: int, height: int) -> list[Content]:
    """The meters share the rows that the lines leave: at least one is there, and as many more as are legible."""
    if not column.meters:
        return list(column.lines[:height])
    lines = column.lines[: max(0, height - LEAST)]
    room = height - len(lines)
    meters = column.meters[: max(1, room // LEAST)]
    drawn: list[Content] = []
    for at, meter in enumerate(meters):
        drawn += _meter(meter, width, room // len(meters) + (at < room % len(meters)))
    return [*drawn, *lines]


def _meter(graph: Graph, width: int, height: int) -> list[Content]:
    head = assemble((graph.name, ".strong"), f"  {graph.told}")
    rows = figures.graph(graph.course, width, max(0, height - 1), graph.top) if height > 1 else []
    return [head if head.cell_length <= width else assemble((graph.name, ".strong")), *_coloured(rows, graph.style)]


def _coloured(rows: Sequence[str], style: str) -> list[Content]:
    return [assemble((row, style)) for row in rows]


def _line(graph: Graph, width: int) -> Content:
    """Name, bars as far as there is room, and what is told."""
    bars = figures.sparkline(graph.course, max(0, width - NAME - len(graph.told) - 1), graph.top)
    return assemble((f"{graph.name:<{NAME}}", ".dim"), *_bars(bars, graph.style), f" {graph.told}")


def _bars(bars: str, style: str) -> tuple[tuple[str, str], tuple[str, str]]:
    """Dots for what was before anything was known."""
    known = bars.lstrip("·")
    return ("·" * (len(bars) - len(known)), ".dim"), (known, style)


def _cpu(load: Load, usage: Usage) -> Graph:
    parts = [figures.percent(usage.cpu), figures.memory(usage.memory_mb)]
    parts += [f"{usage.watts:.0f} W"] if usage.watts is not None else []
    parts += [f"{figures.energy(load.joules)} the last reply"] if load.joules is not None else []
    return Graph("cpu", load.course("cpu"), "   ".join(parts), ".row-asr")


def _gpu(load: Load, usage: Usage) -> list[Graph]:
    if usage.gpu is None:
        return []
    told = [figures.percent(usage.gpu)]
    told += [figures.memory(usage.gpu_memory_mb)] if usage.gpu_memory_mb is not None else []
    told += [f"{usage.gpu_watts:.0f} W"] if usage.gpu_watts is not None else []
    told += [f"{usage.gpu_celsius:.0f} °C"] if usage.gpu_celsius is not None else []
    return [Graph("gpu", load.course("gpu"), "   ".join(told), ".row-tts")]


def _rates(load: Load) -> list[Graph]:
    """What the model does, where it has done something."""
    styles = {"tokens/s": ".row-llm", "forwards/s": ".row-target"}
    return [_rate(name, course, style) for name, style in styles.items() if (course := load.course(name))]


def _rate(name: str, course: Course, style: str) -> Graph:
    most = max(course)
    return Graph(name, course, f"{course[-1]:.0f}   most {most:.0f}", style, max(1.0, most))


def _of_device(load: Load, names: Sequence[str], style: str, width: int) -> list[Content]:
    """Figures whose top is the most of their course: none is known that they could reach."""
    lines = []
    for name in names:
        if course := load.course(name):
            _, unit = name.split()
            told = figures.memory(course[-1]) if unit == "MB" else f"{course[-1]:.0f} {unit}"
            lines.append(_line(Graph(name, course, f"{told:>8}", style, max(1.0, *course)), width))
    return lines


def _cores(load: Load, usage: Usage, width: int, most: int) -> list[Content]:
    """A line of bars each, side by side, in at most so many rows; where those are too few, a bar each."""
    beside = min(max(1, width // CORE), max(1, len(usage.cores)))
    rows = -(-len(usage.cores) // beside)
    if rows > max(1, most):
        bars = "".join(figures.bar(core / 100) for core in usage.cores)
        return [assemble((f"{'cores':<{NAME}}", ".dim"), (bars[: width - NAME], ".row-asr"))]
    cells = (width - (beside - 1) * 2) // beside
    drawn = [
        _line(Graph(f"core {at}", load.course(f"core {at}"), f"{core:3.0f} %", ".row-asr"), cells)
        for at, core in enumerate(usage.cores)
    ]
    return [assemble("  ").join(drawn[at : at + beside]) for at in range(0, len(drawn), beside)]


def _stages(load: Load, usage: Usage, width: int, memory: bool = True) -> list[Content]:
    """For each its load, in percent of one core, and its memory, as a course of its own with ``memory``."""
    most = max((megabytes for _, _, megabytes in usage.stages), default=1.0)
    lines = []
    for name, share, megabytes in usage.stages:
        held = f"{figures.memory(megabytes):>8}"
        loaded = Graph(name, load.course(f"{name} %"), f"{figures.percent(share):>6}", ".row-llm")
        if not memory:
            lines.append(_line(loaded._replace(told=f"{loaded.told} {held}"), width))
            continue
        bars = max(0, (width - NAME) // 3 - len(held))
        course = figures.sparkline(load.course(f"{name} MB"), bars, max(1.0, most))
        tail = assemble(" ", *_bars(course, ".row-audio"), f" {held}")
        lines.append(_line(loaded, width - tail.cell_length) + tail)
    return lines
