"""Bar charts as SVG text, one panel below the other, without a library. Must not know what the bars measure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#999999")
"""Okabe and Ito's, which the colour-blind tell apart; after the last they begin anew, with an edge."""
WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 760, 300, 56, 64, 36
PLOT_HEIGHT = HEIGHT - TOP - BOTTOM
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


def svg(charts: Sequence[Chart]) -> str:
    """A document with one panel a chart."""
    size = f'width="{WIDTH}" height="{HEIGHT * len(charts)}" viewBox="0 0 {WIDTH} {HEIGHT * len(charts)}"'
    panels = [
        f'<g transform="translate(0 {HEIGHT * index})">{"".join(_panel(chart))}</g>'
        for index, chart in enumerate(charts)
    ]
    style = 'font-family="sans-serif" font-size="12" fill="#222"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} {style}>\n<rect width="100%" height="100%" fill="#fff"/>'
    return "\n".join([head, *panels, "</svg>\n"])


def _panel(chart: Chart) -> list[str]:
    top = _round_up(max((height for heights in chart.bars.values() for height in heights.values()), default=1.0))
    parts = [_text(LEFT, 20, chart.title, 'font-size="15" font-weight="bold"'), *_legend(list(chart.bars))]
    for step in range(5):
        y = TOP + PLOT_HEIGHT * (1 - step / 4)
        parts.append(f'<path d="M{LEFT} {y:.1f}H{WIDTH - 12}" stroke="#ddd"/>')
        parts.append(_text(LEFT - 6, y + 4, f"{top * step / 4:g}", 'text-anchor="end"'))
    for index, group in enumerate(chart.groups):
        parts += _group(chart, group, index, top)
    return parts


def _group(chart: Chart, group: str, index: int, top: float) -> list[str]:
    """The bars of one group side by side, its name below."""
    wide = (WIDTH - 12 - LEFT) / len(chart.groups)
    bar = min(48.0, wide * 0.8 / len(chart.bars))
    centre = LEFT + wide * (index + 0.5)
    parts = [_text(centre, HEIGHT - BOTTOM + 18, group, 'text-anchor="middle"')]
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
    return f'fill="{COLOURS[index % len(COLOURS)]}"{edge}'


def _round_up(value: float) -> float:
    """The next of 1, 2, 4, 5 or 8 times a power of ten, which quarter well."""
    power = 10.0 ** (len(f"{value:.0f}") - 1) if value >= 1 else 0.01
    return next(step * power for step in (1, 2, 4, 5, 8, 10, 20, 50, 100) if step * power >= value)


def _text(x: float, y: float, words: str, style: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" {style}>{escape(words)}</text>'
