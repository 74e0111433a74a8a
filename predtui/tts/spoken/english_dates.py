"""Dates, times, decades, telephone numbers and versions, as English says them."""

from __future__ import annotations

import re

from predtui.tts.spelled import NumberWords
from predtui.tts.spoken.lexicon import Rule

MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
_SHORT = {name[:3]: name for name in MONTHS} | {"Sept": "September"}
_MONTH = rf"(?P<month>{'|'.join(MONTHS)}|(?:{'|'.join(_SHORT)})\b\.?)"
_DAY = r"(?P<day>[12]\d|3[01]|0?[1-9])"
_LATE = r"1[3-9]|2\d|3[01]"
"""A day that is no month."""
_YEAR = r"(?P<year>[12]\d{3})"
_NOT_A_COUNT = r"(?![\w:%°]|[.,]\d|\s?(?:million|billion|percent|km|kg|am|pm|a\.m|p\.m)\b)"
_HALF_DAY = r"(?P<half>[ap])\.?\s?(?P<dot>m\b\.?)"
_BEFORE_DECADE = ("the ", "her ", "his ", "their ", "its ", "my ", "your ", "mid-", "late ", "early ")
_OF_DECADES = "music|rock|pop|fashion|style|film|movie|song|hit|kid|disco|dance|design|hair"
_SOME = "|".join(rf"(?<=\b{word})" for word in _BEFORE_DECADE)
_VERSIONED = (
    "version|Version|release|Release|Python|Java|Ubuntu|Debian|Fedora|Node|Django|Rails|Kotlin|Swift|Ruby|PHP|Perl|"
    "PyTorch|CUDA|Windows|macOS|iOS|Android|Linux|kernel"
)


def _words() -> NumberWords:
    return NumberWords("en")


def year(written: str) -> str:
    return _words().year(written)


def _month(name: str) -> str:
    return _SHORT.get(name.rstrip("."), name.rstrip("."))


def _date(match: re.Match[str]) -> str:
    groups = match.groupdict()
    named = groups.get("month") or ""
    month = MONTHS[int(named) - 1] if named.isdecimal() else _month(named)
    said = f"{month} {_words().ordinal(groups['day'])}"
    return f"{said}, {year(groups['year'])}" if groups.get("year") else said


def _days(match: re.Match[str]) -> str:
    first, last = _words().ordinal(match["day"]), _words().ordinal(match["last"])
    return f"{_month(match['month'])} {first} to {last}"


def _day_first(match: re.Match[str]) -> str:
    the = "" if re.search(r"\bthe\s$", match.string[: match.start()]) else "the "
    said = f"{the}{_words().ordinal(match['day'])} of {_month(match['month'])}"
    return f"{said}, {year(match['year'])}" if match["year"] else said


def _month_of_year(match: re.Match[str]) -> str:
    return f"{_month(match['month'])} {year(match['year'])}"


def _ambiguous(match: re.Match[str]) -> str:
    """Two numbers and a year: which is the month, nobody knows."""
    return f"{_words().cardinal(match[1])}, {_words().cardinal(match[2])}, {year(match[3])}"


def _time(match: re.Match[str]) -> str:
    hour, minute, second = match["hour"], match["minute"], match["second"]
    said = _clock(hour, minute, bool(match["half"]))
    if second:
        said = f"{_words().cardinal(hour)} {_minutes(minute)} and {_words().cardinal(second)} seconds"
    return f"{said}{_noon(match)}"


def _clock(hour: str, minute: str, halved: bool) -> str:
    said = _words().cardinal(hour)
    if minute != "00":
        return f"{said} {_minutes(minute)}"
    if halved:
        return said
    return f"{said} o'clock" if 1 <= int(hour) <= 12 else f"{said} hundred"


def _minutes(written: str) -> str:
    return f"{'oh ' if written[0] == '0' else ''}{_words().cardinal(written)}"


def _hour(match: re.Match[str]) -> str:
    return f"{_words().cardinal(match['hour'])}{_noon(match)}"


