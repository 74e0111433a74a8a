"""Numbers as people say them: "47" is "forty seven", "3:05" is "three oh five", "2.5" is "two point five".

Covers whole numbers below one million. Knows nothing of sentences or styles.
"""

from __future__ import annotations

import re
from functools import cache

_SMALL = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_TENS = ["zero", "ten", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
NUMBER = re.compile(r"(?<![\w.:])(\d+)(?:([.:])(\d+))?(?![\w]|[.:]\d)")
"""A whole number, a decimal one or a clock time that stands alone in a text."""


@cache
def spell(number: int) -> str:
    """``number`` (0 to 999,999) in words, without hyphens and without "and"; ValueError beyond."""
    if not 0 <= number < 1_000_000:
        raise ValueError(f"cannot spell {number}: only 0 to 999,999")
    if number < 20:
        return _SMALL[number]
    if number < 100:
        tens, ones = divmod(number, 10)
        return _TENS[tens] + (f" {_SMALL[ones]}" if ones else "")
    unit, name = (100, "hundred") if number < 1000 else (1000, "thousand")
    head, rest = divmod(number, unit)
    return f"{spell(head)} {name}" + (f" {spell(rest)}" if rest else "")


def _clock(hour: int, minute: str) -> str:
    if minute == "00":
        return spell(hour)
    return f"{spell(hour)} {'oh ' if minute[0] == '0' else ''}{spell(int(minute))}"


def _spoken(match: re.Match[str]) -> str:
    whole, mark, rest = match.groups()
    if len(whole) > 6:
        return match[0]
    if mark == ":":
        return _clock(int(whole), rest)
    if mark == ".":
        return f"{spell(int(whole))} point {' '.join(_SMALL[int(digit)] for digit in rest)}"
    return spell(int(whole))


def in_words(text: str) -> str:
    """``text`` with every number written as it is said."""
    return NUMBER.sub(_spoken, text)
