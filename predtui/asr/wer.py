"""Word error rate: the fewest insertions, deletions and substitutions that make one word sequence of another, a word
of the reference. Knows no recogniser.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_MARKS = re.compile(r"[^\w\s']")


def normal(text: str) -> list[str]:
    """The words that count: lower case, without punctuation."""
    return _MARKS.sub(" ", text.casefold()).split()


def distance(reference: Sequence[str], said: Sequence[str]) -> int:
    """Levenshtein's."""
    row = list(range(len(said) + 1))
    for above, word in enumerate(reference, 1):
        last, row = row, [above]
        for column, other in enumerate(said, 1):
            row.append(min(last[column - 1] + (word != other), last[column] + 1, row[-1] + 1))
    return row[-1]


def word_error_rate(pairs: Iterable[tuple[str, str]]) -> float:
    """Of (reference, said) texts together: errors a word of the references; 0 where there is none."""
    errors = words = 0
    for reference, said in pairs:
        expected = normal(reference)
        errors += distance(expected, normal(said))
        words += len(expected)
    return errors / words if words else 0.0
