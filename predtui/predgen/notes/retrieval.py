"""Speculative retrieval (RaLMSpec, Zhang et al. 2024): passages for a prompt that still grows come from a small cache.

The paper retrieves from a cache of recent passages while it generates, verifies several such retrievals against the
whole index at once, and rolls back to the first that was wrong; each verification also fetches a few passages more than
are asked for. Here it is the prompt that goes on: what the cache finds for a partial prompt is used, every ``STRIDE``
such retrievals are verified together, and the final prompt is always looked up in the whole index, so that the reply is
the one with retrieval after the end of input. Where the whole index answers within ``SLOW_S``, which it does for all
but very large folders, a guess saves less than the wrong passages would cost, and none is made. Must not know of files.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from predtui.predgen.notes.index import Found, Index, Query, query, worth
from predtui.predgen.notes.passages import Passage

COUNT = 3
"""Passages that a reply may rest on."""
SHARE = 0.5
"""Of the best passage's score, that the others must have."""
PREFETCHED = 20
"""Passages that a look into the whole index brings into the cache."""
CACHED = 256
STRIDE = 3
SLOW_S = 0.002
_KNOWN = 512
"""Prompts whose passages are remembered."""
_DECAY = 0.8


@dataclass(slots=True)
class RetrievalFigures:
    """Looks into the whole index and into the cache; how many of these were verified, and right; seconds of each."""

    whole: int = 0
    cached: int = 0
    verified: int = 0
    right: int = 0
    whole_s: float = 0.0
    cached_s: float = 0.0


class Retriever:
    """The passages for prompts, in the order of the notes, so that the same ones make the same prompt."""

    def __init__(self, index: Index, now: Callable[[], float], slow_s: float = SLOW_S) -> None:
        """``now``: in seconds. ``slow_s``: seconds of a look into the whole index from which on the cache is asked."""
        self.figures = RetrievalFigures()
        self._index, self._now, self._slow_s = index, now, slow_s
        self._takes = 0.0
        self.changed()

    def changed(self) -> None:
        """The index is another: nothing that was found in it counts."""
        self._exact: dict[Query, tuple[Passage, ...]] = {}
        self._recent: dict[int, None] = {}
        self._pending: dict[Query, tuple[Passage, ...]] = {}

    def passages(self, prompt: str, guess: bool = False) -> tuple[Passage, ...]:
        """Those for ``prompt``; a ``guess`` may be wrong until the prompt is final."""
        words = query(prompt)
        if not words:
            return ()
        if words not in self._exact and guess and self._recent and self._takes >= self._slow_s:
            return self._guessed(words)
        return self._looked_up(words)

    def _looked_up(self, words: Query) -> tuple[Passage, ...]:
        if words not in self._exact:
            start = self._now()
            found = self._index.best(words, PREFETCHED)
            seconds = self._now() - start
            self.figures.whole += 1
            self.figures.whole_s += seconds
            self._takes = seconds if self.figures.whole == 1 else _DECAY * self._takes + (1 - _DECAY) * seconds
            self._cache(found)
            if len(self._exact) >= _KNOWN:
                self._exact.clear()
            self._exact[words] = _chosen(found)
        return self._exact[words]

    def _guessed(self, words: Query) -> tuple[Passage, ...]:
        if words in self._pending:
            return self._pending[words]
        start = self._now()
        guess = self._pending[words] = _chosen(self._index.best(words, COUNT, self._recent))
        self.figures.cached += 1
        self.figures.cached_s += self._now() - start
        if len(self._pending) < STRIDE:
            return guess
        self._verify()
        return self._exact[words]

    def _verify(self) -> None:
        """All guesses that were not verified, in one go."""
        pending, self._pending = self._pending, {}
        for words, guess in pending.items():
            self.figures.verified += 1
            self.figures.right += guess == self._looked_up(words)

    def _cache(self, found: list[Found]) -> None:
        for number, _, _ in found:
            self._recent.pop(number, None)
            self._recent[number] = None
        while len(self._recent) > CACHED:
            del self._recent[next(iter(self._recent))]


def _chosen(found: list[Found]) -> tuple[Passage, ...]:
    return tuple(sorted((one for _, one, _ in worth(found[:COUNT], SHARE)), key=lambda one: (one.note, one.place)))
