"""What a streaming recogniser is: frames in, stable and tentative words out. Must not know of language models."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from predtui.state.events import Work


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """``stable`` words are never changed again in this utterance; ``tentative`` ones may be.
    ``unfinished``: the last word may still be growing."""

    stable: str = ""
    tentative: str = ""
    unfinished: bool = True


class Recognizer(Protocol):
    """One utterance at a time: ``start``, any number of ``feed``, ``finish``."""

    rate: int
    """Samples per second that ``feed`` wants, mono 16-bit."""

    def start(self) -> None:
        """Forget everything; a new utterance begins."""
        ...

    def feed(self, pcm: bytes, voiced: bool) -> Hypothesis | None:
        """Takes one frame; returns a hypothesis where it changed. ``voiced``: speech was detected in or near it. One
        that is not, though empty, tells of a pause: what was heard may be all."""
        ...

    def finish(self) -> Hypothesis:
        """The end of the utterance: everything said, as stable words. Empty when nobody spoke."""
        ...


@runtime_checkable
class Overtaken(Protocol):
    """A recogniser that gives up a round over sound that goes on, where a pause or the end has come meanwhile."""

    overtaken: Callable[[], bool]
    """Whether one has; asked between forwards."""


@runtime_checkable
class Repeating(Protocol):
    """A recogniser whose last round can be had again, to measure it."""

    def again(self) -> bool:
        """The last round over the utterance that has ended, from its beginning; False where it took none."""
        ...


@runtime_checkable
class Measured(Protocol):
    """A recogniser that knows how it kept up."""

    def worked(self) -> list[Work]:
        """What its parts did since the last call, round by round; as stages of their own."""
        ...

    def summary(self) -> str:
        """A line about the utterance that has just ended; "" where there is nothing to tell."""
        ...
