"""Spans of work: how busy a worker was is kept, in few spans that do not overlap much."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui.clock import VirtualClock
from predtui.decoding.costs.constants import SPAN_S
from predtui.decoding.costs.spans import DRAFT, TARGET, WorkSpan, WorkSpans

works = st.lists(st.tuples(st.sampled_from([TARGET, DRAFT]), st.floats(0, 0.1), st.floats(0, 0.3)), max_size=60)


@given(works, st.sets(st.integers(0, 60)))
def test_busy_time_is_kept_in_spans_that_begin_a_span_apart(
    jobs: list[tuple[str, float, float]], asked: set[int]
) -> None:
    spans, clock, taken = WorkSpans(), VirtualClock(), list[WorkSpan]()
    for number, (worker, gap, seconds) in enumerate(jobs):
        clock.advance(gap)
        start = clock.now()
        clock.advance(seconds)
        spans.worked(worker, start, clock.now())
        taken += spans.take() if number in asked else []
    taken += spans.take(over=True)
    assert spans.take(over=True) == []
    for worker in (TARGET, DRAFT):
        its = [span for span in taken if span.worker == worker]
        busy = sum(seconds for name, _, seconds in jobs if name == worker)
        assert sum(span.end - span.start for span in its) == pytest.approx(busy)
        assert all(after.start >= before.start + SPAN_S for before, after in pairwise(its))
