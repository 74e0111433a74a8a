"""The sound of a recording in stretches: when each began, and what it consists of. Must not know how it is played."""

from __future__ import annotations

from dataclasses import dataclass, field

from predtui.state import events as ev
from predtui.state.sound import Sound


@dataclass(slots=True, eq=False)
class Stretch:
    """Sound without a gap. ``begin`` in seconds of the tape; ``until``: where it was silenced, None for nowhere."""

    begin: float
    rate: int
    clips: list[Sound] = field(default_factory=list)
    seconds: float = 0.0
    until: float | None = None

    @property
    def end(self) -> float:
        whole = self.begin + self.seconds
        return whole if self.until is None else min(whole, self.until)

    def add(self, pcm: Sound) -> None:
        self.clips.append(pcm)
        self.seconds += len(pcm) // 2 / self.rate

    def since(self, moment: float) -> bytes:
        """16-bit mono PCM from ``moment`` to its end."""
        first, last = (2 * max(0, round((at - self.begin) * self.rate)) for at in (moment, self.end))
        return b"".join(map(bytes, self.clips))[first:last]


class Heard:
    """What was said, and what was answered. Given every event of a recording, in order, with its moment."""

    def __init__(self) -> None:
        self._stretches: list[Stretch] = []
        self._said: Stretch | None = None
        self._reply: Stretch | None = None

    def add(self, event: ev.Event, moment: float) -> None:
        match event:
            case ev.TurnStarted():
                self._said = self._reply = None
            case ev.AudioFrame():
                self._said = self._longer(self._said, event.pcm, event.rate, moment)
                self._said.begin = moment - self._said.seconds  # it was told of when it had been heard
            case ev.SpeechChunk() if event.pcm:
                self._reply = self._longer(self._reply, event.pcm, event.rate, moment)
            case ev.Playback(state="started") if self._reply:
                self._reply.begin = moment
            case ev.Playback(state="stopped") | ev.Interrupt() if self._reply and self._reply.until is None:
                self._reply.until = moment

    def at(self, moment: float) -> Stretch | None:
        """What sounds at ``moment``; of two, the later one."""
        return next((one for one in reversed(self._stretches) if one.begin <= moment < one.end), None)

    def _longer(self, stretch: Stretch | None, pcm: Sound, rate: int, moment: float) -> Stretch:
        """``stretch`` with ``pcm`` at its end; a new one where there is none, or one of another rate."""
        if stretch is None or stretch.rate != rate:
            stretch = Stretch(max(moment, stretch.end) if stretch else moment, rate)
            self._stretches.append(stretch)
        stretch.add(pcm)
        return stretch
