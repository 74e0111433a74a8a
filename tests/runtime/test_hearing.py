"""Last words: waited for while the recogniser gets on, and the input refused where they cannot come."""

from __future__ import annotations

import pytest

from predtui.runtime.hearing import PATIENCE_S, ROUNDS
from predtui.state import events as ev
from predtui.state.stage import StageSpec
from tests.cast import Pace, cast
from tests.runtime.harness import Harness


def said(harness: Harness) -> None:
    """A spoken turn up to its endpoint, the recogniser not having answered."""
    harness.pipeline.talk(True)
    harness.settle()
    harness.pipeline.talk(False)
    harness.settle()


def refused(harness: Harness) -> list[str]:
    return [event.heard for event in harness.events if isinstance(event, ev.Refused)]


@pytest.fixture
def mute() -> Harness:
    """Its recogniser never says its last words."""
    return Harness(cast(Pace(words=("hello", "world"), hears=False)))


def test_a_recogniser_that_stays_silent_is_given_up_and_what_it_heard_is_not_answered(mute: Harness) -> None:
    said(mute)
    mute.wait(PATIENCE_S - 1)
    assert mute.turn.phase == "recognising"
    mute.wait(2.0)
    assert mute.turn.phase == "done"
    assert refused(mute) == ["hello world"]
    assert mute.turn.conversation == ()
    assert mute.notices() == [
        "The recogniser gave no answer; what it heard may not be all, and is not answered: “hello world”. "
        "Finish it by typing, or say it again."
    ]
    assert not mute.of(ev.ReplyCommitted)


@pytest.mark.parametrize(
    "sign",
    [
        ev.StageStatus(stage="asr", state="starting", message="loading", progress=0.5),
        ev.StageStatus(stage="asr", state="ready"),
        ev.Work(stage="asr", start=0.0, end=0.1),
        ev.Transcript(turn=1, stable="hello", tentative="world"),
    ],
)
def test_patience_begins_anew_with_each_sign_of_the_recogniser(mute: Harness, sign: ev.Event) -> None:
    said(mute)
    for _ in range(5):
        mute.wait(PATIENCE_S - 1)
        mute.pipeline.publish(sign)
        mute.settle()
    assert mute.turn.phase == "recognising"
    mute.pipeline.publish(ev.StageStatus(stage="asr", state="ready"))
    mute.settle()
    mute.wait(PATIENCE_S + 1)
    assert refused(mute) == ["hello world"]


def test_a_recogniser_is_waited_for_while_it_is_started_however_long_that_takes(mute: Harness) -> None:
    said(mute)
    mute.pipeline.publish(ev.StageStatus(stage="asr", state="starting"))
    mute.settle()
    for _ in range(5):
        mute.wait(PATIENCE_S)
    assert mute.turn.phase == "recognising"


def test_what_other_stages_do_is_no_sign_of_the_recogniser(mute: Harness) -> None:
    said(mute)
    for _ in range(4):
        mute.wait(PATIENCE_S / 3)
        mute.pipeline.publish(ev.Work(stage="mic", start=0.0, end=0.1))
        mute.pipeline.publish(ev.StageStatus(stage="llm", state="ready"))
        mute.settle()
    assert refused(mute) == ["hello world"]


def test_a_recogniser_whose_rounds_take_long_here_is_waited_for_as_long(mute: Harness) -> None:
    said(mute)
    mute.pipeline.publish(ev.Work(stage="asr", start=0.0, end=PATIENCE_S))
    mute.settle()
    mute.wait(ROUNDS * PATIENCE_S - 1)
    assert mute.turn.phase == "recognising"
    mute.wait(2.0)
    assert refused(mute) == ["hello world"]


@pytest.mark.parametrize("name", ["asr", "mic"])
def test_what_fails_while_it_listens_ends_the_turn_at_once_unanswered(name: str) -> None:
    harness = Harness(cast(Pace(words=("hello", "big", "world"))))
    harness.pipeline.talk(True)
    harness.settle()
    harness.pipeline.publish(ev.StageStatus(stage=name, state="failed", message=f"{name} is broken"))
    harness.settle()
    assert refused(harness) == ["hello big world"]
    assert harness.turn.phase == "done"
    assert harness.turn.conversation == ()


