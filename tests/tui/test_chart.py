"""Spans as bars: as high as their cells are busy, over an axis whose labels are never cut."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui.state.turn import Span
from predtui.tui import chart
from tests.tui.scenes import answered, first_exchange, fold


def test_a_bar_is_as_high_as_its_cell_is_busy() -> None:
    assert chart.bars([Span(0.0, 0.1), Span(0.2, 0.25)], 0.0, 4) == "█ ▄ "
    assert chart.bars([Span(0.0, 0.001)], 0.0, 1) == "▁"


@given(st.lists(st.tuples(st.floats(0, 20), st.floats(0, 2)), max_size=20), st.floats(0, 10), st.integers(1, 80))
def test_busy_time_is_kept_within_the_window(pairs: list[tuple[float, float]], start: float, cells: int) -> None:
    spans = [Span(begin, begin + length) for begin, length in pairs]
    shares = chart.shares(spans, start, cells)
    assert len(shares) == cells
    assert all(0.0 <= share <= 1.0 for share in shares)
    end = start + cells * chart.CELL
    inside = sum(max(0.0, min(span.end, end) - max(span.start, start)) for span in spans)
    assert sum(shares) * chart.CELL <= inside + 1e-6


def test_the_axis_counts_seconds_and_scrolls_by_whole_cells() -> None:
    assert chart.axis(10.0, 10.0, 25) == "┴0 s──────┴1 s──────┴2 s─"
    start = chart.window(latest=14.0, origin=10.0, cells=25)
    assert start == pytest.approx(11.6)
    assert chart.axis(start, 10.0, 25).startswith("────┴2 s")
    assert chart.column_of(13.95, start, 25) == 23


def test_a_label_is_never_cut() -> None:
    for cells in range(1, 60):
        for piece in chart.axis(0.0, 0.0, cells).replace("┴", "─").split("─"):
            assert piece == "" or piece.endswith(" s")


def test_the_latest_moment_is_the_newest_thing_known() -> None:
    assert chart.latest_moment(fold([*first_exchange(), *answered()])) == pytest.approx(15.4)
