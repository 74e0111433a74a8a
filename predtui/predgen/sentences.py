"""Which first sentences are synthesised ahead: the likeliest, and those of replies to what else may come.

Must not know how replies are made, or sound.
"""

from __future__ import annotations

from collections.abc import Iterator

from predtui.state.events import SentenceAhead

MOST = 3
"""Sentences beside the likeliest: each takes a synthesiser as long as the likeliest does."""


class Sentences:
    """Those of one turn."""

    def __init__(self) -> None:
        self.first = ""
        self._others: list[str] = []
        self._before: list[str] = []
        """The likeliest before what was heard last, its own among them."""
        self._told = SentenceAhead()

    def heard(self) -> None:
        """More of the input has come: what was likely before it counts less than what is from now on."""
        before = dict.fromkeys((self.first, *self._others, *self._before))
        self._before, self._others = [one for one in before if one][: MOST + 1], []

    def proposed(self, ahead: SentenceAhead) -> Iterator[SentenceAhead]:
        """By a guess: the likeliest, or ``others``. What is news of that."""
        yield from self.likeliest(ahead.text)
        for sentence in ahead.others:
            yield from self.instead(sentence)

    def likeliest(self, sentence: str) -> Iterator[SentenceAhead]:
        """This one is; what is news of that."""
        if sentence:
            self.first = sentence
            yield from self._news()

    def instead(self, sentence: str) -> Iterator[SentenceAhead]:
        """This one may be spoken in its place."""
        if sentence and sentence not in self._others:
            self._others.append(sentence)
            yield from self._news()

    def _news(self) -> Iterator[SentenceAhead]:
        others = [one for one in dict.fromkeys((*self._others, *self._before)) if one != self.first]
        news = SentenceAhead(text=self.first, others=tuple(others[:MOST]))
        if news != self._told:
            self._told = news
            yield news