def _noon(match: re.Match[str]) -> str:
    return f" {match['half'].lower()}.m." if match["half"] else ""


def _decade(match: re.Match[str]) -> str:
    century, ten = match[1] or "", match[2]
    if century and ten == "0":
        said = year(f"{century}00")
        return said + "s"
    tens = _words().cardinal(f"{ten}0")[:-1] + "ies"
    return f"{_words().cardinal(century)} {tens}" if century else tens


def _digits(match: re.Match[str]) -> str:
    """In groups as they are written; a plus is said."""
    groups = re.findall(r"\d+", match[0])
    plus = "plus " if match[0].lstrip("(").startswith("+") else ""
    return plus + ", ".join(map(_words().digits, groups))


def _hexadecimal(match: re.Match[str]) -> str:
    return f"hex {' '.join(match[1].upper())}"


def _version(match: re.Match[str]) -> str:
    words = _words()
    parts = match[0].split(".")
    return " point ".join(words.digits(part) if part[0] == "0" else words.cardinal(part) for part in parts)


def _dotted(match: re.Match[str]) -> str:
    return " dot ".join(map(_words().digits, match[0].split(".")))


def _feet(match: re.Match[str]) -> str:
    inches = f" {_words().cardinal(match[2])}" if match[2] else ""
    return f"{_words().cardinal(match[1])} foot{inches}"