def test_a_microphone_that_dies_while_one_speaks_ends_the_turn_unanswered() -> None:
    harness = Harness(cast(Pace(words=("hello", "big", "world"))))
    harness.pipeline.talk(True)
    harness.settle()
    harness.kill("mic")
    harness.settle()
    harness.wait(1.0)
    assert refused(harness) == ["hello big world"]
    assert harness.turn.conversation == ()
    said(harness)
    assert [exchange.user for exchange in harness.turn.conversation] == ["hello big world"]


def test_a_microphone_that_reads_a_file_goes_on_where_it_died() -> None:
    harness = Harness(cast(Pace(word_s=0.1)))
    harness.pipeline.listen_file("hello big world")
    harness.until(ev.AudioFrame, 2)
    harness.kill("mic")
    harness.settle()
    harness.wait(1.0)
    assert not refused(harness)
    assert [exchange.user for exchange in harness.turn.conversation] == ["hello big world"]


def frames(harness: Harness, seconds: float, start: float = 0.0) -> None:
    """Sound as it comes from a microphone: 20 ms every 20 ms."""
    for number in range(round(50 * start), round(50 * (start + seconds))):
        harness.clock.advance(0.02)
        harness.pipeline.publish(ev.AudioFrame(turn=1, pcm=bytes(640), position=320 * number))
        harness.pipeline.pump()


@pytest.mark.parametrize(
    ("gap_s", "late_s", "answered"), [(0.0, 0.0, True), (0.5, 0.0, True), (3.0, 0.0, False), (0.0, 3.0, False)]
)
def test_what_a_microphone_that_hung_has_missed_is_not_taken_as_said(
    gap_s: float, late_s: float, answered: bool
) -> None:
    """A gap in the middle, and at the end."""
    harness = Harness(cast(Pace(words=("hello", "world"))))
    harness.pipeline.talk(True)
    harness.settle()
    frames(harness, 2.0, start=0.04)
    harness.clock.advance(gap_s)
    frames(harness, 1.0, start=2.04)
    harness.clock.advance(late_s)
    harness.pipeline.talk(False)
    harness.settle()
    assert (refused(harness) == []) == answered
    assert bool(harness.turn.conversation) == answered


def test_sound_that_ends_before_its_end_is_not_answered(mute: Harness) -> None:
    mute.pipeline.talk(True)
    mute.settle()
    mute.pipeline.publish(ev.Endpoint(turn=1, reason="lost"))
    mute.settle()
    assert refused(mute) == ["hello world"]
    assert "The sound ended too early" in mute.notices()[0]


def test_a_microphone_that_fails_once_it_has_given_all_takes_nothing_back(mute: Harness) -> None:
    said(mute)
    mute.pipeline.publish(ev.StageStatus(stage="mic", state="failed", message="mic is broken"))
    mute.settle()
    assert mute.turn.phase == "recognising"


def test_a_recogniser_that_fails_when_nobody_speaks_refuses_nothing(mute: Harness) -> None:
    mute.pipeline.publish(ev.StageStatus(stage="asr", state="failed", message="asr is broken"))
    mute.type("one", final=True)
    assert not refused(mute)
    assert mute.turn.conversation[0].assistant == "You said one. Over."


def test_a_choice_of_recogniser_that_cannot_be_had_leaves_the_turn_to_the_former_one(mute: Harness) -> None:
    said(mute)
    mute.pipeline.replace_stage("asr", None)
    mute.settle()
    assert isinstance(mute.hosts["asr"].spec, StageSpec)
    assert not refused(mute)
    assert mute.turn.phase == "recognising"


def test_a_turn_that_was_refused_is_followed_by_one_that_is_answered() -> None:
    harness = Harness(cast(Pace(words=("hello", "world"))))
    harness.pipeline.talk(True)
    harness.settle()
    harness.pipeline.publish(ev.StageStatus(stage="asr", state="failed", message="asr failed at AudioFrame"))
    harness.pipeline.publish(ev.StageStatus(stage="asr", state="ready"))
    harness.settle()
    said(harness)
    assert refused(harness) == ["hello world"]
    assert harness.turn.refused is None
    assert harness.turn.conversation[0].assistant == "You said hello world. Over."
