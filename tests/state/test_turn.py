"""The reducer: what each event changes, and the figures that follow."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import reduce as fold

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui.state import events as ev
from predtui.state.exchange import Exchange
from predtui.state.reducer import reduce
from predtui.state.turn import Span, Turn, summary


def typed(turn: int = 1, at: float = 10.0) -> list[ev.Event]:
    return [
        ev.TurnStarted(turn=turn, time=at),
        ev.Transcript(turn=turn, revision=1, time=at + 0.5, stable="what is", unfinished=False),
        ev.Verdict(turn=turn, revision=1, time=at + 0.6, outcome="reject", of=3, forwards=4, ms=9.0),
        ev.Transcript(turn=turn, revision=2, time=at + 1.0, stable="what is love", final=True, unfinished=False),
        ev.Verdict(
            turn=turn, revision=2, time=at + 1.01, outcome="accept", accepted=3, of=3, forwards=1, ms=6, final=True
        ),
    ]


def replied(turn: int = 1, at: float = 11.0) -> list[ev.Event]:
    return [
        ev.ReplyCommitted(turn=turn, revision=2, time=at + 0.010, index=0, text="Baby."),
        ev.SpeechChunk(turn=turn, revision=2, time=at + 0.015, pcm=b"\0\0"),
        ev.Playback(turn=turn, revision=2, time=at + 0.035, state="started"),
        ev.ReplyCommitted(turn=turn, revision=2, time=at + 0.1, index=1, text="No more."),
        ev.ReplyFinished(
            turn=turn, revision=2, time=at + 0.2, prompt="what is love", text="Baby. No more.", ttfs_ms=6.5, nfetfs=1,
            outcome="accept", sentences=2,
        ),
        ev.Playback(turn=turn, revision=2, time=at + 0.5, state="playing", index=1, seconds=0.4),
        ev.Playback(turn=turn, revision=2, time=at + 0.9, state="finished", index=1, seconds=0.8),
    ]  # fmt: skip


def after(*events: ev.Event) -> Turn:
    return fold(reduce, events, Turn())


def test_a_typed_turn_from_first_word_to_last_sound() -> None:
    turn = after(*typed(), *replied())
    assert turn.phase == "done"
    assert turn.conversation == (Exchange("what is love", "Baby. No more."),)
    assert turn.history == (ev.Message("user", "what is love"), ev.Message("assistant", "Baby. No more."))
    assert turn.audio_latency_ms == pytest.approx(35.0)
    assert turn.breakdown == pytest.approx({"model": 10.0, "speech": 5.0, "playback": 20.0})
    assert (turn.ttfs_ms, turn.nfetfs, turn.outcome) == (6.5, 1, "accept")
    assert turn.spoken == 1
    (bar,) = turn.spans["audio"]
    assert (bar.start, bar.end) == pytest.approx((11.035, 11.9))


def test_figures_stand_as_soon_as_the_final_verdict_does() -> None:
    turn = after(*typed())
    assert (turn.phase, turn.ttfs_ms, turn.nfetfs, turn.outcome) == ("replying", 6, 1, "accept")
    assert turn.audio_latency_ms is None
    assert turn.baseline_audio_latency_ms is None


def test_a_spoken_turn_counts_from_the_endpoint() -> None:
    turn = after(
        ev.TurnStarted(turn=1, time=1.0, source="voice"),
        ev.SpeechActivity(turn=1, time=1.1, active=True),
        ev.Endpoint(turn=1, revision=1, time=2.0),
        ev.Transcript(turn=1, revision=2, time=2.1, stable="what is love", final=True),
        *replied(at=2.1),
    )
    assert turn.audio_latency_ms == pytest.approx(135.0)
    assert turn.breakdown["recogniser"] == pytest.approx(100.0)
    assert not turn.speech_active


@pytest.mark.parametrize(
    ("source", "round_ms", "expected"),
    [("typed", None, 40 + 3 + 20), ("voice", None, 100 + 40 + 3 + 20), ("voice", 250.0, 250 + 40 + 3 + 20)],
)
def test_the_baseline_pays_for_recogniser_model_speech_and_playback(
    source: str, round_ms: float | None, expected: float
) -> None:
    start = typed() if source == "typed" else [
        ev.TurnStarted(turn=1, source="voice"),
        ev.Endpoint(turn=1, revision=1, time=10.9),
        ev.Transcript(turn=1, revision=2, time=11.0, stable="what is love", final=True),
    ]  # fmt: skip
    turn = after(*start, *replied(), ev.Baseline(turn=1, revision=2, ttfs_ms=40.0), ev.BaselineSpeech(turn=1, ms=3.0))
    assert turn.measured() == (source == "typed")
    turn = reduce(turn, ev.BaselineRecognition(turn=1, ms=round_ms))
    assert turn.measured()
    assert turn.baseline_audio_latency_ms == pytest.approx(expected)


@pytest.mark.parametrize(
    ("claimed", "identical", "lossless"),
    [(True, None, None), (True, True, True), (True, False, False), (False, True, False), (False, None, False)],
)
def test_lossless_is_what_was_measured(claimed: bool, identical: bool | None, lossless: bool | None) -> None:
    events = [*typed(), ev.ReplyFinished(turn=1, revision=2, text="x", lossless=claimed)]
    if identical is not None:
        events.append(ev.Baseline(turn=1, revision=2, identical=identical))
    assert after(*events).lossless is lossless


SENTENCES = ["The sun is a star.", "It is made of hydrogen and helium."]


def silenced(seconds: float, of: float = 2.0, after_s: float = 0.0, sentences: Sequence[str] = SENTENCES) -> Turn:
    """A reply of which so many seconds have been played of its second sentence, and that is silenced later still."""
    said = [
        ev.ReplyCommitted(turn=1, revision=2, time=11.0, index=index, text=text) for index, text in enumerate(sentences)
    ]
    played = ev.Playback(turn=1, revision=2, time=13.0, state="playing", index=1, seconds=1.5 + seconds)
    return after(
        *typed(),
        *said,
        ev.SpeechChunk(turn=1, revision=2, time=11.0, pcm=b"\0\0"),
        ev.Playback(turn=1, revision=2, time=11.1, state="started"),
        replace(played, within=seconds, of=of),
        ev.Interrupt(turn=1, revision=3, time=13.0 + after_s),
    )


@pytest.mark.parametrize(
    ("seconds", "after_s", "heard"),
    [
        (0.0, 0.0, "The sun is a star. It"),
        (1.0, 0.0, "The sun is a star. It is made of hydrogen"),
        (0.9, 0.1, "The sun is a star. It is made of hydrogen"),
        (2.0, 0.0, "The sun is a star. It is made of hydrogen and helium."),
    ],
)
def test_a_reply_that_is_silenced_is_remembered_up_to_the_word_that_was_heard(
    seconds: float, after_s: float, heard: str
) -> None:
    turn = silenced(seconds, after_s=after_s)
    assert turn.phase == "done"
    assert turn.conversation == (Exchange("what is love", " ".join(SENTENCES), interrupted=True, heard=heard),)
    assert turn.history[-1] == ev.Message("assistant", heard)


@given(
    st.floats(0, 4),
    st.floats(0, 4),
    st.sampled_from([0.0, 2.0]),
    st.lists(st.text("ab .", min_size=1), min_size=2, max_size=3),
)
def test_what_was_heard_is_a_beginning_of_the_reply_and_grows(
    one: float, other: float, of: float, sentences: list[str]
) -> None:
    less, more = (silenced(seconds, of, sentences=sentences) for seconds in sorted((one, other)))
    heard = [less.conversation[-1].remembered, more.conversation[-1].remembered]
    assert heard[1].startswith(heard[0])
    assert less.conversation[-1].assistant.startswith(heard[0].strip())


def test_a_reply_that_nobody_could_hear_is_remembered_as_it_was_shown() -> None:
    without_sound = ev.StageStatus(stage="player", state="ready", lacks="loudspeaker")
    mute = ev.SpeechChunk(turn=1, revision=2, last=True)
    for before, silent in (([without_sound], []), ([], [mute])):
        turn = after(*before, *typed(), *replied()[:1], *silent, ev.Interrupt(turn=1, revision=3, time=11.2))
        assert turn.history[-1] == ev.Message("assistant", "Baby.")


def test_what_was_silenced_before_its_first_sound_was_not_said() -> None:
    turn = after(*typed(), *replied()[:2], ev.Interrupt(turn=1, revision=3, time=11.2))
    assert turn.conversation == (Exchange("what is love", "Baby.", interrupted=True, heard=""),)
    assert turn.history == ()


def test_an_unanswered_prompt_is_shown_but_no_part_of_the_history() -> None:
    turn = after(*typed(), ev.Interrupt(turn=1, revision=3), ev.TurnStarted(turn=2))
    assert turn.past == (Exchange("what is love", "", interrupted=True),)
    assert turn.history == ()


def test_an_interrupt_after_the_last_sound_changes_nothing() -> None:
    turn = after(*typed(), *replied())
    assert reduce(turn, ev.Interrupt(turn=1, revision=3)) == Turn(**{**_fields(turn), "revision": 3})


def test_a_new_turn_keeps_conversation_machine_and_timeline_only() -> None:
    work = ev.Work(turn=1, stage="llm", start=1.0, end=2.0, label="Transcript")
    status = ev.StageStatus(stage="llm", state="ready")
    turn = after(status, *typed(), *replied(), work, ev.Notice(turn=1, text="n"), ev.TurnStarted(turn=2, time=20.0))
    assert (turn.number, turn.revision, turn.phase) == (2, 0, "typing")
    assert turn.conversation == (Exchange("what is love", "Baby. No more."),)
    assert turn.stages == {"llm": status}
    assert turn.spans["llm"] == (Span(1.0, 2.0, "Transcript"),)
    assert [n.text for n in turn.notices] == ["n"]
    assert (turn.verdicts, turn.sentences, turn.reply, turn.audio_latency_ms) == ((), (), None, None)


@pytest.mark.parametrize(
    "late",
    [
        ev.Candidate(turn=1, new="old"),
        ev.Verdict(turn=1, final=True),
        ev.ReplyCommitted(turn=1, index=0, text="old"),
        ev.Playback(turn=1, state="stopped"),
        ev.Baseline(turn=1, identical=False),
        ev.Transcript(turn=1, stable="old"),
    ],
)
def test_events_of_an_older_turn_change_nothing(late: ev.Event) -> None:
    turn = after(*typed(), *replied(), *typed(2, 20.0))
    assert reduce(turn, late) == turn


def test_an_empty_final_prompt_ends_the_turn() -> None:
    turn = after(ev.TurnStarted(turn=1, source="voice"), ev.Transcript(turn=1, revision=1, final=True))
    assert turn.phase == "done"
    assert turn.conversation == ()


def test_a_turn_without_a_voice_ends_with_its_reply() -> None:
    mute = ev.StageStatus(stage="tts", state="failed")
    finished = ev.ReplyFinished(turn=1, revision=2, text="x")
    assert after(mute, *typed(), finished).phase == "done"
    assert after(*typed(), finished).phase == "replying"
    assert after(*typed(), finished, mute).phase == "done"


def test_neighbouring_bars_of_one_label_are_one() -> None:
    spans = [(0.0, 1.0, "a"), (1.001, 2.0, "a"), (2.5, 3.0, "a"), (3.0, 4.0, "b")]
    turn = after(*(ev.Work(stage="llm", start=s, end=e, label=text) for s, e, text in spans))
    assert turn.spans["llm"] == (Span(0.0, 2.0, "a"), Span(2.5, 3.0, "a"), Span(3.0, 4.0, "b"))


def test_sentences_join_with_one_space_at_most() -> None:
    said = ("A.", "B.", " C.", "", "D.", "好。", "再见！")
    assert (
        after(*(ev.ReplyCommitted(index=n, text=text) for n, text in enumerate(said))).reply_text
        == "A. B. C. D.好。再见！"
    )


def test_the_summary_is_json_with_the_agreed_keys() -> None:
    told = json.loads(json.dumps(summary(after(*typed(), *replied(), ev.Baseline(turn=1, revision=2)))))
    agreed = {"prompt", "reply", "audio_latency_ms", "ttfs_ms", "nfetfs", "outcome", "lossless",
              "baseline_audio_latency_ms", "verdicts"}  # fmt: skip
    assert agreed <= told.keys()
    assert (told["prompt"], told["reply"], told["lossless"]) == ("what is love", "Baby. No more.", True)
    assert [v["outcome"] for v in told["verdicts"]] == ["reject", "accept"]
    assert json.dumps(summary(Turn()))


def _fields(turn: Turn) -> dict[str, object]:
    return {name: getattr(turn, name) for name in Turn.__dataclass_fields__}


def test_figures_of_drafting_are_those_of_the_decoder_that_is_loaded() -> None:
    drafting = ev.Decoding(turn=1, decoder="speculative + model", proposed=7, accepted=7)
    spoken = after(*typed(), drafting, *replied())
    assert after(*typed(), drafting, *replied(), ev.TurnStarted(turn=2, time=20.0)).decoding == drafting
    for status, stays in (("starting", False), ("ready", True), ("stopped", True)):
        changed = reduce(spoken, ev.StageStatus(stage="llm", state=status))
        assert (changed.decoding is not None) == stays
    assert reduce(spoken, ev.StageStatus(stage="tts", state="starting")).decoding == drafting
