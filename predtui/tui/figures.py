"""Numbers and lines as a person reads them: units, bars, what fits. Pure; knows nothing of widgets or of the turn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from rich.cells import cell_len, set_cell_size
from textual.content import Content

from predtui.tui.gate import assemble

BLOCKS = " ▁▂▃▄▅▆▇█"
"""Eighths of a cell, from empty to full."""
NONE = "–"
"""Stands where there is no value."""
QUIETEST_DB = -60.0
"""Where a level of sound is empty."""


def milliseconds(value: float | None) -> str:
    """``6.1 ms``, ``96 ms``, ``1.24 s``; a dash for None."""
    if value is None:
        return NONE
    if value >= 999.5:
        return f"{value / 1000:.2f} s"
    return f"{value:.0f} ms" if value >= 9.95 else f"{value:.1f} ms"


def bare_milliseconds(value: float) -> str:
    """The number alone, at most five characters, for a column whose head says ms."""
    return f"{value:.0f}" if value >= 99.95 else f"{value:.1f}"


def gain(first_audio: float | None, without: float | None) -> Literal["good", "bad", ""]:
    """What speculation did to a latency, as a style: good where no time was lost, nothing where that is not known."""
    if first_audio is None or without is None:
        return ""
    return "good" if first_audio <= without else "bad"


def percent(value: float | None) -> str:
    return NONE if value is None else f"{value:.0f} %"


def memory(megabytes: float | None) -> str:
    if megabytes is None:
        return NONE
    return f"{megabytes:.0f} MB" if megabytes < 1024 else f"{megabytes / 1024:.1f} GB"


def energy(joules: float) -> str:
    """``4.1 J``, ``96 J``, ``1.2 kJ``."""
    if joules >= 999.5:
        return f"{joules / 1000:.1f} kJ"
    return f"{joules:.0f} J" if joules >= 9.95 else f"{joules:.1f} J"


def file_size(size: int) -> str:
    """``size`` in bytes, as hubs and file managers tell it."""
    return f"{size / 1e6:.0f} MB" if size < 1e9 else f"{size / 1e9:.1f} GB"


def bar(share: float) -> str:
    """One cell filled from below; ``share`` in 0..1. Anything above nothing is seen."""
    share = min(1.0, max(0.0, share))
    return BLOCKS[max(1, round(share * 8))] if share > 0 else BLOCKS[0]


def sparkline(values: Sequence[float], width: int, top: float = 100.0) -> str:
    """The last ``width`` values as bars of height value/top, right-aligned behind dots; zero keeps the lowest bar."""
    bars = "".join(BLOCKS[max(1, round(min(1.0, max(0.0, value / top)) * 8))] for value in list(values)[-width:])
    return bars.rjust(width, "·")


def graph(values: Sequence[float], width: int, height: int, top: float = 100.0) -> list[str]:
    """The last ``width`` values as bars over ``height`` rows, right-aligned, the highest row first."""
    eighths = [max(1, round(min(1.0, max(0.0, value / top)) * 8 * height)) for value in list(values)[-width:]]
    rows = ("".join(BLOCKS[min(8, max(0, of - 8 * row))] for of in eighths) for row in reversed(range(height)))
    return [line.rjust(width) for line in rows]


def meter(share: float, width: int) -> str:
    """A level of ``width`` cells; ``share`` in 0..1."""
    filled = round(min(1.0, max(0.0, share)) * width)
    return "█" * filled + "░" * (width - filled)


def loudness(decibels: float, width: int) -> str:
    """A level in decibels, of which 0 is as loud as can be, with its figure behind it: ``width`` cells in all."""
    figure = f" {decibels:4.0f} dBFS"
    return meter(1 - decibels / QUIETEST_DB, max(0, width - len(figure))) + figure


def shorten(text: str, width: int) -> str:
    """At most ``width`` characters, cut between words and marked with an ellipsis; a single long word is cut itself."""
    if len(text) <= width:
        return text
    if width < 2:
        return text[: max(0, width)]
    head = text[: width - 1]
    if not text[width - 1].isspace() and " " in head.strip():
        head = head[: head.rstrip().rindex(" ")]
    return head.rstrip() + "…"


def tail(text: str, width: int) -> str:
    """The last words of ``text`` in at most ``width`` cells, marked with an ellipsis where some are missing."""
    if cell_len(text) <= width:
        return text
    begin = len(text)
    while begin and cell_len(text[begin - 1 :]) < width:
        begin -= 1
    end = text[begin:]
    return f"…{end[end.find(' ') + 1 :] if ' ' in end.strip() else end.lstrip()}" if width > 0 else ""


def ends(text: str, width: int) -> str:
    """At most ``width`` cells: beginning and end of ``text``, which tell names apart, with an ellipsis between them."""
    if cell_len(text) <= width:
        return text
    last = max(0, width - 1) // 2
    first = set_cell_size(text, max(0, width - 1 - last)).rstrip()
    return f"{first}…{set_cell_size(text[::-1], last).rstrip()[::-1]}" if width > 0 else ""


def row(parts: Sequence[Content], width: int, gap: int = 3) -> Content:
    """As many of the parts as fit on one line, in order, none of them cut."""
    line = assemble()
    for part in parts:
        joined = line + " " * gap + part if line else part
        if joined.cell_length > width:
            break
        line = joined
    return line


def rows(parts: Sequence[Content], width: int, height: int, gap: int = 3) -> list[Content]:
    """The parts flowed over at most ``height`` lines, none of them cut."""
    lines: list[Content] = []
    left = [part for part in parts if part.cell_length <= width]
    while left and len(lines) < height:
        line = left.pop(0)
        while left and line.cell_length + gap + left[0].cell_length <= width:
            line = line + " " * gap + left.pop(0)
        lines.append(line)
    return lines


def spread(left: Content, right: Content, width: int) -> Content:
    """One line with a part at each end; the right one gives way where both do not fit."""
    space = width - left.cell_length - right.cell_length
    return left + " " * space + right if space >= 1 else left
