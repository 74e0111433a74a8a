"""LocalAgreement: of a recogniser that rewrites its output, the words that two rounds in a row share are stable
(Liu, Spanakis and Niehues, 2020). Knows no engine.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from predtui.words import joined as text_of


@dataclass(frozen=True, slots=True)
class Word:
    """One word as it is shown, with its time in seconds since the utterance began."""

    text: str
    start: float = 0.0
    end: float = 0.0

    @property
    def key(self) -> str:
        """What makes two words the same: case and punctuation do not count."""
        return "".join(c for c in self.text.casefold() if c.isalnum()) or self.text

    def after(self, second: float) -> bool:
        """Whether most of it is said after ``second``. What is cut off at its end is before, whatever the rounding."""
        return self.start + self.end > 2 * second


def shared(first: Sequence[Word], second: Sequence[Word]) -> int:
    """How many words both begin with."""
    length = 0
    for one, other in zip(first, second, strict=False):
        if one.key != other.key:
            break
        length += 1
    return length


def following(stable: Sequence[Word], words: Sequence[Word]) -> list[Word]:
    """What of ``words`` comes after ``stable``, also where a recogniser has changed its mind about the stable ones: all
    after that beginning of ``words`` which is nearest to ``stable`` (Levenshtein); of the nearest, one that ends alike
    before one that is as long.
    """
    distances = list(range(len(words) + 1))
    for row, word in enumerate(stable, 1):
        last, distances = distances, [row]
        for column, other in enumerate(words, 1):
            changed = last[column - 1] + (word.key != other.key)
            distances.append(min(changed, last[column] + 1, distances[-1] + 1))

    def unlike(length: int) -> tuple[int, bool, int]:
        alike = bool(stable and length) and words[length - 1].key == stable[-1].key
        return distances[length], not alike, abs(length - len(stable))

    return list(words[min(range(len(distances)), key=unlike) :])


@dataclass(slots=True)
class LocalAgreement:
    """The words of one utterance: ``stable`` only ever grows, ``tentative`` follows it. ``rounds`` in a row have to
    agree; their number may change."""

    stable: list[Word] = field(default_factory=list)
    tentative: list[Word] = field(default_factory=list)
    rounds: int = 2
    _before: list[list[Word]] = field(default_factory=list)

    def update(
        self, words: Sequence[Word], until: float = math.inf, since: float = -math.inf, held: float = math.inf
    ) -> None:
        """A new round over the sound after ``since`` seconds. What it shares with the rounds before becomes stable, but
        for what ends after ``held`` seconds, and for its newest word where that ends after ``until``."""
        words = self._following(words, since)
        earlier = self._before[-(self.rounds - 1) :] if self.rounds > 1 else []
        known = len(earlier) == self.rounds - 1
        agreed = min([len(words), *(shared(before, words) for before in earlier)]) if known else 0
        if words and agreed == len(words) and words[-1].end > until:
            agreed -= 1
        agreed = next((index for index in range(agreed) if words[index].end > held), agreed)
        self.stable.extend(words[:agreed])
        self.tentative = words[agreed:]
        rounds = [*(before[agreed:] for before in self._before), self.tentative]
        self._before = rounds[-(self.rounds - 1) :] if self.rounds > 1 else []

    def finish(self, words: Sequence[Word], since: float = -math.inf) -> None:
        """The last round: all of it is stable."""
        self.stable.extend(self._following(words, since))
        self.tentative, self._before = [], []

    def cut(self, since: float, enough: float) -> float:
        """Where a long buffer that begins at ``since`` seconds is to begin: after the last stable word that ends by
        ``enough``, so that what is heard next keeps the words before it, else after the first that ends later; at
        ``since`` where there is none."""
        ends = [word.end for word in self.stable if word.end > since]
        return max((end for end in ends if end <= enough), default=min(ends, default=since))

    def _following(self, words: Sequence[Word], since: float) -> list[Word]:
        return following([word for word in self.stable if word.after(since)], words)


def joined(words: Sequence[Word]) -> str:
    """The words as text."""
    return text_of(word.text for word in words)
