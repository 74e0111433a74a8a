"""Amounts of money, and numbers with units. Must not know a language's words."""

from __future__ import annotations

import re
from functools import lru_cache

from predtui.tts.spoken.lexicon import Lexicon, Noun, one_of

_NATIONS = r"(?:US|CA|AU|NZ|HK|A|C|S)?"


def said(text: str, words: Lexicon) -> str:
    before, after, with_unit = _patterns(words)
    if words.currencies:
        text = before.sub(lambda match: _money(match, words), text)
        text = after.sub(lambda match: _money(match, words), text)
    return with_unit.sub(lambda match: _measure(match, words), text) if words.units else text


@lru_cache(maxsize=8)
def _patterns(words: Lexicon) -> tuple[re.Pattern[str], ...]:
    """Of an amount behind its sign, of one before it, and of a number with a unit."""
    money, units, number = one_of(words.currencies), one_of(words.units), words.number
    scale = rf"(?:\s?(?P<scale>{one_of(words.scales)})(?!\w))?"
    until = rf"(?P<range>\s{words.to}\s(?:{money})?(?P<until>{number}))?"
    each = r"(?:/(?P<each>[A-Za-zµ]{1,12})(?P<square>\^[23])?(?!\w))?"
    return (
        re.compile(rf"(?<!\w){_NATIONS}(?P<unit>{money})\s?(?P<number>{number}){until}{scale}{each}"),
        re.compile(
            rf"(?<![\w.,])(?P<number>{number})(?P<range>(?P<until>(?!)))?{scale}\s?(?P<unit>{money})(?!\w){each}"
        ),
        re.compile(
            rf"(?<![\w.,])(?<![A-Za-z]-)(?P<number>{number})(?P<join>[\s-]?)(?P<unit>{units})(?P<power>\^[23])?"
            rf"(?!\w|\^){each}(?:\.(?=\s[a-z]))?"
        ),
    )


def _money(match: re.Match[str], words: Lexicon) -> str:
    unit, small = words.currencies[match["unit"]]
    number, until, each = match["number"], match["until"], _each(match, words)
    if match["scale"]:
        scale = words.scales[match["scale"]]
        ends = f"{words.say(number)} {words.to} {words.say(until)}" if until else words.say(number)
        return f"{ends} {scale} {unit[1]}{each}"
    if until:
        return f"{words.say(number)} {words.to} {words.say(until)} {unit[1]}{each}"
    whole, _, hundredths = number.rpartition(words.point) if words.point in number else (number, "", "")
    if small is None or len(hundredths) != 2:
        return f"{words.say(number)} {_counted(unit, number)}{each}"
    whole = whole or "0"
    amount = f"{words.say(whole)} {_counted(unit, whole)}"
    if not int(hundredths):
        return f"{amount}{each}"
    part, cents = words.say(str(int(hundredths))), _counted(small, str(int(hundredths)))
    if not whole.strip("0"):
        return f"{part} {cents}{each}"
    return words.money.format(whole=amount, part=part, small=cents) + each


def _measure(match: re.Match[str], words: Lexicon) -> str:
    number, unit = match["number"], words.units[match["unit"]]
    if match["join"] == "-":  # a 5-km run
        return f"{words.say(number)}-{unit[0]}"
    name = _counted(unit, number)
    if match["power"]:
        name = _powered(words.powers[match["power"][1:]], name)
    return f"{words.say(number)} {name}{_each(match, words)}"


def _each(match: re.Match[str], words: Lexicon) -> str:
    """ "per second", or nothing."""
    if not match["each"]:
        return ""
    name = words.units.get(match["each"], (match["each"],))[0]
    powers = words.per_power or words.powers
    return f" {words.per} " + (_powered(powers[match["square"][1:]], name) if match["square"] else name)


def _powered(template: str, name: str) -> str:
    """A unit that becomes part of a longer word is written small."""
    return template.format(name.lower() if template[:1].isupper() else name)


def _counted(noun: Noun, number: str) -> str:
    return noun[0] if number == "1" else noun[1]
