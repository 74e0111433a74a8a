"""What a decoder has done, as events. Must not know of replies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from predtui.decoding.base import Decoder, DecodingStatistics
from predtui.state.events import Decoding, Event, Work


class DecoderReport:
    """How the drafts of one decoder fare, and when its target and its draft were at work."""

    def __init__(self, title: str, decoder: Decoder) -> None:
        """``title``: the ``decoder``'s name, as a person reads it."""
        self._title, self._decoder = title, decoder
        self._reported = DecodingStatistics()

    def events(self, over: bool = False) -> Iterator[Event]:
        """What is new since the last call, of the drafts once a forward at most; all of the work once the revision is
        ``over``."""
        now, reported = self._decoder.statistics, self._reported
        for span in now.work.take(over):
            yield Work(stage=span.worker, start=span.start, end=span.end)
        if now.proposed != reported.proposed or now.note != reported.note:
            yield Decoding(
                decoder=self._title,
                proposed=now.last[0],
                accepted=now.last[1],
                acceptance_rate=now.acceptance_rate,
                tokens_per_forward=now.tokens_per_forward,
                note=now.note,
            )
            self._reported = replace(now)
