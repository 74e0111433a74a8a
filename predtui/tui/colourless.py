"""The screen without colours, for who sets NO_COLOR: weight, underline, strike-through and reversal carry the meaning.

Textual's own filter makes greys, which are colours, too. Knows no widget.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from rich.color import Color as RichColor
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter

STANDS_OUT = 2.5
"""Contrast, as WCAG has it, from which on a ground is no surface among others: a cursor, a choice, a button."""
_PLAIN, _REVERSED = (
    Style(color=RichColor.default(), bgcolor=RichColor.default(), reverse=reverse) for reverse in (False, True)
)


class Colourless(LineFilter):
    """Draws all in the terminal's own two colours; what stands on a coloured ground is reversed."""

    def __init__(self, ground: Callable[[], Color]) -> None:
        """``ground``: the background of the theme in use."""
        super().__init__()
        self._ground = ground

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        ground = self._ground().rgb
        return [Segment(text, style and _colourless(style, ground), control) for text, style, control in segments]


@lru_cache(4096)
def _colourless(style: Style, ground: tuple[int, int, int]) -> Style:
    own = style.bgcolor
    stands_out = own is not None and not own.is_default and contrast(own.get_truecolor(), ground) >= STANDS_OUT
    return style + (_REVERSED if stands_out or style.reverse else _PLAIN)


def contrast(one: tuple[int, int, int], other: tuple[int, int, int]) -> float:
    """Of two colours of red, green and blue in 0..255, from 1 to 21.

    Source: https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio.
    """
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: tuple[int, int, int]) -> float:
    """Relative luminance of red, green and blue in 0..255, from 0 to 1."""
    red, green, blue = (part / 3294.6 if part <= 10.0 else ((part / 255 + 0.055) / 1.055) ** 2.4 for part in colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
