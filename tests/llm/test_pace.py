"""Long prompts are cut into pieces that take a moment, all of the prompt is in them, and no verification is cut."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from predtui.clock import VirtualClock
from predtui.llm.pace import LEAST, MOMENT_S, MOST, Pace

SPEEDS = st.floats(5.0, 1e6)
"""Tokens a second."""


def cut(pace: Pace, clock: VirtualClock, speed: float, start: int, first_row: int, end: int) -> list[tuple[int, int]]:
    pieces = []
    for begin, stop in pace.pieces(start, first_row, end):
        clock.sleep((stop - begin) / speed)
        pieces.append((begin, stop))
    return pieces


@given(st.lists(st.tuples(SPEEDS, st.integers(0, 500), st.integers(1, 2000), st.integers(1, 300)), max_size=5))
def test_pieces_are_all_there_is_and_none_takes_long(forwards: list[tuple[float, int, int, int]]) -> None:
    clock = VirtualClock()
    pace = Pace(clock.now)
    for speed, start, count, last in forwards:
        end = start + count
        first_row = end - min(last, count)
        pieces = cut(pace, clock, speed, start, first_row, end)
        assert [begin for begin, _ in pieces] == [start, *(stop for _, stop in pieces[:-1])]
        assert pieces[-1][1] == end
        assert all(stop - begin <= MOST for begin, stop in pieces)
        for number, (begin, stop) in enumerate(pieces):
            measured = number and pieces[0][1] - start >= LEAST
            if stop <= first_row and measured:
                assert stop - begin <= max(LEAST, MOMENT_S * speed)


@given(SPEEDS, st.integers(1, LEAST), st.integers(1, MOST - LEAST))
def test_a_verification_is_not_cut(speed: float, before: int, last: int) -> None:
    clock = VirtualClock()
    pace = Pace(clock.now)
    cut(pace, clock, speed, 0, 500, 500)
    assert cut(pace, clock, speed, 500, 500 + before, 500 + before + last) == [(500, 500 + before + last)]


def test_a_fast_engine_evaluates_as_much_as_it_can_at_once() -> None:
    clock = VirtualClock()
    pieces = cut(Pace(clock.now), clock, 1e5, 0, 2000, 2001)
    assert [stop - begin for begin, stop in pieces[:3]] == [LEAST, MOST, MOST]
    assert len(pieces) <= 3 + 2000 // MOST
