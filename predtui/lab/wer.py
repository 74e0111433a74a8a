"""Word error rate: the fewest insertions, deletions and substitutions that make one word sequence of another, a word
of the reference. Knows no recogniser.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from predtui.lab.numerals import in_words

_MARKS = re.compile(r"[^\w\s']")
_INITIALS = re.compile(r"\b(?:[a-z]\.){2,}")
_UNITS = re.compile(r"(met|lit)re(s?)\b")
"""British spelling of units, which sounds like the American one."""


def normal(text: str) -> list[str]:
    """The words that count: lower case, without punctuation, numbers in words, units in one spelling; as Whisper's own
    measure has it (Radford et al., 2022, section 4.4)."""
    text = _INITIALS.sub(lambda initials: initials[0].replace(".", ""), text.casefold())
    text = in_words(text.replace("%", " percent"))
    return _UNITS.sub(r"\1er\2", _MARKS.sub(" ", text)).split()


def distance(reference: Sequence[str], said: Sequence[str]) -> int:
    """Levenshtein's."""
    return _distances(reference, said)[-1][-1]


def matches(reference: Sequence[str], said: Sequence[str]) -> list[tuple[int, int]]:
    """Which words of ``reference`` were understood: places of equal words in a cheapest alignment, in order."""
    rows = _distances(reference, said)
    pairs: list[tuple[int, int]] = []
    row, column = len(reference), len(said)
    while row and column:
        equal = reference[row - 1] == said[column - 1]
        if rows[row][column] == rows[row - 1][column - 1] + (not equal):
            row, column = row - 1, column - 1
            if equal:
                pairs.append((row, column))
        elif rows[row][column] == rows[row - 1][column] + 1:
            row -= 1
        else:
            column -= 1
    return pairs[::-1]


def _distances(reference: Sequence[str], said: Sequence[str]) -> list[list[int]]:
    """[row][column]: the distance of the first ``row`` words of one from the first ``column`` of the other."""
    rows = [list(range(len(said) + 1))]
    for above, word in enumerate(reference, 1):
        last, row = rows[-1], [above]
        for column, other in enumerate(said, 1):
            row.append(min(last[column - 1] + (word != other), last[column] + 1, row[-1] + 1))
        rows.append(row)
    return rows


def word_error_rate(pairs: Iterable[tuple[str, str]]) -> float:
    """Of (reference, said) texts together: errors a word of the references; 0 where there is none."""
    errors = words = 0
    for reference, said in pairs:
        expected = normal(reference)
        errors += distance(expected, normal(said))
        words += len(expected)
    return errors / words if words else 0.0
