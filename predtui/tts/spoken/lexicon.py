"""What a language says for what is written without words. Must not know how a text is searched for it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

Rule = tuple[re.Pattern[str], Callable[[re.Match[str]], str] | str]
"""What is found, and what is said for it."""
Noun = tuple[str, str]
"""Of one, and of several."""


@dataclass(frozen=True, slots=True, eq=False)
class Lexicon:
    """The words of one language, itself alone equal to itself; of one that is not known there are none, and its engine
    reads what is written."""

    number: str = r"\d+(?:[.,]\d+)*"
    """A number, as a regular expression without groups."""
    say: Callable[[str], str] = str
    """A number in words, or as the language's synthesiser reads it."""
    point: str = "."
    """The mark before decimals."""
    rules: tuple[Rule, ...] = ()
    """What no other language has, such as its dates; applied before everything but addresses."""
    counted: str = ""
    """What a number with a full stop is an ordinal before, as a regular expression; it begins no list there."""
    endings: tuple[Rule, ...] = ()
    """What is left of numbers, applied last."""
    address: Mapping[str, str] = field(default_factory=dict)
    """Of addresses and paths: a mark and its name."""
    abbreviations: Mapping[str, str] = field(default_factory=dict)
    numbered: Mapping[str, str] = field(default_factory=dict)
    """Abbreviations that stand for what is said where a number follows."""
    units: Mapping[str, Noun] = field(default_factory=dict)
    per: str = ""
    powers: Mapping[str, str] = field(default_factory=dict)
    """A unit to the power of "2" and "3", with braces for the unit."""
    per_power: Mapping[str, str] = field(default_factory=dict)
    """The same behind ``per``, where it differs."""
    currencies: Mapping[str, tuple[Noun, Noun | None]] = field(default_factory=dict)
    """A sign or code: the unit, and its hundredth where that is said."""
    money: str = "{whole} {part}"
    """An amount with hundredths, of ``whole``, ``part`` and ``small``."""
    scales: Mapping[str, str] = field(default_factory=dict)
    """ "bn" of an amount of money: billion."""
    to: str = ""
    """Between the ends of a range."""
    minus: str = ""
    symbols: Mapping[str, str] = field(default_factory=dict)
    """Of arithmetic and text."""
    power: str = ""
    squared: Mapping[str, str] = field(default_factory=dict)
    """What is said for the powers "2" and "3"."""
    fractions: Mapping[str, str] = field(default_factory=dict)
    """ "1/2": a half."""
    fraction: Callable[[str, str], str] | None = None
    """Any other, of numerator and denominator."""
    code: str = ""
    """What is said for code that is not read out, with braces for its language."""
    scripts: Mapping[str, str] = field(default_factory=dict)
    """What is said for a text in another script, by Unicode's name of that."""


TELEPHONE = re.compile(r"(?<![\w.,-])(?:\+\d{1,3}|0\d{1,5})(?:[\s/-]\d{2,8}){1,5}(?![\w-])")


def one_by_one(match: re.Match[str]) -> str:
    """Digits, in groups as they are written."""
    return ", ".join(" ".join(group) for group in re.findall(r"[+\d]\d*", match[0]))


def base(language: str) -> str:
    """The language of a voice, as "en" of "en-us", "en_GB" or "en-us+f3"."""
    return re.split(r"[-_+]", language.lower(), maxsplit=1)[0]


def applied(rules: tuple[Rule, ...], text: str) -> str:
    for pattern, said in rules:
        text = pattern.sub(said, text)
    return text


def nouns(table: str) -> dict[str, Noun]:
    """Of lines of signs, what one is called, and several where that is not the same with an s."""
    found: dict[str, Noun] = {}
    for line in table.strip().splitlines():
        signs, one, *several = (part.strip() for part in line.split("|"))
        for sign in signs.split():
            found[sign] = (one, several[0] if several else f"{one}s")
    return found


def one_of(words: Mapping[str, object]) -> str:
    """The keys as a regular expression, longest first."""
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
