"""With against without: ratios of sums, turns that lost, and answers that were there before the question."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from predtui.lab.bench.paired import Pair, foretold, gains
from predtui.state.events import Continuation, Event, Transcript

times = st.floats(1, 1e4)
turns = st.lists(st.builds(Pair, times, times, st.booleans()), min_size=1, max_size=9)


@given(turns, st.floats(0, 1e3))
def test_a_gain_is_what_all_turns_took_together(pairs: list[Pair], forward_ms: float) -> None:
    found = gains(pairs, forward_ms)
    assert (
        abs(found["speedup"] * sum(p.ours for p in pairs) - sum(p.plain for p in pairs))
        < 1e-3 * sum(p.ours + p.plain for p in pairs)
        or found["speedup"] < 0.01
    )
    assert (found["first_turn_speedup"] is None) == (not any(pair.first for pair in pairs))
    assert found["slower_turns"] == sum(pair.ours > pair.plain + forward_ms for pair in pairs)
    assert (found["slower_turns"] > 0) == (max(pair.ours - pair.plain for pair in pairs) > forward_ms)


def test_without_a_baseline_nothing_is_gained_or_lost() -> None:
    assert set(gains([], 1.0).values()) == {None}


def heard(time: float, text: str, final: bool = False) -> Transcript:
    return Transcript(time=time, tentative="" if final else text, stable=text if final else "", final=final)


SAID: list[Event] = [heard(1, "how f"), heard(2, "how far"), heard(3, "how far is"), heard(4, "how far is", True)]


def test_an_answer_counts_that_was_there_before_the_last_word_was_whole() -> None:
    assert foretold([*SAID, Continuation(time=2.9, prompt="how far is")])
    assert not foretold([*SAID, Continuation(time=3.1, prompt="how far is")])
    assert not foretold([*SAID, Continuation(time=2.0, prompt="how far")])
    assert not foretold(SAID)
    assert not foretold([])
