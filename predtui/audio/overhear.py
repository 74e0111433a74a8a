"""The microphone while a reply plays: is somebody talking over it, and what do they say? Must not know of words."""

from __future__ import annotations

from collections.abc import Iterator

from predtui.audio.resample import FRAME, RATE
from predtui.audio.vad import Padding, VoiceActivity
from predtui.state.events import Overheard

OVER_SECONDS = 1.0
"""Of quiet, after which a stretch of speech is over, and forgotten."""


class Overhearing:
    """Frames of 20 ms in, without the reply's echo; Overheard out while there is a stretch of speech."""

    def __init__(self, activity: VoiceActivity) -> None:
        self._activity, self._padding = activity, Padding()
        activity.reset()
        self.kept: list[bytes] = []
        """The stretch so far, from just before it."""
        self._speech = self._quiet = 0.0

    def push(self, pcm: bytes) -> Iterator[Overheard]:
        voiced = self._activity.push(pcm)
        if self._activity.speaking:
            self._speech, self._quiet = self._speech + FRAME / RATE, 0.0
        else:
            self._quiet += FRAME / RATE
        for frame, near in self._padding.push(pcm, voiced):
            if near or self.kept:
                yield Overheard(pcm=frame, voiced=near, first=not self.kept, speech=self._speech, quiet=self._quiet)
                self.kept.append(frame)
        if self.kept and self._quiet >= OVER_SECONDS:
            self.kept, self._speech = [], 0.0

    def forget(self) -> Iterator[Overheard]:
        """That stretch was nobody's."""
        yield Overheard(pcm=b"", voiced=False, speech=self._speech, quiet=OVER_SECONDS)
        self.kept, self._speech = [], 0.0

    def rest(self) -> list[bytes]:
        """All of the stretch, with the frames that were held back; of none, what may be the beginning of one."""
        return [*self.kept, *(frame for frame, _ in self._padding.flush())]
