"""Numbers and lines as a person reads them: with units, within the width, never cut within a word."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.content import Content

from predtui.tui import figures


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "–"),
        (0.0, "0.0 ms"),
        (6.14, "6.1 ms"),
        (9.97, "10 ms"),
        (96.4, "96 ms"),
        (999.7, "1.00 s"),
        (1240, "1.24 s"),
    ],
)
def test_milliseconds_carry_their_unit(value: float | None, text: str) -> None:
    assert figures.milliseconds(value) == text


@given(st.text(alphabet="abc de", max_size=60), st.integers(0, 30))
def test_shortening_fits_and_cuts_between_words(text: str, width: int) -> None:
    short = figures.shorten(text, width)
    assert len(short) <= width or len(text) <= width
    if short.endswith("…") and " " in short[:-1].strip():
        assert set(short[:-1].split()) <= set(text.split())


@given(st.lists(st.text(alphabet="ab", min_size=1, max_size=12), max_size=9), st.integers(1, 30), st.integers(1, 4))
def test_rows_hold_whole_parts_within_the_width(words: list[str], width: int, height: int) -> None:
    lines = figures.rows([Content(word) for word in words], width, height)
    assert len(lines) <= height
    assert all(line.cell_length <= width for line in lines)
    assert all(word in words for line in lines for word in line.plain.split())


def test_sparkline_is_as_wide_as_asked_and_never_empty_at_zero() -> None:
    assert figures.sparkline([0.0, 50.0, 100.0, 250.0], 6) == "··▁▄██"
    assert len(figures.sparkline([], 5)) == 5


@given(st.none() | st.floats(0, 1e5), st.none() | st.floats(0, 1e5))
def test_a_latency_is_green_only_where_speculation_lost_no_time(first: float | None, without: float | None) -> None:
    measured = first is not None and without is not None
    assert (figures.gain(first, without) == "good") == (measured and first <= without)
    assert (figures.gain(first, without) == "bad") == (measured and first > without)
