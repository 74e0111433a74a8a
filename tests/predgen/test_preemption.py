"""What ends a forward under way: the end of the input, but for the prompt that is being answered, and a turn's end."""

from __future__ import annotations

import pytest

from predtui.clock import VirtualClock
from predtui.predgen.preemption import Preemption
from predtui.state.events import Configure, Event, Interrupt, Transcript, TurnStarted


@pytest.mark.parametrize(
    ("event", "ahead", "ends"),
    [
        (Transcript(stable="what is", final=True), None, True),
        (Transcript(stable="what", final=True), None, False),
        (Transcript(stable="what", final=True), "what is", True),
        (Transcript(stable="what is", final=True), "what is", False),
        (Transcript(tentative="what is"), None, False),
        (TurnStarted(), None, True),
        (Interrupt(), None, True),
        (Configure(verifier="greedy"), None, False),
    ],
)
def test_what_can_no_longer_matter_is_not_waited_for(event: Event, ahead: str | None, ends: bool) -> None:
    for enabled in (True, False):
        preemption = Preemption(VirtualClock(), enabled, lambda: ahead)
        preemption.answering = "what"
        preemption.arrived(event)
        assert preemption.halt() == (ends and enabled)


@pytest.mark.parametrize(
    ("event", "ahead", "overtakes"),
    [
        (Transcript(tentative="what is", unfinished=False), None, True),
        (Transcript(tentative="what", unfinished=False), None, False),
        (Transcript(tentative="what is", unfinished=False), "what is", False),
        (Transcript(tentative="what i"), None, False),
        (Transcript(tentative="what i"), "what is", True),
    ],
)
def test_a_word_overtakes_all_but_what_is_made_for_it_between_pieces(
    event: Event, ahead: str | None, overtakes: bool
) -> None:
    for enabled in (True, False):
        preemption = Preemption(VirtualClock(), enabled, lambda: ahead)
        preemption.answering = "what"
        preemption.arrived(event)
        assert preemption.halt() == (overtakes and enabled)
        assert not preemption.halt.within()


def test_a_word_that_goes_on_growing_after_a_pause_lets_what_was_said_be_read_to_its_end() -> None:
    preemption = Preemption(VirtualClock(), True, lambda: None)
    preemption.arrived(Transcript(tentative="what is the capi", paused=True))
    preemption.handled(Transcript(tentative="what is the capi", paused=True))
    preemption.answering = "what is the capi"
    preemption.arrived(Transcript(tentative="what is the capit"))
    assert not preemption.halt()
    preemption.arrived(Transcript(tentative="what is the capital of"))
    assert preemption.halt()


def test_the_beginning_of_a_turn_is_read_even_if_its_first_word_has_come() -> None:
    """Its pieces are those of the word's own prompt."""
    preemption = Preemption(VirtualClock(), True, lambda: None)
    begins = TurnStarted(turn=2)
    preemption.arrived(begins)
    preemption.arrived(Transcript(turn=2, revision=1, tentative="what is"))
    preemption.handled(begins)
    assert preemption.halt()
    assert not preemption.halt.within()


def test_work_goes_on_once_what_ended_it_is_handled() -> None:
    preemption = Preemption(VirtualClock(), True, lambda: None)
    urgent = Transcript(turn=1, revision=5, stable="what is", final=True)
    preemption.arrived(urgent)
    preemption.handled(Transcript(turn=1, revision=4, tentative="what"))
    assert preemption.halt()
    preemption.handled(urgent)
    assert not preemption.halt()


def test_how_late_it_is_counts_for_the_last_event_alone() -> None:
    clock = VirtualClock()
    preemption = Preemption(clock, True, lambda: None)
    first, last = Transcript(tentative="what"), Transcript(tentative="what is")
    preemption.arrived(first)
    clock.sleep(0.25)
    assert preemption.late(first) == 0.25
    preemption.arrived(last)
    assert (preemption.late(first), preemption.late(last)) == (0.0, 0.0)
