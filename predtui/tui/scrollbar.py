"""How a scrollbar is drawn: a thin thumb on nothing, which stands at an end only where nothing more is there. Must not
know what is scrolled.
"""

from __future__ import annotations

from rich.color import Color
from rich.segment import Segment, Segments
from rich.style import Style
from textual.scrollbar import ScrollBarRender

THUMB = "▐"
"""Half a cell: what stands left of it keeps its distance."""
_OWN = Color.parse("default")


class ThinBar(ScrollBarRender):
    """For ``ScrollBar.renderer``, of bars one cell wide."""

    @classmethod
    def render_bar(
        cls,
        size: int = 25,
        virtual_size: float = 50,
        window_size: float = 20,
        position: float = 0,
        thickness: int = 1,
        vertical: bool = True,
        back_color: Color = _OWN,
        bar_color: Color = _OWN,
    ) -> Segments:
        """``size`` cells; the bar tells what a press on each of them means, as Textual's own does."""
        start, end = thumb(size, virtual_size, window_size, position)
        above, grab, below = (
            Style(color=bar_color, bgcolor=back_color, meta={"@mouse.down": act})
            for act in ("scroll_up", "grab", "scroll_down")
        )
        parts = ((" ", above, start), (THUMB, grab, end - start), (" ", below, size - end))
        return Segments([Segment(glyph, style) for glyph, style, cells in parts for _ in range(cells)], vertical)


def thumb(size: int, virtual_size: float, window_size: float, position: float) -> tuple[int, int]:
    """Begin and end of the thumb in ``size`` cells: the share that ``window_size`` of ``virtual_size`` lines is, one
    cell at least, and as far down as the line ``position`` on top is. (0, 0) where all is seen."""
    hidden = virtual_size - window_size
    if window_size <= 0 or hidden <= 0:
        return 0, 0
    length = max(1, min(size - 1, round(size * window_size / virtual_size)))
    room = size - length
    start = round(room * position / hidden)
    if room > 1:  # an end is reached with the last line, and not before
        start = max(int(position > 0), min(start, room - int(position < hidden)))
    return start, start + length
