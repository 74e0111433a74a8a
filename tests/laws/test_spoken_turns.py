"""However often the recogniser dies in a spoken turn, what is answered is all that was said, or nothing is."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from predtui.runtime.supervisor import DELAYS_S
from predtui.state import events as ev
from tests.cast import Pace, cast
from tests.runtime.harness import Harness

SAID = "convert ten miles to kilometres"
STEPS = 400
"""More than a turn has, kills and all: of what its stages yield, and of looks at the clock."""


def spoken(pace: Pace, kills: list[int], lagging: bool) -> tuple[Harness, int]:
    """The turn, in which the recogniser was killed after so many steps, and how often that met it alive."""
    harness = Harness(cast(pace), lagging=lagging)
    harness.pipeline.listen_file(SAID)
    met = 0
    for step in range(STEPS):
        harness.pipeline.pump()
        if harness.turn.phase == "done":
            break
        if step in kills and harness.hosts["asr"].alive and harness.turn.busy:
            harness.kill("asr")
            met += 1
        moved = [host.step() for host in list(harness.hosts.values())]
        if not lagging or step % 3 == 0:
            harness.arrive()
        if not any(moved) and not harness.under_way:
            harness.clock.advance(0.1)
    return harness, met


@given(
    st.lists(st.integers(0, 40), max_size=4),
    st.sampled_from([0.0, 3.0, 100.0]),
    st.sampled_from([0.0, 3.0, 30.0]),
    st.booleans(),
)
@settings(max_examples=30, deadline=None)
def test_a_recogniser_killed_at_any_moments_answers_all_that_was_said_or_the_turn_is_refused(
    kills: list[int], load_s: float, hear_s: float, lagging: bool
) -> None:
    harness, met = spoken(Pace(load_s=load_s, hear_s=hear_s), kills, lagging)
    assert harness.turn.phase == "done"
    harness.settle()
    answered = [exchange.user for exchange in harness.turn.conversation]
    refused = [event for event in harness.events if isinstance(event, ev.Refused)]
    assert (answered, len(refused)) in (([SAID], 0), ([], 1))
    assert not refused or met > len(DELAYS_S), "refused though it could go on"
    assert bool(harness.of(ev.ReplyCommitted)) == bool(answered)
