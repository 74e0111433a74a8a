"""Which events enter a turn, and under which generation. Pure; must not know how events travel.

A turn's revision grows with every event that overtakes the work before it: a transcript that changes the prompt, the
end of the input, an interruption.
"""

from __future__ import annotations

from dataclasses import replace

from predtui.state import events as ev
from predtui.state.turn import Turn

_ALWAYS = (ev.StageStatus, ev.Work, ev.Usage, ev.Notice)
_INPUT = (ev.AudioFrame, ev.SpeechActivity)
_GUESSES = (ev.Candidate, ev.Decoding, ev.Continuation, ev.Verdict, ev.SentenceAhead, ev.SpeechReady)


def admit(turn: Turn, event: ev.Event) -> ev.Event | None:
    """``event`` as it enters ``turn``, or None for what comes too late or out of place."""
    if isinstance(event, _ALWAYS):
        return event if event.turn else _stamped(event, turn.revision, turn)
    if event.turn != turn.number:
        return None
    if isinstance(event, ev.Transcript):
        return _transcript(turn, event)
    if isinstance(event, ev.Endpoint):
        return _stamped(event, turn.revision + 1, turn) if turn.phase == "listening" else None
    if isinstance(event, ev.Interrupt):
        return _stamped(event, turn.revision + 1, turn) if turn.busy else None
    if isinstance(event, _INPUT):
        return event if turn.phase == "listening" else None
    return event if _belongs(turn, event) else None


def _transcript(turn: Turn, event: ev.Transcript) -> ev.Event | None:
    """Spoken words that were stable stay so, also when a recogniser hears the utterance again after a restart."""
    if turn.phase not in ("typing", "listening", "recognising"):
        return None
    if turn.source != "typed" and not event.final and not event.stable.startswith(turn.transcript.stable):
        return None
    return _stamped(event, turn.revision + event.changes(turn.transcript), turn)


def _belongs(turn: Turn, event: ev.Event) -> bool:
    """Whether a stage's product fits the state of the turn: guesses until the reply is over, commits once and in
    order and for the final prompt only, sound of committed sentences only."""
    if isinstance(event, _GUESSES):
        return turn.phase != "done"
    if isinstance(event, ev.ReplyCommitted):
        return _final(turn, event) and event.index == len(turn.sentences)
    if isinstance(event, ev.ReplyFinished):
        return _final(turn, event) and turn.reply is None
    if isinstance(event, ev.SpeechChunk):
        return turn.phase == "replying" and event.index < len(turn.sentences)
    if isinstance(event, ev.SpeechEnd):
        return turn.phase == "replying"
    return True


def _final(turn: Turn, event: ev.Event) -> bool:
    return turn.phase == "replying" and turn.transcript.final and event.revision >= turn.transcript.revision


def _stamped(event: ev.Event, revision: int, turn: Turn) -> ev.Event:
    return replace(event, turn=turn.number, revision=revision)
