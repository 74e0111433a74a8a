"""Which sentence to make sound of next, before any is known to be spoken. Must not know how sound is made.

The first sound of each sentence comes first, in the order in which they are likely to be spoken: it is what a listener
waits for. Then each is made as long as may be. Those that may be spoken instead of the first one are made only while
what that saves is worth its time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from predtui.tts.cache import Utterance

WORTH = 0.1
"""Seconds that have to be saved for each that was spent on sentences that may be spoken instead."""
_DECAY = 0.9
"""What remains of both after a reply."""
_HOPE_S = 1.0
"""Seconds taken for saved at the beginning."""
_AGAIN = 8
"""Replies after which such sentences are tried again."""


class Instead:
    """Whether sentences that may be spoken instead of the first one are worth their time."""

    def __init__(self) -> None:
        self._spent, self._saved = 0.0, _HOPE_S
        self._rests = 0

    @property
    def pays(self) -> bool:
        return self._saved >= WORTH * self._spent or self._rests >= _AGAIN

    def spent(self, seconds: float) -> None:
        """So long was worked on one."""
        self._spent += seconds

    def spoken(self, saved: float) -> None:
        """A reply begins to be spoken; so many seconds were ``saved``, since one of them was it."""
        self._rests = 0 if self.pays else self._rests + 1
        self._spent, self._saved = _DECAY * self._spent, _DECAY * self._saved + saved


class SoundAhead:
    """The sentences wanted now, the likeliest first. A sentence that was begun and is kept no longer, since there was
    no room for it, is not begun again."""

    def __init__(self, limit: int, find: Callable[[str], Utterance | None]) -> None:
        """``limit``: chunks made of a sentence at most; ``find``: what there is of one."""
        self._limit, self._find = limit, find
        self.instead = Instead()
        self._wanted: tuple[str, ...] = ()
        self._begun: set[str] = set()

    def want(self, sentences: Sequence[str]) -> None:
        """These from now on, in place of those before."""
        self._wanted = tuple(dict.fromkeys(filter(None, sentences)))
        self._begun = {sentence for sentence in self._begun if sentence in self._wanted and self._find(sentence)}

    def give_up(self, sentence: str) -> None:
        """Want it no longer."""
        self._wanted = tuple(one for one in self._wanted if one != sentence)

    def second(self, sentence: str) -> bool:
        """Whether it is wanted in case it is spoken instead of the first."""
        return sentence in self._wanted[1:]

    def next(self) -> str | None:
        """The sentence to work on; None where all is made."""
        wanted = self._wanted if self.instead.pays else self._wanted[:1]
        for enough in (1, self._limit):
            for sentence in wanted:
                made = self._find(sentence)
                if made is None and sentence in self._begun:
                    continue
                if made is None or (not made.complete and len(made.chunks) < enough):
                    self._begun.add(sentence)
                    return sentence
        return None
