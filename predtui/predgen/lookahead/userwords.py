"""What this user is likely to say next, at no forward of a model: an n-gram of their own words over a general prior.

Learns from the conversation as it is handed over; keeps nothing beyond it, and writes nothing. Must not know of models,
of stages, or of what the words are for.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from heapq import nsmallest

from predtui.predgen.lookahead.wordprior import BEGIN, END, WordPrior
from predtui.state.events import Message

_WORD = re.compile(r"[^\W_](?:[^\s,;:?!.]|[.,:](?=\w))*")
"""A word without the marks around it, those within numbers and abbreviations kept."""
_UNSEEN = 1e-7
"""The probability of a word of this user that the prior has never seen there ..."""
_HABIT = 0.1
"""... beside the share that their own words have in all they said, wherever."""

History = tuple[str, ...]


class UserWords:
    """Counts of what follows no, one and two words in this conversation (Witten and Bell, 1991), over the prior."""

    def __init__(self, prior: WordPrior) -> None:
        self._prior = prior
        self._learnt: Sequence[Message] = ()
        self._forget()

    def learn(self, history: Sequence[Message]) -> None:
        """The conversation so far: what is new in it is added, and where it is another one, all else is forgotten."""
        if tuple(history[: len(self._learnt)]) != tuple(self._learnt):
            self._learnt = ()
            self._forget()
        for message in history[len(self._learnt) :]:
            if message.role == "user":
                self._add(message.content)
        self._learnt = tuple(history)

    def words(self, said: str, begun: str, count: int) -> list[tuple[str, float]]:
        """``count`` words that may follow ``said`` and begin with ``begun``, the likeliest first, each with its share
        of all that do; written as the user writes them. What is begun is one of them where it is a word."""
        history = (BEGIN, *_words(said.lower()))[-2:]
        likely = self._likely(history, begun.lower())
        whole = sum(likely.values())
        likely.pop(END, None)
        ranked = nsmallest(count, likely.items(), key=lambda item: (-item[1], item[0]))
        return [(self._spelled(word, begun), share / whole) for word, share in ranked]

    def _likely(self, history: History, begun: str) -> dict[str, float]:
        prior = self._prior.following(history, begun)
        own = self._counts[()]
        total = sum(own.values())
        found = {word: (1 - _HABIT) * share for word, share in prior.items()}
        for word, times in own.items():
            if word.startswith(begun):
                found[word] = found.get(word, _UNSEEN) + _HABIT * times / total
        for length in range(1, len(history) + 1):
            after = self._counts.get(history[len(history) - length :])
            if after:
                kinds, seen = len(after), sum(after.values())
                found = {word: (after[word] + kinds * share) / (seen + kinds) for word, share in found.items()}
        return found

    def _forget(self) -> None:
        self._counts: defaultdict[History, Counter[str]] = defaultdict(Counter)
        self._written: dict[str, str] = {}

    def _add(self, text: str) -> None:
        words = [*_words(text)]
        self._written.update((word.lower(), word) for word in words)
        line = [BEGIN, *(word.lower() for word in words), END]
        for place in range(1, len(line)):
            for length in range(min(place, 2) + 1):
                self._counts[tuple(line[place - length : place])][line[place]] += 1

    def _spelled(self, word: str, begun: str) -> str:
        """As it was begun, and goes on as the user wrote it last."""
        return begun + self._written.get(word, word)[len(begun) :]


def _words(text: str) -> Iterator[str]:
    return (match[0] for match in _WORD.finditer(text))
