"""One turn out of a recording: what was asked, key by key or sample by sample, and what became of it.

Must not know how it could be asked again.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from predtui.errors import PredtuiError
from predtui.state import events as ev
from predtui.state.exchange import Exchange
from predtui.state.reducer import reduce
from predtui.state.turn import Turn


@dataclass(slots=True)
class Asked:
    """``turn``: at its end, as it was recorded. ``lines``: as typed, each with its time; ``frames``: as heard."""

    turn: Turn
    lines: list[ev.Transcript] = field(default_factory=list)
    frames: list[ev.AudioFrame] = field(default_factory=list)

    @property
    def before(self) -> tuple[Exchange, ...]:
        """The conversation that it went on from, as the model was told it."""
        said = [message.content for message in self.turn.request]
        return tuple(Exchange(user, reply) for user, reply in zip(said[::2], said[1::2], strict=False))

    @property
    def seconds(self) -> float:
        """How long it took to ask."""
        if self.frames:
            return sum(len(frame.pcm) // 2 / frame.rate for frame in self.frames)
        return self.lines[-1].time - self.lines[0].time if self.lines else 0.0

    def pcm(self) -> bytes:
        """All that was heard, at the rate of the first frame."""
        return b"".join(bytes(frame.pcm) for frame in self.frames)


def asked(events: Iterable[ev.Event], number: int = 0, begin: Turn | None = None) -> Asked:
    """Turn ``number``; 0: the last one that was asked to its end. ``begin``: the Turn before the first event. Raises
    PredtuiError where there is none, or its sound was not kept."""
    turns: dict[int, Asked] = {}
    turn = begin or Turn()
    for event in events:
        turn = reduce(turn, event)
        if isinstance(event, ev.TurnStarted):
            turns[event.turn] = Asked(turn)
        if (present := turns.get(turn.number)) is None:
            continue
        present.turn = turn
        if isinstance(event, ev.AudioFrame) and event.turn == turn.number and turn.phase == "listening":
            present.frames.append(event)
        elif isinstance(event, ev.Transcript) and event.turn == turn.number and not event.paused:
            present.lines.append(event)
    whole = {at: one for at, one in turns.items() if one.turn.transcript.final and one.turn.prompt}
    if number in whole or (not number and whole):
        return _kept(whole[number or max(whole)])
    there = f"It has turns {_listed(list(whole))}." if whole else "Nothing was asked in it."
    raise PredtuiError(f"no turn {number} was asked to its end here." if number else "no turn to ask again.", there)


def _kept(asked: Asked) -> Asked:
    if asked.turn.source != "typed" and not asked.frames:
        raise PredtuiError(f"the sound of turn {asked.turn.number} is not kept.", "Record the session: predtui record")
    return asked


def _listed(numbers: list[int]) -> str:
    if len(numbers) > 2 and numbers == list(range(numbers[0], numbers[-1] + 1)):
        return f"{numbers[0]} to {numbers[-1]}"
    return ", ".join(map(str, numbers))
