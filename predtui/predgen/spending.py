"""What speculation asks of an engine behind a network: requests and tokens of a turn, and how many may be wasted.

Other engines cost nobody anything: of these nothing is told, and nothing is limited. Must not know what is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from predtui.llm.base import Counters, LoadedModel
from predtui.state.events import Asks, Requests

_USUAL = 32
"""Tokens of a reply that is still to be spoken."""
WORDS, GUESSES = 0.75, 0.4
"""Shares of the budget: for words while more come, and for what may come. The rest is for pauses, in which the end is
likely near."""


class Spending:
    """Counts what the counters of a model say: all that its server was asked for, used or not."""

    def __init__(self, loaded: LoadedModel, budget: float) -> None:
        """``budget``: the tokens that may be wasted for each that is spoken, taken over all turns."""
        self._counters, self._budget = loaded.model.counters, budget
        self._counts = loaded.abilities.generates
        self._aside = Counters()
        """What was asked for other ends: of these, what was asked to open the model."""
        self._aside = self._now()
        self._spoken = 0
        self._none = self._told = Requests(server=loaded.device, proof=loaded.abilities.proof)
        self.begin()

    def begin(self) -> None:
        """A new turn."""
        self._began, self._told = self._now(), self._none

    def used_up(self, share: float = 1.0) -> bool:
        """Whether no more than that ``share`` of the budget may be wasted before more is spoken, and has been."""
        wasted = max(0, self._now().generated - self._spoken)
        return self._counts and wasted >= share * self._budget * (self._spoken + _USUAL)

    def spoken(self, tokens: int) -> None:
        """A reply of so many tokens is over."""
        self._spoken += tokens

    @contextmanager
    def aside(self) -> Iterator[None]:
        """What is asked within it is no speculation."""
        before = self._now()
        try:
            yield
        finally:
            self._aside = _sum(self._aside, self._now(), before)

    def events(self, useful: int, asks: Asks = "words") -> Iterator[Requests]:
        """What has changed in this turn; ``useful``: tokens of the candidate, or of the reply. ``asks``: what is asked
        for."""
        now, began = self._now(), self._began
        generated = now.generated - began.generated
        told = replace(
            self._none,
            count=now.forwards - began.forwards,
            cancelled=now.cancelled - began.cancelled,
            generated=generated,
            wasted=max(0, generated - useful),
            saving=self.used_up(WORDS),
            asks=asks,
        )
        if self._counts and told != self._told:
            self._told = told
            yield told

    def _now(self) -> Counters:
        return _sum(Counters(), self._counters, self._aside)


def _sum(counted: Counters, more: Counters, less: Counters) -> Counters:
    """``counted + more - less``, but for the tokens evaluated, which a server does not tell."""
    return Counters(
        forwards=counted.forwards + more.forwards - less.forwards,
        generated=counted.generated + more.generated - less.generated,
        cancelled=counted.cancelled + more.cancelled - less.cancelled,
    )
