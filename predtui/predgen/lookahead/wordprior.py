"""How words follow each other before anything was said: the trigrams of the embedded recogniser, read where they lie.

The file is searched, not parsed: its n-grams are sorted, so that those that begin alike lie together. Must not know of
users, prompts or models.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path

from predtui.errors import PredtuiError
from predtui.models.shipped import asset

BEGIN, END = "<s>", "</s>"
"""What stands before the first word, and after the last."""
_HISTORY = 2
"""Words that what follows depends on."""
_AFTER = "\x7f"
"""Comes after all that words are made of."""


class WordPrior:
    """A trigram model in the ARPA format, each section of which is sorted by its n-grams."""

    def __init__(self, path: Path) -> None:
        """Raises PredtuiError for a file that cannot be read, or that has another form."""
        try:
            self._text = path.read_text(encoding="ascii")
            marks = [self._text.index(f"\\{name}\n") for name in ("1-grams:", "2-grams:", "3-grams:", "end\\")]
        except (OSError, ValueError) as error:
            raise PredtuiError(
                f"{path} is no trigram model in the ARPA format: {error}.", "Install it again."
            ) from error
        self._sections = [range(self._text.index("\n", begin) + 1, end - 1) for begin, end in pairwise(marks)]

    def following(self, history: Sequence[str], begun: str) -> dict[str, float]:
        """Words in small letters that begin with ``begun`` → how likely each follows ``history`` (the last two words
        count), ``END`` among them where nothing is begun. Then those alone that were seen after as much of the history
        as was ever seen: else it could be any."""
        found: dict[str, float] = {}
        factor = 1.0
        known = tuple(history[-_HISTORY:])
        for start in range(len(known) + 1):
            shorter = known[start:]
            if found and not begun:
                break
            for probability, gram, *_ in self._lines(len(shorter), " ".join((*shorter, begun))):
                found.setdefault(gram.rpartition(" ")[2], factor * 10.0 ** float(probability))
            factor *= self._backing_off(shorter)
        return found

    def _backing_off(self, history: tuple[str, ...]) -> float:
        """The factor of what is likely after a shorter history; 1 where it was never seen."""
        lines = self._lines(len(history) - 1, " ".join(history) + "\t") if history else []
        return 10.0 ** float(lines[0][2]) if lines else 1.0

    def _lines(self, order: int, beginning: str) -> list[list[str]]:
        """Of the n-grams of ``order`` words and one more, those whose lines go on with ``beginning`` after their
        probability, in fields: its logarithm, the words, and that of the factor of backing off where there is one."""
        section = self._sections[order]

        def content(offset: int) -> str:
            """Of the line that ``offset`` lies in, what stands behind the probability."""
            start = max(section.start, self._text.rfind("\n", section.start, offset) + 1)
            return self._text[self._text.index("\t", start) + 1 : self._text.index("\n", start)]

        first, last = (
            section.start + bisect_left(section, key, key=content) for key in (beginning, beginning + _AFTER)
        )
        return [line.split("\t") for line in self._text[first:last].splitlines()]


@cache
def shipped_prior() -> WordPrior:
    """That of the embedded recogniser. Raises PredtuiError where it is missing."""
    return WordPrior(asset("asr", "pocket.arpa"))
