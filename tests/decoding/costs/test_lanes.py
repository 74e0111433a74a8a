"""Pieces of work: how busy a lane was is kept, in few pieces that do not overlap much."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui.clock import VirtualClock
from predtui.decoding.costs.lanes import DRAFT, PIECE_S, TARGET, Lanes, Piece

works = st.lists(st.tuples(st.sampled_from([TARGET, DRAFT]), st.floats(0, 0.1), st.floats(0, 0.3)), max_size=60)


@given(works, st.sets(st.integers(0, 60)))
def test_busy_time_is_kept_in_pieces_that_begin_a_piece_apart(
    jobs: list[tuple[str, float, float]], asked: set[int]
) -> None:
    lanes, clock, told = Lanes(), VirtualClock(), list[Piece]()
    for number, (lane, gap, seconds) in enumerate(jobs):
        clock.advance(gap)
        start = clock.now()
        clock.advance(seconds)
        lanes.worked(lane, start, clock.now())
        told += lanes.take() if number in asked else []
    told += lanes.take(over=True)
    assert lanes.take(over=True) == []
    for lane in (TARGET, DRAFT):
        pieces = [piece for piece in told if piece.lane == lane]
        busy = sum(seconds for name, _, seconds in jobs if name == lane)
        assert sum(piece.end - piece.start for piece in pieces) == pytest.approx(busy)
        assert all(after.start >= before.start + PIECE_S for before, after in pairwise(pieces))
