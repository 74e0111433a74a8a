"""The asr stage over a scripted recogniser: transcripts on change, one final, no word twice after a restart."""

from __future__ import annotations

import logging
from collections.abc import Callable

import pytest

from predtui.asr.base import Hypothesis
from predtui.asr.stage import AsrStage
from predtui.clock import VirtualClock
from predtui.errors import PredtuiError
from predtui.state import events as ev
from predtui.state.stage import StageContext


class Parrot:
    """Hears the bytes it is fed as letters; a hypothesis each other frame, the last letter tentative."""

    rate = 16000

    def __init__(self) -> None:
        self.start()

    def start(self) -> None:
        self.heard = ""
        self.frames = 0

    def feed(self, pcm: bytes, voiced: bool) -> Hypothesis | None:
        self.frames += 1
        self.heard += pcm[::2].decode() if voiced else ""
        return Hypothesis(self.heard[:-1], self.heard[-1:]) if self.frames % 2 == 0 else None

    def finish(self) -> Hypothesis:
        return Hypothesis(self.heard, unfinished=False)


@pytest.fixture
def stage() -> AsrStage:
    stage = AsrStage(Parrot)
    context = StageContext(VirtualClock(), lambda: False, logging.getLogger("test"))
    assert [type(event) for event in stage.open(context)] == [ev.StageStatus]
    return stage


def frame(text: str, position: int, turn: int = 1, voiced: bool = True) -> ev.AudioFrame:
    return ev.AudioFrame(turn=turn, pcm="".join(f"{c}\0" for c in text).encode(), position=position, voiced=voiced)


def run(stage: AsrStage, *events: ev.Event) -> list[ev.Event]:
    return [out for event in events for out in stage.handle(event)]


STARTED = ev.TurnStarted(turn=1, source="voice")


def test_a_turn(stage: AsrStage) -> None:
    assert run(stage, STARTED, frame("a", 0), frame("b", 1), frame("c", 2), frame("d", 3), ev.Endpoint(turn=1)) == [
        ev.Transcript(stable="a", tentative="b"),
        ev.Transcript(stable="abc", tentative="d"),
        ev.Transcript(stable="abcd", unfinished=False, final=True),
    ]


def test_only_changes_are_said(stage: AsrStage) -> None:
    events = run(stage, STARTED, frame("a", 0), frame("b", 1), *(frame("x", n, voiced=False) for n in range(2, 10)))
    assert events == [ev.Transcript(stable="a", tentative="b")]


def test_a_pause_is_answered_before_its_frames_come(stage: AsrStage) -> None:
    """And only by a stage that listens to the same turn."""
    before = run(stage, STARTED, frame("a", 0), frame("b", 1), frame("c", 2))
    assert before == [ev.Transcript(stable="a", tentative="b")]
    assert run(stage, ev.SpeechActivity(turn=1, active=True), ev.SpeechActivity(turn=2)) == []
    assert run(stage, ev.SpeechActivity(turn=1)) == [ev.Transcript(stable="ab", tentative="c")]
    run(stage, ev.Endpoint(turn=1))
    assert run(stage, ev.SpeechActivity(turn=1), ev.SpeechActivity(turn=1)) == []


def test_nobody_spoke(stage: AsrStage) -> None:
    events = run(stage, STARTED, *(frame("x", n, voiced=False) for n in range(10)), ev.Endpoint(turn=1))
    assert events == [ev.Transcript(unfinished=False, final=True)]


def test_a_turn_ends_once_and_hears_no_more(stage: AsrStage) -> None:
    run(stage, STARTED, frame("a", 0), ev.Endpoint(turn=1))
    assert not run(stage, ev.Endpoint(turn=1), frame("b", 1), frame("c", 2))


def test_typed_turns_are_left_alone(stage: AsrStage) -> None:
    assert not run(stage, ev.TurnStarted(turn=1, source="typed"), ev.Endpoint(turn=1))


def test_frames_sent_again_are_not_heard_twice(stage: AsrStage) -> None:
    run(stage, STARTED, frame("abc", 0), frame("def", 3))
    run(stage, STARTED, frame("abc", 0), frame("def", 3), frame("efgh", 4))
    (final,) = run(stage, ev.Endpoint(turn=1))
    assert isinstance(final, ev.Transcript)
    assert final.stable == "abcdefgh"


