"""Charts of bars or points as SVG text, one below the other, without a library. Must not know what they measure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#999999")
"""Okabe and Ito's, which the colour-blind tell apart; after the last they begin anew, with an edge."""
WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 760, 300, 56, 64, 36
RIGHT = WIDTH - 12
PLOT_HEIGHT = HEIGHT - TOP - BOTTOM
MIDDLE = 'text-anchor="middle"'
LEGEND_LETTER, LEGEND_LINE = 7, 14


@dataclass(frozen=True, slots=True)
class Chart:
    """``bars[series][group]``: heights from 0 up; a series may lack groups. ``title`` names their unit."""

    title: str
    bars: Mapping[str, Mapping[str, float]]

    @property
    def groups(self) -> list[str]:
        """All groups, in the order in which the series first name them."""
        return list(dict.fromkeys(group for heights in self.bars.values() for group in heights))


@dataclass(frozen=True, slots=True)
class Scatter:
    """``points[series]``: (x, y, label) from 0 up, joined in their order; ``levels``: heights drawn right across.
    ``title`` names the unit of y, ``across`` that of x."""

    title: str
    across: str
    points: Mapping[str, Sequence[tuple[float, float, str]]]
    levels: Mapping[str, float]


def svg(charts: Sequence[Chart | Scatter]) -> str:
    """A document with one panel a chart."""
    size = f'width="{WIDTH}" height="{HEIGHT * len(charts)}" viewBox="0 0 {WIDTH} {HEIGHT * len(charts)}"'
    panels = [
        f'<g transform="translate(0 {HEIGHT * index})">'
        f"{''.join(_bars(chart) if isinstance(chart, Chart) else _scatter(chart))}</g>"
        for index, chart in enumerate(charts)
    ]
    style = 'font-family="sans-serif" font-size="12" fill="#222"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} {style}>\n<rect width="100%" height="100%" fill="#fff"/>'
    return "\n".join([head, *panels, "</svg>\n"])


def _frame(title: str, series: Sequence[str], top: float) -> list[str]:
    """Title, legend and the quarters of ``top`` at the left."""
    parts = [_text(LEFT, 20, title, 'font-size="15" font-weight="bold"'), *_legend(series)]
    for step in range(5):
        y = TOP + PLOT_HEIGHT * (1 - step / 4)
        parts.append(f'<path d="M{LEFT} {y:.1f}H{RIGHT}" stroke="#ddd"/>')
        parts.append(_text(LEFT - 6, y + 4, f"{top * step / 4:g}", 'text-anchor="end"'))
    return parts


def _bars(chart: Chart) -> list[str]:
    top = _round_up(max((height for heights in chart.bars.values() for height in heights.values()), default=1.0))
    parts = _frame(chart.title, list(chart.bars), top)
    for index, group in enumerate(chart.groups):
        parts += _group(chart, group, index, top)
    return parts


def _scatter(chart: Scatter) -> list[str]:
    every = [point for points in chart.points.values() for point in points]
    wide = _round_up(max((x for x, _, _ in every), default=1.0))
    top = _round_up(max((*(y for _, y, _ in every), *chart.levels.values()), default=1.0))
    parts = _frame(chart.title, [*chart.points, *chart.levels], top)
    for step in range(5):
        parts.append(_text(LEFT + (RIGHT - LEFT) * step / 4, HEIGHT - BOTTOM + 16, f"{wide * step / 4:g}", MIDDLE))
    parts.append(_text((LEFT + RIGHT) / 2, HEIGHT - 4, chart.across, MIDDLE))
    for index, points in enumerate(chart.points.values()):
        at = [(LEFT + (RIGHT - LEFT) * x / wide, TOP + PLOT_HEIGHT * (1 - y / top), label) for x, y, label in points]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y, _ in at)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{_colour(index)}"/>')
        for x, y, label in at:
            parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" {_paint(index)}/>')
            parts.append(_text(x + 6, y - 6, label, 'font-size="10"'))
    for index, height in enumerate(chart.levels.values(), len(chart.points)):
        y = TOP + PLOT_HEIGHT * (1 - height / top)
        parts.append(f'<path d="M{LEFT} {y:.1f}H{RIGHT}" stroke="{_colour(index)}" stroke-dasharray="6 3"/>')
    return parts


def _group(chart: Chart, group: str, index: int, top: float) -> list[str]:
    """The bars of one group side by side, its name below."""
    wide = (RIGHT - LEFT) / len(chart.groups)
    bar = min(48.0, wide * 0.8 / len(chart.bars))
    centre = LEFT + wide * (index + 0.5)
    parts = [_text(centre, HEIGHT - BOTTOM + 18, group, MIDDLE)]
    for place, heights in enumerate(chart.bars.values()):
        if group not in heights:
            continue
        x, height = centre + bar * (place - len(chart.bars) / 2), PLOT_HEIGHT * heights[group] / top
        y = TOP + PLOT_HEIGHT - height
        parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{bar:.1f}" height="{height:.1f}" {_paint(place)}/>')
        if bar >= 24:
            parts.append(_text(x + bar / 2, y - 3, f"{heights[group]:.3g}", 'text-anchor="middle" font-size="10"'))
    return parts


def _legend(names: Sequence[str]) -> list[str]:
    """In as many lines as the names need."""
    parts, x, y = [], LEFT, 28
    for index, name in enumerate(names):
        wide = 26 + LEGEND_LETTER * len(name)
        if x > LEFT and x + wide > WIDTH:
            x, y = LEFT, y + LEGEND_LINE
        parts.append(f'<rect x="{x}" y="{y}" width="10" height="10" {_paint(index)}/>')
        parts.append(_text(x + 14, y + 9, name))
        x += wide
    return parts


def _paint(index: int) -> str:
    """The look of a series, in its bars and its legend."""
    edge = ' stroke="#222"' if index >= len(COLOURS) else ""
    return f'fill="{_colour(index)}"{edge}'


def _colour(index: int) -> str:
    return COLOURS[index % len(COLOURS)]


def _round_up(value: float) -> float:
    """The next of 1, 2, 4, 5 or 8 times a power of ten, which quarter well."""
    power = 10.0 ** (len(f"{value:.0f}") - 1) if value >= 1 else 0.01
    return next(step * power for step in (1, 2, 4, 5, 8, 10, 20, 50, 100) if step * power >= value)


def _text(x: float, y: float, words: str, style: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" {style}>{escape(words)}</text>'
