"""Titles before names, and Roman numerals where they are sure, as English says them."""

from __future__ import annotations

import re

from predtui.tts.spelled import NumberWords
from predtui.tts.spoken.lexicon import Rule

_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}
_ROMAN = r"(?=[IVXL])(?:X[CL]|L?X{0,3})(?:I[XV]|V?I{0,3})(?<=[IVXLC])"
_COUNTED = (
    "Chapter|Part|Act|Scene|Volume|Book|Type|Phase|Section|Article|Title|Appendix|Class|Level|Stage|Mark|"
    "Grade|Table|Figure|Episode|Season|Super Bowl|Final Fantasy|Rocky|Apollo|Tier|Group|Step|Round|Unit|Lesson|Schedule"
)
_RULERS = (
    "Louis|Henry|Elizabeth|Charles|George|Edward|William|James|Richard|Philip|Paul|Benedict|Pius|Napoleon|Nicholas|"
    "Catherine|Alexander|Frederick|Wilhelm|Peter|Ivan|Leo|Gregory|Innocent|Clement|Urban|Otto|Francis|Ferdinand|Leopold|"
    "Ramses|Ramesses|Ptolemy|Mary|Margaret|Christian|Gustav|Carl|Harald|Haakon|Albert|Alfonso|Pedro|Victoria|"
    "Constantine|Darius|Xerxes|Thutmose|Amenhotep|Boniface|Julius|Sixtus|Mehmed|Murad|Selim|Umberto|Victor Emmanuel"
)
_SURE = "XXXVIII|XXVIII|XXIII|XVIII|XXVII|XIII|VIII|XVII|XXII|XXIV|XXVI|XIV|XVI|XII|XIX|XXI|VII|III|II"
"""What is nothing else."""


def roman(numeral: str) -> int:
    """Its value."""
    values = [_VALUES[letter] for letter in numeral]
    return sum(-one if one < next_ else one for one, next_ in zip(values, [*values[1:], 0], strict=True))


def _counted(match: re.Match[str]) -> str:
    return f"{match[1]} {NumberWords('en').cardinal(str(roman(match[2])))}"


def _ruler(match: re.Match[str]) -> str:
    return f"{match[1]} the {NumberWords('en').ordinal(str(roman(match[2])))}"


def _century(match: re.Match[str]) -> str:
    return NumberWords("en").ordinal(str(roman(match[1])))


def _alone(match: re.Match[str]) -> str:
    return NumberWords("en").cardinal(str(roman(match[0])))


def _road(match: re.Match[str]) -> str:
    """At the end of a text, its full stop ends the sentence as well."""
    return {"Dr.": "Drive", "St.": "Street"}[match[0]] + ("." if match.end() == len(match.string) else "")


RULES: tuple[Rule, ...] = (
    (re.compile(r"(?<=slash )etc\b"), "E T C"),
    (re.compile(r"\bCO(?=2\b)"), "C.O. "),
    (re.compile(r"(?<!\w)Dr\.?(?=\s[A-Z])"), "Doctor"),
    (re.compile(r"(?<=[a-z]\s)(?:Dr|St)\.(?!\s[A-Z]|\w)"), _road),
    (re.compile(r"(?<!\w)St\.?(?=\s[A-Z])"), "Saint"),
    (re.compile(r"(?<!\w)#(?=[A-Za-z]{2})"), "hashtag "),
    (re.compile(r"\bWW(?=I{1,2}\b)"), "World War "),
    (re.compile(r"\b(World War)\s(I{1,3})\b"), _counted),
    (re.compile(rf"\b({_COUNTED})\s({_ROMAN})\b(?![.'’]\w|(?<=\sI)\s[a-z])"), _counted),
    (re.compile(rf"\b({_RULERS})\s({_ROMAN})\b(?!\w|(?<=\sI)\s[a-z])"), _ruler),
    (re.compile(rf"\b({_ROMAN})(?:st|nd|rd|th)?(?=[\s-][Cc]entur)"), _century),
    (re.compile(rf"(?<![\w'’.-])(?:{_SURE})(?![\w'’]|-\w|\.\w)"), _alone),
)
