"""Hands-free turns end by silence: the sooner, the likelier it is that they are over."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui.runtime.turn_taking import NOBODY_S, UNKNOWN_S, patience
from predtui.state import events as ev
from tests.cast import Pace, cast
from tests.runtime.harness import Harness

probabilities = st.floats(0, 1)


@given(probabilities, probabilities)
def test_the_likelier_it_is_over_the_shorter_the_silence(one: float, other: float) -> None:
    less, more = sorted((one, other))
    assert patience.least <= patience(more) <= patience(less) <= patience.most


def test_sure_of_it_is_the_least_and_sure_that_it_is_not_the_most() -> None:
    assert (patience(1.0), patience(0.0), patience(None)) == (patience.least, patience.most, UNKNOWN_S)


def silence(harness: Harness, probability: float | None, of: str = "what now", unfinished: bool = False) -> float:
    """Seconds of silence after which the turn ends; infinite where it does not within three."""
    turn = harness.turn.number
    since = harness.clock.now()
    harness.pipeline.publish(ev.SpeechActivity(turn=turn, active=False, quiet=0.1))
    harness.pipeline.publish(
        ev.Transcript(turn=turn, tentative="what now x" if unfinished else "what now", unfinished=unfinished)
    )
    if probability is not None:
        harness.pipeline.publish(ev.EndOfTurn(turn=turn, prompt=of, probability=probability))
    for _ in range(300):
        harness.pipeline.pump()
        if harness.turn.phase != "listening":
            return harness.clock.now() - since + 0.1
        harness.clock.sleep(0.01)
    return math.inf


def listening(hands_free: bool = True) -> Harness:
    """Somebody speaks."""
    harness = Harness(cast(Pace()), hands_free)
    harness.pipeline.talk(True)
    harness.pipeline.pump()
    harness.pipeline.publish(ev.SpeechActivity(turn=harness.turn.number, active=True))
    harness.pipeline.pump()
    return harness


@pytest.mark.parametrize("probability", [None, 0.0, 0.02, 0.5, 1.0])
def test_silence_ends_a_turn_by_how_likely_it_is_over(probability: float | None) -> None:
    assert silence(listening(), probability) == pytest.approx(patience(probability), abs=0.02)


def test_what_is_known_of_other_words_does_not_count() -> None:
    assert silence(listening(), 1.0, of="what") == pytest.approx(UNKNOWN_S, abs=0.02)


def test_what_the_recogniser_has_not_heard_to_the_pause_does_not_count() -> None:
    assert silence(listening(), 1.0, unfinished=True) == pytest.approx(UNKNOWN_S, abs=0.02)


def test_one_who_goes_on_speaking_is_not_cut_off() -> None:
    harness = listening()
    turn = harness.turn.number
    harness.pipeline.publish(ev.SpeechActivity(turn=turn, active=False, quiet=0.1))
    harness.pipeline.pump()
    harness.pipeline.publish(ev.SpeechActivity(turn=turn, active=True))
    harness.clock.sleep(3)
    harness.pipeline.pump()
    assert harness.turn.phase == "listening"
    assert silence(harness, 1.0) == pytest.approx(patience.least, abs=0.02)


def test_silence_ends_nothing_while_a_key_is_to() -> None:
    assert silence(listening(hands_free=False), 1.0) == math.inf


def test_nobody_is_listened_to_for_ever() -> None:
    harness = Harness(cast(Pace()), hands_free=True)
    harness.pipeline.talk(True)
    harness.pipeline.pump()
    harness.clock.advance(NOBODY_S - 0.1)
    harness.pipeline.pump()
    assert harness.turn.phase == "listening"
    harness.clock.advance(0.2)
    harness.pipeline.pump()
    assert harness.turn.phase == "done"
    assert harness.notices() == ["Nobody has spoken for 15 s. Push to talk listens again."]
    assert not harness.turn.conversation


@pytest.mark.parametrize("hands_free", [True, False])
def test_a_hands_free_conversation_goes_on_after_the_reply(hands_free: bool) -> None:
    harness = listening(hands_free)
    turn = harness.turn.number
    harness.pipeline.publish(ev.Transcript(turn=turn, stable="what now", unfinished=False))
    harness.pipeline.publish(ev.Endpoint(turn=turn, reason="silence"))
    harness.pipeline.publish(ev.Transcript(turn=turn, stable="what now", unfinished=False, final=True))
    for event in (
        ev.ReplyCommitted(turn=turn, revision=9, text="This."),
        ev.ReplyFinished(turn=turn, revision=9, prompt="what now", text="This.", sentences=1),
        ev.Playback(turn=turn, revision=9, state="finished", seconds=1.0),
    ):
        harness.pipeline.publish(event)
    harness.pipeline.pump()
    assert harness.turn.phase == "done"
    harness.clock.advance(1.0)
    harness.pipeline.pump()
    assert harness.turn.number == turn + hands_free
    assert harness.turn.phase == ("listening" if hands_free else "done")


def test_a_silenced_reply_waits_for_the_key() -> None:
    harness = listening()
    harness.pipeline.silence()
    harness.clock.advance(2.0)
    harness.pipeline.pump()
    assert harness.turn.phase == "done"
