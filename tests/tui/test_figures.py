"""Numbers and lines as a person reads them: with units, within the width, never cut within a word."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
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


@given(st.text(alphabet="abc de法", max_size=60), st.integers(-3, 30))
def test_the_last_words_of_a_text_fit_and_are_whole(text: str, width: int) -> None:
    end = figures.tail(text, width)
    assert cell_len(end) <= max(width, 0) or end == text == ""
    if end != text:
        assert not end or end[0] == "…"
        assert text.endswith(end[1:])
        if " " in end[1:].strip():
            assert set(end[1:].split()) <= set(text.split())


@pytest.mark.parametrize(("size", "text"), [(0, "0 MB"), (720_000_000, "720 MB"), (4_920_000_000, "4.9 GB")])
def test_a_file_is_as_large_as_its_hub_tells(size: int, text: str) -> None:
    assert figures.file_size(size) == text
