"""Prints a turn as it happens: as JSON for programs, or as lines for a person. Must not know how turns are run."""

from __future__ import annotations

import json
from typing import TextIO

from predtui.foreign import printable
from predtui.state import events as ev
from predtui.state.codec import to_json
from predtui.state.turn import Turn, summary

QUIET = (ev.AudioFrame, ev.Overheard, ev.SpeechChunk)
"""Sound is counted, not printed."""
MARKS = {"accept": "✓", "partial": "◐", "reject": "✗"}
SAME = {True: "identical to plain decoding", False: "differs from plain decoding", None: "not compared"}
PROOFS = {
    "exact": "candidates verified",
    "regenerates": "candidates regenerated and compared",
    "text": "candidates regenerated and compared as text",
}
"""How an engine behind a network shows what holds of a candidate."""


class JsonPrinter:
    """One JSON object per line, the summary last."""

    def __init__(self, out: TextIO) -> None:
        self._out = out

    def show(self, event: ev.Event) -> None:
        if not isinstance(event, QUIET):
            print(json.dumps(to_json(event)), file=self._out, flush=True)

    def close(self, turn: Turn) -> None:
        print(json.dumps({"summary": summary(turn)}), file=self._out, flush=True)


class LinePrinter:
    """What a person wants to follow: prompts, verdicts, the reply, the latencies."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._prompt = ""
        self._candidate = ""
        self._asked: ev.Requests | None = None

    def show(self, event: ev.Event) -> None:
        match event:
            case ev.StageStatus():
                self._status(event)
            case ev.Notice():
                self._line(f"    note  {event.text}")
            case ev.Transcript():
                self._transcript(event)
            case ev.Candidate():
                self._candidate = event.text
            case ev.Requests():
                self._asked = event
            case ev.Verdict():
                self._verdict(event)
            case ev.ReplyFinished() if event.thought.tokens:
                thought = event.thought
                words = " ".join(thought.text.split())
                self._line(f" thought  {thought.tokens} tokens, {_ms(thought.ms)}  «{words[-70:]}»")
            case ev.Retrieved(final=True) if event.notes:
                self._line(f"   notes  from {', '.join(event.notes)}")
            case ev.ReplyCommitted():
                self._line(f"   reply  {event.text.strip()}")

    def close(self, turn: Turn) -> None:
        """The latencies, or that there is no reply."""
        self._line("")
        if turn.refused:
            self._line(f"refused: what was heard may not be all: {turn.refused.heard or 'nothing'}")
            return
        if not turn.reply_text:
            self._line("no reply")
            return
        audio, without = _ms(turn.audio_latency_ms), _ms(turn.baseline_audio_latency_ms)
        if turn.audio_latency_ms is not None:
            self._line(f"first audio {audio} after the input (without: {without})")
        sentence = f"first sentence {_ms(turn.ttfs_ms)}, {_work(turn.nfetfs, turn.requests)}, {turn.outcome}"
        self._line(f"{sentence}; reply {SAME[turn.lossless]}")
        if drafts := turn.decoding:
            rates = f"{drafts.acceptance_rate:.0%} of drafted tokens accepted"
            figures = drafts.note or f"{rates}, {drafts.tokens_per_forward:.1f} tokens per forward"
            self._line(f"{drafts.decoder}: {figures}")
        if asked := turn.requests:
            self._line(requests_line(asked))

    def _status(self, event: ev.StageStatus) -> None:
        if event.state not in ("starting", "stopped"):
            message = f"without a {event.lacks}" if event.lacks and event.stage != "tts" else event.message
            self._line(f"{event.stage:>8}  {event.state} {message}")

    def _transcript(self, event: ev.Transcript) -> None:
        """Nothing where it adds nothing: the same words, or more letters of one that counted as whole in a pause."""
        known = self._prompt.startswith(event.prompt) and event.text.startswith(self._prompt)
        if event.final or not known:
            self._prompt = event.prompt
            self._line(f"    user  {event.prompt}{'' if event.final else ' …'}")

    def _verdict(self, event: ev.Verdict) -> None:
        asked = self._asked or ev.Requests()
        work = f"{_work(event.forwards, self._asked)}, {event.ms:.1f} ms"
        kept = f"{event.accepted}/{event.of} {asked.unit} {asked.holds}, {work}"
        guess = "" if event.final else f"  «{self._candidate.strip()[:70]}»"
        self._line(f"       {MARKS[event.outcome]}  {event.outcome:<8}{kept}{guess}")

    def _line(self, text: str) -> None:
        print(printable(text), file=self._out, flush=True)


def requests_line(asked: ev.Requests) -> str:
    """What a turn has cost the server."""
    cancelled = f" ({asked.cancelled} cancelled)" if asked.cancelled else ""
    tokens = f"{asked.generated} {asked.unit} generated, {asked.wasted} of them wasted"
    return f"{asked.server}, {PROOFS[asked.proof]}: {asked.count} requests{cancelled}, {tokens}"


def _work(count: int | None, asked: ev.Requests | None) -> str:
    """So many forwards, or requests."""
    return f"{count} request{'s' * (count != 1)}" if asked else f"{count} forwards"


def _ms(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f} ms"