def test_a_frame_may_overtake_the_start_of_its_turn(stage: AsrStage) -> None:
    run(stage, frame("a", 0), STARTED, frame("b", 1))
    (final,) = run(stage, ev.Endpoint(turn=1))
    assert isinstance(final, ev.Transcript)
    assert final.stable == "ab"


def test_a_new_turn_begins_with_nothing(stage: AsrStage) -> None:
    run(stage, STARTED, frame("a", 0), frame("b", 1))
    run(stage, ev.TurnStarted(turn=2, source="voice"), frame("old", 2, turn=1), frame("c", 0, turn=2))
    (final,) = run(stage, ev.Endpoint(turn=2))
    assert isinstance(final, ev.Transcript)
    assert final.stable == "c"


def test_an_interrupt_drops_the_utterance_of_its_turn_only(stage: AsrStage) -> None:
    run(stage, STARTED, frame("a", 0), ev.Interrupt(turn=0))
    assert run(stage, frame("b", 1))
    run(stage, ev.Interrupt(turn=1))
    assert not run(stage, frame("c", 2), frame("d", 3), ev.Endpoint(turn=1))


def test_another_rate_is_an_error(stage: AsrStage) -> None:
    with pytest.raises(PredtuiError, match="16000 Hz, not 8000 Hz"):
        run(stage, STARTED, ev.AudioFrame(turn=1, pcm=b"a\0", rate=8000))


def test_the_last_round_is_measured_for_the_baseline_of_a_spoken_turn(stage: AsrStage) -> None:
    asked = ev.Baseline(turn=1)
    nothing = [ev.BaselineRecognition()]
    assert run(stage, asked) == nothing
    run(stage, STARTED, frame("a", 0), ev.Endpoint(turn=1))
    assert run(stage, asked) == nothing, "this recogniser has no rounds"

    def again() -> bool:
        stage._context.clock.sleep(0.25)
        return True

    stage._recognizer.again = again  # type: ignore[attr-defined]
    assert run(stage, asked) == [ev.BaselineRecognition(ms=250.0)]
    assert run(stage, ev.TurnStarted(turn=2, source="typed"), ev.Baseline(turn=2)) == nothing


def test_a_recogniser_knows_of_a_pause_that_waits() -> None:
    class Hurried(Parrot):
        def overtaken(self) -> bool:
            raise NotImplementedError

    told: list[Callable[[ev.Event], None]] = []
    stage = AsrStage(Hurried)
    list(stage.open(StageContext(VirtualClock(), lambda: False, logging.getLogger("test"), told.append)))
    overtaken, (arrives,) = stage._recognizer.overtaken, told  # type: ignore[attr-defined]
    run(stage, STARTED)
    pause, speech = (ev.SpeechActivity(turn=1, active=active) for active in (False, True))
    for event, waits in ((frame("a", 0), False), (pause, True), (speech, False), (ev.Endpoint(turn=1), True)):
        arrives(event)
        assert overtaken() == waits
    arrives(pause)
    run(stage, pause)
    assert not overtaken()
    arrives(pause)
    run(stage, ev.TurnStarted(turn=2, source="voice"))
    assert not overtaken(), "that of another turn is none"


def over(text: str, first: bool = False, voiced: bool = True) -> ev.Overheard:
    return ev.Overheard(turn=1, pcm="".join(f"{c}\0" for c in text).encode(), first=first, voiced=voiced)


def test_what_is_said_over_a_reply_is_an_utterance_of_its_own(stage: AsrStage) -> None:
    run(stage, STARTED, frame("a", 0), frame("b", 1), ev.Endpoint(turn=1))
    assert run(stage, over("x", first=True), over("y")) == [ev.OverheardWords(text="x y")]
    assert run(stage, over("z", first=True), over("w")) == [ev.OverheardWords(text="z w")]
    again = ev.TurnStarted(turn=2, source="voice")
    assert run(stage, again, frame("c", 0, turn=2), ev.Endpoint(turn=2))[-1] == ev.Transcript(
        stable="c", unfinished=False, final=True
    )


def test_nothing_is_overheard_while_a_turn_is_heard(stage: AsrStage) -> None:
    assert not run(stage, STARTED, over("x", first=True), over("y"))