RULES: tuple[Rule, ...] = (
    # 9am-5pm, 9-5pm, 9:30-17:00, May 5-7
    (re.compile(r"(?:(?<=\d[ap]m)|(?<=\d\s[ap]m)|(?<=[ap]\.m\.)|(?<=\d(?:st|nd|rd|th)))\s?[-–]\s?(?=\d)"), " to "),
    (re.compile(r"(?<=\d:\d\d)\s?[-–]\s?(?=\d{1,2}:\d\d)"), " to "),
    (re.compile(r"(?<=\d)\s?[-–]\s?(?=\d{1,2}(?::\d\d)?\s?[ap]\.?m\b)"), " to "),
    (re.compile(rf"\b{_MONTH}\s{_DAY}\s?[-–]\s?(?P<last>[12]\d|3[01]|0?[1-9])(?![\w:%°-])"), _days),
    # 2024-05-12T14:30, 1984-05-12
    (re.compile(r"(?<=\d{4}-\d\d-\d\d)T(?=\d\d:\d\d)"), ", "),
    (re.compile(r"(?<=\d\d:\d\d)Z\b"), " UTC"),
    (re.compile(rf"(?<![\w-]){_YEAR}-(?P<month>0[1-9]|1[0-2])-{_DAY}(?![\w-])"), _date),
    (re.compile(r"(?<![\w-])(?P<year>[12]\d{3})/(?P<month>0[1-9]|1[0-2])/(?P<day>[0-3]\d)(?![\w/])"), _date),
    # 25/12/1984, 12/25/1984, 25.12.1984; then what may be either
    (re.compile(rf"(?<![\w./])(?P<day>{_LATE})[/.](?P<month>0?[1-9]|1[0-2])[/.]{_YEAR}(?![\w/])"), _date),
    (re.compile(rf"(?<![\w./])(?P<month>0?[1-9]|1[0-2])/(?P<day>{_LATE})/{_YEAR}(?![\w/])"), _date),
    (re.compile(r"(?<![\w./])(0?[1-9]|1[0-2])[/.](0?[1-9]|1[0-2])[/.]([12]\d{3})(?![\w/])"), _ambiguous),
    # May 12, 1984; 12 May 1984; May 1984
    (re.compile(rf"\b{_MONTH}\s{_DAY}(?:st|nd|rd|th)?(?:,?\s{_YEAR}(?!\w|[.,]\d))?{_NOT_A_COUNT}"), _date),
    (
        re.compile(rf"(?<![\w.,:/-]){_DAY}(?:st|nd|rd|th)?\s(?:of\s)?{_MONTH}(?:,?\s{_YEAR}(?!\w|[.,]\d))?(?!\w)"),
        _day_first,
    ),
    (re.compile(rf"\b{_MONTH}\s{_YEAR}(?!\w|[.,]\d)"), _month_of_year),
    # 14:30:15, 2:30 pm, 9am
    (
        re.compile(
            rf"(?<![\w:.,])(?P<hour>[01]?\d|2[0-4]):(?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d))?(?!\w|:\d)"
            rf"(?:\s?{_HALF_DAY})?", re.IGNORECASE,
        ),
        _time,
    ),
    (
        re.compile(
            rf"(?<![\w:.,])(?P<hour>[01]?\d|2[0-4])[:.](?P<minute>[0-5]\d)(?P<second>(?!))?\s?{_HALF_DAY}",
            re.IGNORECASE,
        ),
        _time,
    ),
    (re.compile(rf"(?<![\w:.,])(?P<hour>1[0-2]|0?[1-9])\s?{_HALF_DAY}", re.IGNORECASE), _hour),
    # 1990s, '90s, in her 20s
    (re.compile(r"(?<![\w.,])['’]?([12]\d)(\d)0['’]?s\b"), _decade),
    (re.compile(rf"(?:(?<![\w.,])['’]|{_SOME})()([2-9])0['’]?s\b"), _decade),
    (re.compile(rf"(?<![\w.,])()([2-9])0s(?=\s(?:{_OF_DECADES}))"), _decade),
    # +1 (555) 123-4567, 555-1234, call 911
    (re.compile(r"(?<![\w.,$€£])(?:\+\d{1,3}[\s.-]?)?\(\d{2,5}\)[\s.-]?\d{3,4}[\s.-]?\d{3,4}(?![\w-])"), _digits),
    (re.compile(r"(?<![\w.,$€£])\+\d{1,3}(?:[\s.-]?\d{2,5}){2,5}(?![\w-])"), _digits),
    (re.compile(r"(?<![\w.,$€£-])(?:1-)?\d{3}[\s.-]\d{3}[\s.-]\d{4}(?![\w-])"), _digits),
    (re.compile(r"(?<![\w.,$€£-])\d{3}-\d{4}(?![\w-])"), _digits),
    (re.compile(r"(?<=\b[Cc]all )\d{3}\b|(?<=\b[Dd]ial )\d{3}\b"), _digits),
    (re.compile(r"(?<![\w.,$€£-])\d{1,9}(?:-\d{1,9}){2,6}(?![\w-])"), _digits),
    (re.compile(r"(?<![\w-])1-\d{3}-(?=[A-Z]{4})"), lambda match: f"{_digits(match)}, "),
    (re.compile(r"\b0x([0-9a-fA-F]{1,16})\b"), _hexadecimal),
    # 192.168.0.1, v1.2.3, Python 3.11
    (re.compile(r"(?<![\w.,])\d{1,3}(?:\.\d{1,3}){3}(?![\w.]\d)(?!\w)"), _dotted),
    (re.compile(r"(?<![\w.])[vV]\.?(?=\d{1,4}\.\d)"), "version "),
    (re.compile(r"\b[Vv]ersion\s(?=version )"), ""),
    (re.compile(r"(?<![\w.,])\d{1,9}(?:\.\d{1,9}){2,5}(?![\w])"), _version),
    (re.compile(r"(?<=\bversion )\d{1,4}\.\d{1,4}(?!\w)|(?<=\bVersion )\d{1,4}\.\d{1,4}(?!\w)"), _version),
    *((re.compile(rf"(?<=\b{name} )\d{{1,4}}\.\d{{1,4}}(?!\w)"), _version) for name in _VERSIONED.split("|")[2:]),
    (re.compile(r"(?<![\w.,])([1-9])['′]\s?(?:(\d{1,2})[\"″])?(?!\w)"), _feet),
    # 16:9
    (re.compile(r"(?<=\d):(?=\d)"), " to "),
)  # fmt: skip
