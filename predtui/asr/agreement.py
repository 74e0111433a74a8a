"""LocalAgreement: of a recogniser that rewrites its output, the words that two rounds in a row share are stable
(Liu, Spanakis and Niehues, 2020). Knows no engine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field


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


def shared(first: Sequence[Word], second: Sequence[Word]) -> int:
    """How many words both begin with."""
    length = 0
    for one, other in zip(first, second, strict=False):
        if one.key != other.key:
            break
        length += 1
    return length


@dataclass(slots=True)
class LocalAgreement:
    """The words of one utterance: ``stable`` only ever grows, ``tentative`` follows it."""

    stable: list[Word] = field(default_factory=list)
    tentative: list[Word] = field(default_factory=list)

    def update(self, words: Sequence[Word], hold: int = 0) -> None:
        """A new round: ``words`` follow the stable ones. What it shares with the round before becomes stable, except
        its own last ``hold`` words."""
        agreed = min(shared(self.tentative, words), max(0, len(words) - hold))
        self.stable.extend(words[:agreed])
        self.tentative = list(words[agreed:])

    def finish(self, words: Sequence[Word]) -> None:
        """The last round: all of it is stable."""
        self.stable.extend(words)
        self.tentative = []

    def after_stable(self, words: Sequence[Word], slack: float = 0.05) -> list[Word]:
        """Those of ``words`` that are not stable already, by time: recognisers shift a border by up to ``slack`` s."""
        if not self.stable:
            return list(words)
        border = self.stable[-1].end - slack
        return [word for word in words if (word.start + word.end) / 2 > border]


def joined(words: Sequence[Word]) -> str:
    return " ".join(word.text for word in words)
