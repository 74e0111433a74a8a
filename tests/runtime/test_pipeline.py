"""Turns through the whole pipeline: inline on a virtual clock, then with real processes, killed on their way."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from predtui.runtime.pipeline import Pipeline
from predtui.runtime.typing import Typed
from predtui.state import events as ev
from predtui.state.exchange import Exchange
from predtui.state.stage import StageSpec
from tests.cast import FRAME, Pace, cast
from tests.runtime.harness import Harness

PATIENCE_S = 30.0


@pytest.fixture
def harness() -> Harness:
    return Harness(cast(Pace(words=("hello", "big", "world"))))


def test_a_typed_turn_is_speculated_answered_spoken_and_measured(harness: Harness) -> None:
    for text in ("h", "hello", "hello ", "hello w", "hello world"):
        harness.type(text)
    assert [e.prompt for e in harness.of(ev.Transcript) if isinstance(e, ev.Transcript)] == [
        "",
        "",
        "hello",
        "hello",
        "hello",
    ]
    assert {e.revision for e in harness.of(ev.Candidate)} == {1}
    harness.type("hello world", final=True)
    assert harness.turn.phase == "done"
    assert harness.turn.conversation == (Exchange("hello world", "You said hello world. Over."),)
    assert harness.heard().replace(" ", "") == "Yousaidhelloworld.Over."
    assert harness.turn.baseline_audio_latency_ms == pytest.approx(55.0)
    assert len(harness.of(ev.MeasureBaseline)) == 1


def test_the_baseline_is_measured_only_once_nothing_comes_for_a_while() -> None:
    harness = Harness(cast(Pace()), idle_s=2.0)
    harness.type("one", final=True)
    harness.wait(1.9)
    harness.type("two", final=True)
    harness.wait(1.9)
    assert not harness.of(ev.MeasureBaseline)
    harness.wait(0.2)
    assert [event.turn for event in harness.of(ev.MeasureBaseline)] == [2]


def test_revisions_grow_with_each_change_of_the_prompt_and_the_screen_sees_every_letter(harness: Harness) -> None:
    for text in ("a ", "a b", "a bc", "a bc ", "a bc ", "a b ", ""):
        harness.type(text)
    transcripts = [e for e in harness.of(ev.Transcript) if isinstance(e, ev.Transcript)]
    assert [(e.text, e.revision) for e in transcripts] == [
        ("a", 1), ("a b", 1), ("a bc", 1), ("a bc", 2), ("a b", 3), ("", 4),
    ]  # fmt: skip


def test_the_next_turn_knows_the_conversation(harness: Harness) -> None:
    harness.type("one", final=True)
    harness.type("two", final=True)
    started = harness.of(ev.TurnStarted)[-1]
    assert isinstance(started, ev.TurnStarted)
    assert started.turn == 2
    assert [m.content for m in started.history] == ["one", "You said one. Over."]


def test_typing_over_a_reply_silences_it_and_keeps_what_was_committed(harness: Harness) -> None:
    harness.pipeline.type_line(Typed("one", final=True))
    harness.until(ev.Playback)
    harness.type("t")
    kinds = [type(e) for e in harness.events]
    assert kinds.index(ev.Interrupt) < len(kinds) - 1 - kinds[::-1].index(ev.TurnStarted)
    assert harness.turn.number == 2
    assert harness.turn.past[0].interrupted
    assert harness.turn.past[0].assistant.startswith("You said one.")
    after = harness.events[kinds.index(ev.Interrupt) :]
    assert not [e for e in after if isinstance(e, ev.SpeechChunk | ev.ReplyCommitted | ev.ReplyFinished)]
    assert not harness.of(ev.MeasureBaseline)


def test_silence_ends_the_reply_and_nothing_more_is_spoken(harness: Harness) -> None:
    harness.pipeline.type_line(Typed("one", final=True))
    harness.until(ev.SpeechChunk)
    harness.pipeline.silence()
    harness.pipeline.pump()
    said = len(harness.of(ev.SpeechChunk))
    harness.settle()
    assert len(harness.of(ev.SpeechChunk)) == said
    assert harness.turn.phase == "done"
    harness.pipeline.silence()
    harness.settle()
    assert len(harness.of(ev.Interrupt)) == 1


def test_silence_leaves_typed_text_open(harness: Harness) -> None:
    harness.type("one ")
    harness.pipeline.silence()
    harness.type("one two ")
    assert (harness.turn.number, harness.turn.phase, harness.of(ev.Interrupt)) == (1, "typing", [])


def test_enter_on_nothing_opens_no_turn(harness: Harness) -> None:
    harness.type("", final=True)
    harness.type("  ")
    assert harness.turn == replace(harness.turn, number=0, phase="idle")


def test_a_spoken_turn_from_key_to_reply(harness: Harness) -> None:
    harness.pipeline.talk(True)
    harness.settle()
    assert harness.turn.phase == "listening"
    assert harness.turn.transcript.text == "hello big world"
    harness.wait(0.5)
    harness.pipeline.talk(False)
    harness.settle()
    assert harness.turn.conversation == (Exchange("hello big world", "You said hello big world. Over."),)
    assert harness.turn.input_ended == 100.5
    assert harness.turn.source == "voice"
    revisions = [e.revision for e in harness.of(ev.Transcript)]
    assert revisions == sorted(revisions)


def test_a_file_ends_its_own_turn(harness: Harness) -> None:
    harness.pipeline.listen_file(Path("good morning"))
    harness.settle()
    assert harness.turn.conversation == (Exchange("good morning", "You said good morning. Over."),)
    assert len(harness.of(ev.Endpoint)) == 1


@pytest.mark.parametrize(("hands_free", "path"), [(True, ""), (False, ""), (True, "a b")])
def test_silence_ends_hands_free_turns_of_the_microphone_only(hands_free: bool, path: str) -> None:
    harness = Harness(cast(Pace()), hands_free)
    if path:
        harness.pipeline.listen_file(path)
    else:
        harness.pipeline.talk(True)
    harness.settle()
    (listen,) = harness.of(ev.Listen)
    assert isinstance(listen, ev.Listen)
    assert listen.hands_free == (hands_free and not path)


def test_hearing_nothing_closes_the_turn() -> None:
    harness = Harness(cast(Pace()))
    harness.pipeline.talk(True)
    harness.pipeline.talk(False)
    harness.settle()
    assert harness.turn.phase == "done"
    assert harness.notices() == ["Heard nothing."]
    assert harness.turn.conversation == ()


@pytest.mark.parametrize(
    ("llm", "said"),
    [("speechless", "The model has nothing to say to that. Put it in other words."), ("lost", "no answer")],
)
def test_an_empty_reply_is_explained_once(llm: str, said: str) -> None:
    harness = Harness(
        [replace(spec, factory=f"tests.cast:{llm}") if spec.name == "llm" else spec for spec in cast(Pace())]
    )
    harness.pipeline.type_line(Typed("hi", final=True))
    harness.settle()
    assert harness.notices() == [said]


def test_what_steers_a_terminal_is_no_part_of_a_prompt(harness: Harness) -> None:
    harness.pipeline.type_line(Typed("\x1b[2J\a hi\x9b\n", final=True))
    harness.settle()
    assert harness.turn.conversation[0].user == "[2J hi"


def test_talking_over_typed_text_or_a_reply_interrupts_it(harness: Harness) -> None:
    harness.type("half a thought ")
    harness.pipeline.talk(True)
    harness.pipeline.talk(True)
    harness.settle()
    assert [(e.turn, type(e)) for e in harness.events if isinstance(e, ev.Interrupt | ev.TurnStarted | ev.Listen)] == [
        (1, ev.TurnStarted), (1, ev.Interrupt), (2, ev.TurnStarted), (2, ev.Listen),
    ]  # fmt: skip


def test_missing_stages_are_told_and_the_rest_works() -> None:
    harness = Harness(cast(Pace(), "llm"), idle_s=0.3)
    assert {n: s.state for n, s in harness.turn.stages.items()} == {
        "mic": "stopped", "asr": "stopped", "tts": "stopped", "player": "stopped", "llm": "ready",
    }  # fmt: skip
    harness.type("one", final=True)
    assert harness.turn.phase == "done"
    assert not harness.of(ev.MeasureBaseline)
    harness.wait(0.5)
    assert len(harness.of(ev.MeasureBaseline)) == 1
    harness.pipeline.talk(True)
    harness.settle()
    assert harness.notices() == ["Cannot listen: mic and asr not available. Try again what has failed, or type."]


def test_without_a_language_model_the_prompt_is_kept_and_the_lack_told() -> None:
    harness = Harness([StageSpec("llm", "tests.toys:broken"), *cast(Pace(), "tts")])
    assert harness.turn.stages["llm"].message == "no model at /nowhere. Give --model."
    harness.type("one", final=True)
    assert harness.turn.conversation == (Exchange("one", ""),)
    assert harness.notices() == ["No reply: the language model is not available. Try it again, or choose another."]


def test_configure_reaches_the_model_and_survives_its_restart(harness: Harness) -> None:
    harness.pipeline.configure(verifier="entropy")
    harness.kill("llm")
    harness.wait(1.0)
    harness.type("one", final=True)
    assert harness.turn.verifier == "entropy"
    assert harness.turn.verdicts[-1].verifier == "entropy"


def test_replacing_the_model_goes_on_with_the_turn(harness: Harness) -> None:
    harness.type("one ")
    old = harness.hosts["llm"]
    harness.pipeline.replace_stage("llm", Pace(step_s=0.5))
    harness.settle()
    assert harness.hosts["llm"] is not old
    assert harness.hosts["llm"].spec.options == Pace(step_s=0.5)
    harness.type("one two", final=True)
    assert harness.turn.conversation == (Exchange("one two", "You said one two. Over."),)
    harness.pipeline.replace_stage("nobody", None)
    harness.settle()
    assert harness.notices() == ["There is no stage nobody to replace."]


def test_a_replacement_that_cannot_open_gives_way_to_the_former_choice(harness: Harness) -> None:
    harness.pipeline.replace_stage("llm", None)
    good = harness.hosts["llm"].spec.options
    harness.pipeline.pump()
    bad = harness.hosts["llm"]
    bad.spec = replace(bad.spec, factory="tests.toys:broken")
    bad.restart()
    harness.settle()
    assert harness.hosts["llm"].spec.options == good
    assert harness.turn.stages["llm"].state == "ready"
    assert harness.notices()[0] == "llm goes on as before. no model at /nowhere. Give --model."


def test_talking_without_a_microphone_is_refused_and_it_is_looked_for(harness: Harness) -> None:
    asked: list[ev.Event] = []
    harness.pipeline.publish(
        ev.StageStatus(stage="mic", state="ready", message="No device. Plug one in.", lacks="microphone")
    )
    harness.settle()
    harness.hosts["mic"].send = asked.append  # type: ignore[method-assign]
    harness.hosts["mic"].accepts = lambda event: True  # type: ignore[method-assign]
    harness.pipeline.talk(True)
    harness.settle()
    assert harness.turn.phase == "idle"
    assert harness.notices() == ["Cannot listen: No device. Plug one in. Then try again, or type."]
    assert [event for event in asked if isinstance(event, ev.LookForDevice)]
    harness.pipeline.publish(ev.StageStatus(stage="mic", state="ready"))
    harness.pipeline.talk(True)
    harness.settle()
    assert harness.turn.phase == "listening"


@pytest.mark.parametrize("name", ["mic", "asr", "llm", "tts", "player"])
@pytest.mark.parametrize("moment", range(0, 60, 3))
def test_a_stage_that_dies_at_any_moment_loses_nothing_of_a_spoken_turn(name: str, moment: int) -> None:
    harness = Harness(cast(Pace(words=("hello", "big", "world"))))
    harness.pipeline.listen_file("hello big world") if name == "mic" else harness.pipeline.talk(True)
    ended = name == "mic"
    for step in range(200):
        harness.pipeline.pump()
        for host in list(harness.hosts.values()):
            host.step()
        if harness.turn.transcript.text.startswith("hello big world") and not ended:
            ended = True
            harness.pipeline.talk(False)
        if step == moment:
            harness.kill(name)
        harness.clock.advance(0.01)
    harness.settle()
    assert harness.turn.conversation == (Exchange("hello big world", "You said hello big world. Over."),)
    assert harness.turn.phase == "done"
    heard, expected = harness.heard().replace(" ", ""), "Yousaidhellobigworld.Over."
    if name != "player":
        assert heard == expected
    else:  # a chunk that was played but not yet reported is played again
        letters = iter(heard)
        assert all(letter in letters for letter in expected)
        assert len(heard) <= len(expected) + 4
    frames = [e for e in harness.events if isinstance(e, ev.AudioFrame)]
    assert [f.position for f in frames] == [n * FRAME for n in range(len(frames))]


@pytest.mark.parametrize(("name", "asked"), [("llm", ev.MeasureBaseline), ("tts", ev.Baseline)])
def test_a_stage_that_dies_measuring_measures_again(name: str, asked: type[ev.Event], harness: Harness) -> None:
    harness.pipeline.type_line(Typed("one", final=True))
    harness.until(asked)
    harness.kill(name)
    harness.settle()
    assert harness.turn.baseline_speech_ms is None
    harness.wait(1.0)
    assert harness.turn.baseline_audio_latency_ms == pytest.approx(55.0)


def test_a_file_that_is_played_anew_continues_the_utterance(harness: Harness) -> None:
    harness.pipeline.listen_file("hello big wide world")
    harness.until(ev.AudioFrame, 2)
    harness.kill("mic")
    harness.wait(1.0)
    assert harness.turn.conversation[0].user == "hello big wide world"
    positions = [e.position for e in harness.events if isinstance(e, ev.AudioFrame)]
    assert positions == [n * FRAME for n in range(4)]


def test_crash_loops_end_with_a_failure_and_its_remedy(harness: Harness) -> None:
    for _ in range(4):
        harness.kill("llm")
        harness.wait(2.5)
    status = harness.turn.stages["llm"]
    assert status.state == "failed"
    assert "Given up after 3 restarts" in status.message
    assert not harness.hosts["llm"].alive
    harness.pipeline.replace_stage("llm", Pace())
    harness.settle()
    assert harness.turn.stages["llm"].state == "ready"


def test_rare_deaths_are_forgiven(harness: Harness) -> None:
    for _ in range(8):
        harness.kill("llm")
        harness.wait(12.0)
    assert harness.turn.stages["llm"].state == "ready"


def test_a_listener_that_fails_disturbs_nobody(harness: Harness) -> None:
    def bad(event: ev.Event) -> None:
        raise ValueError

    leave = harness.pipeline.subscribe(bad)
    harness.type("one", final=True)
    leave()
    assert harness.turn.phase == "done"


# --- real processes ---------------------------------------------------------------------------------------------------


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.005)


@pytest.fixture
def live(tmp_path: Path) -> Iterator[tuple[Pipeline, list[ev.Event]]]:
    pace = Pace(words=("hello", "big", "world"), word_s=0.02, step_s=0.004)
    pipeline = Pipeline(cast(pace), log_path=tmp_path / "log")
    events: list[ev.Event] = []
    pipeline.subscribe(events.append)
    pipeline.start()
    wait_for(lambda: sum(s.state == "ready" for s in pipeline.state.stages.values()) == 5)
    yield pipeline, events
    pids = [pid for pid in pipeline.pids().values() if pid]
    pipeline.stop()
    assert not [pid for pid in pids if Path(f"/proc/{pid}").exists()]


MOMENTS: dict[str, type[ev.Event]] = {
    "mic": ev.AudioFrame,
    "asr": ev.Transcript,
    "llm": ev.Candidate,
    "tts": ev.SpeechChunk,
    "player": ev.Playback,
}


@pytest.mark.parametrize("name", MOMENTS)
def test_each_stage_killed_in_the_middle_of_a_turn(name: str, live: tuple[Pipeline, list[ev.Event]]) -> None:
    pipeline, events = live
    killed = threading.Event()

    def kill(event: ev.Event) -> None:
        if isinstance(event, MOMENTS[name]) and not killed.is_set():
            killed.set()
            pid = pipeline.pids()[name]
            assert pid
            os.kill(pid, signal.SIGKILL)

    pipeline.subscribe(kill)
    pipeline.listen_file("hello big world")  # which waits for a microphone that is away
    wait_for(lambda: pipeline.state.phase == "done" and pipeline.state.baseline_speech_ms is not None)
    assert killed.is_set()
    assert [e.state for e in events if isinstance(e, ev.StageStatus) and e.stage == name and e.turn == 1] != []
    (exchange,) = pipeline.state.conversation
    assert exchange.user.endswith("hello big world")
    assert exchange.assistant == f"You said {exchange.user}. Over."
    pipeline.type_line(Typed("still here", final=True))
    wait_for(lambda: pipeline.state.number == 2 and pipeline.state.phase == "done")
    assert pipeline.state.reply_text == "You said still here. Over."
    assert any(isinstance(e, ev.StageStatus) and "SIGKILL" in e.message for e in events)


def test_a_stage_that_dies_whenever_it_opens_is_given_up(tmp_path: Path) -> None:
    pipeline = Pipeline([StageSpec("llm", "tests.toys:crash_at_open")], log_path=tmp_path / "log", monitored=False)
    pipeline.start()
    wait_for(lambda: "llm" in pipeline.state.stages and pipeline.state.stages["llm"].state == "failed")
    assert str(tmp_path / "log") in pipeline.state.stages["llm"].message
    pipeline.stop()


def test_stop_is_harmless_before_start_and_twice() -> None:
    pipeline = Pipeline(cast(Pace()), monitored=False)
    pipeline.stop()
    pipeline.stop()


def test_in_a_pause_the_unfinished_word_is_answered_and_the_end_of_input_finds_it_so() -> None:
    harness = Harness(cast(Pace()), pause_s=0.06)
    for text in ("how", "how f", "how fa", "how far"):
        harness.type(text)
        harness.settle()
    assert {event.prompt for event in harness.of(ev.Candidate)} <= {"how"}
    harness.wait(0.06)
    assert harness.of(ev.Candidate)[-1].prompt == "how far"
    revision = harness.pipeline.state.revision
    harness.type("how farther")
    harness.wait(0.01)
    assert harness.pipeline.state.revision == revision
    harness.type("how far is")
    harness.settle()
    assert harness.pipeline.state.transcript.prompt == "how far"


def test_without_a_pause_nothing_is_anticipated() -> None:
    harness = Harness(cast(Pace()))
    harness.type("how far")
    harness.wait(5.0)
    assert harness.pipeline.state.transcript.prompt == "how"


def test_lines_typed_ahead_wait_and_are_answered_in_order(harness: Harness) -> None:
    for prompt in ("one", "two", "three"):
        harness.pipeline.type_line(Typed(prompt, final=True))
    harness.pipeline.pump()
    assert harness.turn.waiting == ("two", "three")
    harness.settle()
    said = [Exchange(prompt, f"You said {prompt}. Over.") for prompt in ("one", "two", "three")]
    assert harness.turn.conversation == tuple(said)
    assert harness.turn.waiting == ()
    assert harness.heard().replace(" ", "").count("Over.") == 3


def test_a_line_begun_behind_an_awaited_reply_goes_on_as_the_next_turn(harness: Harness) -> None:
    harness.pipeline.type_line(Typed("one", final=True))
    for text in ("t", "tw", "two", "two t"):
        harness.pipeline.type_line(Typed(text))
    harness.pipeline.pump()
    assert (harness.turn.number, harness.turn.waiting) == (1, ())
    harness.settle()
    assert (harness.turn.number, harness.turn.phase, harness.turn.transcript.text) == (2, "typing", "two t")
    assert harness.turn.past == (Exchange("one", "You said one. Over."),)


def test_a_key_silences_the_reply_that_is_heard_and_lets_the_next_line_through(harness: Harness) -> None:
    harness.pipeline.type_line(Typed("one", final=True))
    harness.pipeline.type_line(Typed("two", final=True))
    harness.until(ev.Playback)
    harness.pipeline.type_line(Typed("t"))
    harness.pipeline.pump()
    assert harness.turn.past[0].interrupted
    assert harness.turn.transcript.text == "two"
    harness.settle()
    assert harness.turn.transcript.text == "t"
    assert harness.turn.past[1] == Exchange("two", "You said two. Over.")


def test_a_cursor_that_moves_silences_nothing_and_opens_no_turn(harness: Harness) -> None:
    harness.type("half")
    harness.pipeline.talk(True)
    harness.settle()
    harness.pipeline.talk(False)
    harness.until(ev.Playback)
    harness.pipeline.type_line(Typed("half", 0))
    harness.settle()
    assert harness.turn.source == "voice"
    assert not harness.turn.interrupted
    harness.type("half", final=True)
    assert harness.turn.conversation[-1] == Exchange("half", "You said half. Over.")


def test_talking_over_an_awaited_reply_says_so_and_what_waits_comes_after_it(harness: Harness) -> None:
    harness.pipeline.type_line(Typed("one", final=True))
    harness.pipeline.type_line(Typed("two", final=True))
    harness.pipeline.talk(True)
    harness.settle()
    assert harness.notices() == ["Not answered, since you spoke: one"]
    assert (harness.turn.source, harness.turn.waiting) == ("voice", ("two",))
    harness.pipeline.talk(False)
    harness.settle()
    users = [exchange.user for exchange in harness.turn.conversation]
    assert users == ["one", "hello big world", "two"]


def test_prompts_sent_while_the_model_is_changed_are_answered(harness: Harness) -> None:
    harness.pipeline.replace_stage("llm", Pace(step_s=0.1))
    for prompt in ("one", "two"):
        harness.pipeline.type_line(Typed(prompt, final=True))
    harness.settle()
    assert [exchange.assistant for exchange in harness.turn.conversation] == [
        "You said one. Over.",
        "You said two. Over.",
    ]


def test_without_a_language_model_each_line_is_refused_with_the_reason() -> None:
    harness = Harness([StageSpec("llm", "tests.toys:broken"), *cast(Pace(), "tts")])
    for prompt in ("one", "two"):
        harness.pipeline.type_line(Typed(prompt, final=True))
    harness.settle()
    assert [exchange.user for exchange in harness.turn.conversation] == ["one", "two"]
    assert [text.startswith("No reply: the language model") for text in harness.notices()] == [True, True]


def test_a_word_edited_within_the_line_asks_for_a_reply_once_it_is_left() -> None:
    harness = Harness(cast(Pace(), "llm"), pause_s=0.5)
    harness.type("what ws it ")
    asked = len(harness.of(ev.Verdict))
    for text, cursor in (("what ws it ", 6), ("what was it ", 7)):
        harness.pipeline.type_line(Typed(text, cursor))
        harness.settle()
    assert harness.turn.transcript.text == "what was it"
    assert len(harness.of(ev.Verdict)) == asked
    harness.pipeline.type_line(Typed("what was it ", 12))
    harness.settle()
    assert len(harness.of(ev.Verdict)) == asked + 1
    harness.pipeline.type_line(Typed("what wa it ", 7))
    harness.settle()
    harness.wait(0.6)
    assert harness.turn.candidate.prompt == "what wa it"


def test_what_the_microphone_heard_while_a_reply_was_playing_is_not_taken_for_the_user() -> None:
    harness = Harness(cast(Pace()))
    harness.pipeline.talk(True)
    harness.pipeline.pump()
    assert [event.anew for event in harness.of(ev.Listen)] == [False]
    harness.pipeline.silence()
    harness.pipeline.type_line(Typed("one two", final=True))
    harness.until(ev.Playback)
    harness.pipeline.talk(True)
    harness.pipeline.pump()
    assert [event.anew for event in harness.of(ev.Listen)] == [False, True]
    harness.pipeline.silence()
    harness.clock.advance(10.0)
    harness.pipeline.talk(True)
    harness.pipeline.pump()
    assert [event.anew for event in harness.of(ev.Listen)] == [False, True, False]
