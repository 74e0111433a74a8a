"""The pure reducer that folds events into a ``Turn``.

Reads no clock and does no input or output, so folding a recording gives what was seen live. Must not know any stage or
widget.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from predtui.state import events as ev
from predtui.state.spoken import said_by, with_marks
from predtui.state.turn import Foreseen, Phase, Span, Turn
from predtui.words import begun_by, joined

MAX_VERDICTS = 50
MAX_CONTINUATIONS = 50
MAX_NOTICES = 50
MAX_SENTENCES = 8
MAX_SPANS = 400
MAX_LEVELS = 8
TOLD_S = 0.3
"""Seconds after which more would have been told of a playback that goes on."""
LETTERS_A_SECOND = 15.0
"""How fast a sentence is said whose sound is not all there yet."""


def reduce(turn: Turn, event: ev.Event) -> Turn:
    """The turn after ``event``. Events of an older turn change nothing but stages, usage, notices and the timeline."""
    fold = _FOLDS.get(type(event))
    if fold is None:
        return turn
    if event.turn < turn.number and type(event) not in _TIMELESS:
        return turn
    turn = fold(turn, event)
    if event.turn == turn.number and event.revision > turn.revision:
        turn = replace(turn, revision=event.revision)
    return turn


def _turn_started(turn: Turn, event: ev.TurnStarted) -> Turn:
    phase: Phase = "typing" if event.source == "typed" else "listening"
    return replace(_next(turn, event), phase=phase, source=event.source, request=event.history, aside=event.aside)


def _resumed(turn: Turn, event: ev.Resumed) -> Turn:
    return replace(_next(turn, event), past=event.exchanges)


def _next(turn: Turn, event: ev.Event) -> Turn:
    """A turn in which nothing has happened yet."""
    return Turn(
        number=event.turn,
        started=event.time,
        past=turn.lasting,
        verifier=turn.verifier,
        decoding=turn.decoding,
        synthesis=turn.synthesis and replace(turn.synthesis, ready=0, released=0),
        spans=turn.spans,
        stages=turn.stages,
        usage=turn.usage,
        notices=turn.notices,
        waiting=turn.waiting,
    )


def _transcript(turn: Turn, event: ev.Transcript) -> Turn:
    if not event.final:
        return replace(turn, transcript=event)
    phase: Phase = "replying" if event.text else "done"
    return replace(turn, transcript=event, phase=phase, marks=replace(turn.marks, final=event.time))


def _endpoint(turn: Turn, event: ev.Endpoint) -> Turn:
    if turn.phase != "listening":
        return turn
    marks = replace(turn.marks, endpoint=event.time)
    return replace(turn, phase="recognising", speech_active=False, marks=marks)


def _interrupt(turn: Turn, event: ev.Interrupt) -> Turn:
    if not turn.busy:
        return turn
    heard = heard_by(turn, event.time) if turn.transcript.final else None
    return replace(turn, phase="done", interrupted=turn.transcript.final, heard=heard, speech_active=False)


def heard_by(turn: Turn, time: float) -> str | None:
    """The beginning of the reply that was heard by ``time``, up to the word that was being said; None for all of what
    is there, also where it can only be read."""
    last, index = turn.sounding, turn.sounding.index
    if turn.shown_only or not turn.sentences or turn.playback in ("finished", "stopped"):
        return None
    if turn.marks.audible is None:
        return ""
    within = last.within + min(max(0.0, time - last.time), TOLD_S)
    if last.of and within > last.of:
        index, within = index + 1, within - last.of
    if index >= len(turn.sentences):
        return None
    sentence = turn.sentences[index]
    if marks := turn.words.get(index):
        return joined((*turn.sentences[:index], sentence[: said_by(sentence, marks, within)[1]]))
    lasts = last.of if last.of and index == last.index else len(sentence) / LETTERS_A_SECOND
    return joined((*turn.sentences[:index], begun_by(sentence, within / lasts)))


def _verdict(turn: Turn, event: ev.Verdict) -> Turn:
    verdicts = (*turn.verdicts, event)[-MAX_VERDICTS:]
    return replace(turn, verdicts=verdicts, foreseen=_foreseen(turn, event))


def _foreseen(turn: Turn, event: ev.Verdict) -> Foreseen | None:
    """What the verdict found answered already, so that it took no forward."""
    heard = turn.transcript
    if event.forwards or heard.revision != event.revision:
        return None
    known = next((one for one in turn.continuations if one.prompt == heard.prompt), None)
    if known is None:
        return None
    if not known.forwards:
        return Foreseen(known.prompt)
    return Foreseen(known.prompt, known.forwards, max(0.0, known.ms - event.ms))


def _speech_ready(turn: Turn, event: ev.SpeechReady) -> Turn:
    others = (known for known in turn.spoken_ahead if known.text != event.text)
    return replace(turn, ahead=event, spoken_ahead=(*others, event)[-MAX_SENTENCES:])


def _reply_committed(turn: Turn, event: ev.ReplyCommitted) -> Turn:
    if event.index != len(turn.sentences):
        return turn
    marks = turn.marks if turn.marks.committed is not None else replace(turn.marks, committed=event.time)
    return replace(turn, sentences=(*turn.sentences, event.text), marks=marks)


def _reply_finished(turn: Turn, event: ev.ReplyFinished) -> Turn:
    over = turn.playback in ("finished", "stopped") or turn.voiceless or not event.text
    return replace(turn, reply=event, phase="done" if over else turn.phase)


def _stage_status(turn: Turn, event: ev.StageStatus) -> Turn:
    turn = replace(turn, stages={**turn.stages, event.stage: event})
    if event.stage == "llm" and event.state == "starting":  # and so does its decoder
        turn = replace(turn, decoding=None)
    return replace(turn, phase="done") if turn.phase == "replying" and turn.reply and turn.voiceless else turn


def _speech_chunk(turn: Turn, event: ev.SpeechChunk) -> Turn:
    if event.words:
        marks = with_marks(turn.words.get(event.index, ()), event.words)
        turn = replace(turn, words={**turn.words, event.index: marks})
    if turn.marks.chunk is not None:
        return turn
    return replace(turn, marks=replace(turn.marks, chunk=event.time), mute=not event.pcm)


def _playback(turn: Turn, event: ev.Playback) -> Turn:
    marks, over = turn.marks, event.state in ("finished", "stopped")
    if event.state == "started" and marks.audible is None:
        marks = replace(marks, audible=event.time)
    spans = turn.spans
    if event.state != "started" and marks.audible is not None and turn.audible:
        start = spans["audio"][-1].end if _extends(spans.get("audio", ()), marks.audible) else marks.audible
        spans = _with_span(spans, "audio", Span(start, event.time, "playing"))
    return replace(
        turn,
        marks=marks,
        spans=spans,
        playback=event.state,
        sounding=event,
        spoken=max(turn.spoken, event.index),
        played_s=max(turn.played_s, event.seconds),
        phase="done" if over and turn.reply else turn.phase,
    )


def _extends(spans: tuple[Span, ...], since: float) -> bool:
    return bool(spans) and spans[-1].start >= since


def _work(turn: Turn, event: ev.Work) -> Turn:
    return replace(turn, spans=_with_span(turn.spans, event.stage, Span(event.start, event.end, event.label)))


def _with_span(spans: Mapping[str, tuple[Span, ...]], worker: str, span: Span) -> Mapping[str, tuple[Span, ...]]:
    before = spans.get(worker, ())
    if before and before[-1].label == span.label and 0.0 <= span.start - before[-1].end < 0.002:
        before, span = before[:-1], Span(before[-1].start, span.end, span.label)
    return {**spans, worker: (*before, span)[-MAX_SPANS:]}


_FOLDS: dict[type[ev.Event], Callable[[Turn, Any], Turn]] = {
    ev.TurnStarted: _turn_started,
    ev.Resumed: _resumed,
    ev.Transcript: _transcript,
    ev.Endpoint: _endpoint,
    ev.Interrupt: _interrupt,
    ev.Refused: lambda turn, event: replace(turn, refused=event, phase="done"),
    ev.Verdict: _verdict,
    ev.ReplyCommitted: _reply_committed,
    ev.ReplyFinished: _reply_finished,
    ev.SpeechChunk: _speech_chunk,
    ev.Playback: _playback,
    ev.Duck: lambda turn, event: replace(turn, loudness=event.level),
    ev.Work: _work,
    ev.Configure: lambda turn, event: replace(turn, verifier=event.verifier or turn.verifier),
    ev.SpeechActivity: lambda turn, event: replace(turn, speech_active=event.active),
    ev.SoundLevel: lambda turn, event: replace(turn, levels=(*turn.levels, event.decibels)[-MAX_LEVELS:]),
    ev.Candidate: lambda turn, event: replace(turn, candidate=event),
    ev.Continuation: lambda turn, event: replace(turn, continuations=(*turn.continuations, event)[-MAX_CONTINUATIONS:]),
    ev.EndOfTurn: lambda turn, event: replace(turn, ends=event),
    ev.Retrieved: lambda turn, event: replace(turn, retrieved=event),
    ev.Decoding: lambda turn, event: replace(turn, decoding=event),
    ev.Requests: lambda turn, event: replace(turn, requests=event),
    ev.SpeechReady: _speech_ready,
    ev.Synthesis: lambda turn, event: replace(turn, synthesis=event),
    ev.Baseline: lambda turn, event: replace(turn, baseline=event),
    ev.BaselineSpeech: lambda turn, event: replace(turn, baseline_speech_ms=event.ms),
    ev.BaselineRecognition: lambda turn, event: replace(turn, baseline_recognition=event),
    ev.StageStatus: _stage_status,
    ev.LinesWaiting: lambda turn, event: replace(turn, waiting=event.texts),
    ev.Tick: lambda turn, event: replace(turn, ticked=event.time),
    ev.Energy: lambda turn, event: replace(turn, joules=event.joules),
    ev.Usage: lambda turn, event: replace(turn, usage=event),
    ev.Notice: lambda turn, event: replace(turn, notices=(*turn.notices, event)[-MAX_NOTICES:]),
}
_TIMELESS = (ev.Work, ev.StageStatus, ev.Usage, ev.Notice, ev.Configure, ev.LinesWaiting)
