"""Drawing keeps to its share of a core, and is never put off for long."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui.tui.frames import Pace


class TestPace:
    def test_a_cheap_drawing_is_followed_by_the_next_after_a_frame(self) -> None:
        times = {"now": 5.0, "spent": 0.0}
        pace = Pace(lambda: times["now"], lambda: times["spent"])
        assert pace.wait() == 0.0
        pace.drawn()
        times.update(now=5.02, spent=0.001)
        assert pace.wait() == pytest.approx(0.03)
        times.update(now=5.06)
        assert pace.wait() == 0.0

    @given(st.floats(0.0001, 0.019))
    def test_drawing_takes_no_more_than_its_share_of_a_core(self, cost: float) -> None:
        times = {"now": 0.0, "spent": 0.0}
        pace = Pace(lambda: times["now"], lambda: times["spent"])
        for _ in range(100):
            pace.drawn()
            times["spent"] += cost
            times["now"] += pace.wait()
        assert times["spent"] / times["now"] <= 0.08 + 1e-9

    def test_a_drawing_is_never_put_off_for_long(self) -> None:
        times = {"now": 0.0, "spent": 0.0}
        pace = Pace(lambda: times["now"], lambda: times["spent"])
        pace.drawn()
        times.update(spent=9.0)
        assert pace.wait() == pytest.approx(0.25)
