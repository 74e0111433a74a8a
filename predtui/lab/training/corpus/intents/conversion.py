"""Unit conversions of whole numbers from 1 to 100: length, mass, volume, temperature, speed and time.

A number is converted as its tens and its ones: "73 miles is 112.7 plus 4.8, which makes about 117.5 kilometers."
A figure said with "about" is within one unit of its last decimal place of the true value; all others are exact.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from predtui.lab.training.corpus.types import Case, Intent, Phrases


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit: its plural, its singular, and other names people use in a prompt."""

    many: str
    one: str
    also: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Pair:
    """``factor`` targets are one source; rounded to ``decimals`` places, or exact where that is None."""

    source: Unit
    target: Unit
    factor: Decimal
    decimals: int | None = None


_INCH = Unit("inches", "inch")
_CM = Unit("centimeters", "centimeter", ("centimetres", "cm"))
_FOOT = Unit("feet", "foot")
_METER = Unit("meters", "meter", ("metres",))
_YARD = Unit("yards", "yard")
_MILE = Unit("miles", "mile")
_KM = Unit("kilometers", "kilometer", ("kilometres", "km"))
_MM = Unit("millimeters", "millimeter", ("millimetres", "mm"))
_POUND = Unit("pounds", "pound", ("lbs",))
_KG = Unit("kilograms", "kilogram", ("kilos", "kg"))
_OUNCE = Unit("ounces", "ounce")
_GRAM = Unit("grams", "gram")
_STONE = Unit("stone", "stone")
_GALLON = Unit("gallons", "gallon")
_LITER = Unit("liters", "liter", ("litres",))
_CUP = Unit("cups", "cup")
_ML = Unit("milliliters", "milliliter", ("millilitres", "ml"))
_PINT = Unit("pints", "pint")
_MPH = Unit("miles per hour", "mile per hour", ("mph", "miles an hour"))
_KMH = Unit("kilometers per hour", "kilometer per hour", ("kilometres per hour", "km per hour", "kilometers an hour"))
_HOUR = Unit("hours", "hour")
_MINUTE = Unit("minutes", "minute")
_SECOND = Unit("seconds", "second")
_DAY = Unit("days", "day")
_WEEK = Unit("weeks", "week")
_YEAR = Unit("years", "year")
_MONTH = Unit("months", "month")
_DOZEN = Unit("dozen", "dozen")
_PIECE = Unit("pieces", "piece", ("items",))
_CELSIUS = Unit("degrees Celsius", "degree Celsius", ("Celsius", "degrees C", "degrees centigrade"))
_FAHRENHEIT = Unit("degrees Fahrenheit", "degree Fahrenheit", ("Fahrenheit", "degrees F"))

_BOTH_WAYS = (
    (_INCH, _CM, "2.54", 1, 1),
    (_FOOT, _METER, "0.3048", 1, 1),
    (_YARD, _METER, "0.9144", 1, 1),
    (_MILE, _KM, "1.609344", 1, 1),
    (_POUND, _KG, "0.45359237", 1, 1),
    (_OUNCE, _GRAM, "28.349523125", 0, 2),
    (_STONE, _KG, "6.35029318", 1, 1),
    (_GALLON, _LITER, "3.785411784", 1, 1),
    (_CUP, _ML, "236.5882365", 0, 2),
    (_PINT, _LITER, "0.473176473", 1, 1),
    (_MPH, _KMH, "1.609344", 1, 1),
)
_EXACT = (
    (_METER, _CM, "100"),
    (_CM, _METER, "0.01"),
    (_KM, _METER, "1000"),
    (_CM, _MM, "10"),
    (_MM, _CM, "0.1"),
    (_KG, _GRAM, "1000"),
    (_LITER, _ML, "1000"),
    (_FOOT, _INCH, "12"),
    (_YARD, _FOOT, "3"),
    (_POUND, _OUNCE, "16"),
    (_HOUR, _MINUTE, "60"),
    (_MINUTE, _SECOND, "60"),
    (_DAY, _HOUR, "24"),
    (_WEEK, _DAY, "7"),
    (_YEAR, _MONTH, "12"),
    (_DOZEN, _PIECE, "12"),
)
PAIRS = (
    *(Pair(a, b, Decimal(factor), there) for a, b, factor, there, _ in _BOTH_WAYS),
    *(Pair(b, a, 1 / Decimal(factor), back) for a, b, factor, _, back in _BOTH_WAYS),
    *(Pair(a, b, Decimal(factor)) for a, b, factor in _EXACT),
)


def _plain(value: Decimal) -> str:
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _rounded(value: Decimal, decimals: int) -> Decimal:
    return value.quantize(Decimal(1).scaleb(-decimals), rounding=ROUND_HALF_UP)


def _named(number: str, unit: Unit) -> str:
    return f"{number} {unit.one if number == '1' else unit.many}"


def _answer(number: int, pair: Pair, worked: str, result: Decimal, about: bool) -> Case:
    amount = _named(str(number), pair.source)
    said = ("about " if about else "") + _named(_plain(result), pair.target)
    slots = {"n": str(number), "amount": amount, "source": pair.source.many, "target": pair.target.many}
    reply = f"{amount} is {worked}, which makes {said}." if worked else f"{amount} is {said}."
    return Case(slots, reply, key=(said.removeprefix("about "),), short=f"It is {said}.")


def convert(number: int, pair: Pair) -> Case:
    """``number`` (1 to 100) of the source unit in the target unit."""
    tens, ones = number - number % 10, number % 10

    def said(value: int) -> Decimal:
        exact = value * pair.factor
        return exact if pair.decimals is None else _rounded(exact, pair.decimals)

    whole_steps = pair.factor in (10, 100, 1000, Decimal("0.1"), Decimal("0.01"))
    if not tens or not ones or whole_steps:
        return _answer(number, pair, "", said(number), pair.decimals is not None)
    parts = said(tens), said(ones)
    return _answer(
        number, pair, f"{_plain(parts[0])} plus {_plain(parts[1])}", parts[0] + parts[1], pair.decimals is not None
    )


def _temperature(number: int, source: Unit, target: Unit, worked: str, result: Decimal, about: bool) -> Case:
    amount = _named(str(number), source)
    figure = ("minus " if result < 0 else "") + _plain(abs(result))
    said = ("about " if about else "") + _named(figure, target)
    slots = {"n": str(number), "amount": amount, "source": source.many, "target": target.many}
    return Case(
        slots,
        f"{amount} is {worked}, which makes {said}.",
        key=(_named(figure, target),),
        short=f"It is {said}.",
    )


def to_fahrenheit(number: int) -> Case:
    """``number`` degrees Celsius in Fahrenheit, exact."""
    scaled = number * Decimal("1.8")
    return _temperature(number, _CELSIUS, _FAHRENHEIT, f"{_plain(scaled)} plus 32", scaled + 32, about=False)


def to_celsius(number: int) -> Case:
    """``number`` degrees Fahrenheit in Celsius, rounded to one decimal."""
    exact = Decimal(number - 32) / Decimal("1.8")
    result = _rounded(exact, 1)
    above = ("minus " if number < 32 else "") + str(abs(number - 32))
    return _temperature(number, _FAHRENHEIT, _CELSIUS, f"{above} divided by 1.8", result, about=result != exact)


_PHRASES = Phrases(
    noun=(
        "<amount> in <target>",
        "<amount> to <target>",
        "<amount> converted {to|into} <target>",
        "<amount> {expressed|measured|written} in <target>",
        "<amount> as <target>",
        "the {number|amount} of <target> in <amount>",
        "the equivalent of <amount> in <target>",
        "the conversion of <amount> {to|into} <target>",
        "the value of <amount> in <target>",
        "<amount> if measured in <target>",
        "the number of <target> that <amount> {make|makes}",
        "the same as <amount> in <target>",
        "<amount> turned into <target>",
    ),
    question=(
        "how many <target> {is|are} <amount>",
        "how many <target> {are|are there} in <amount>",
        "how many <target> {make|make up} <amount>",
        "how many <target> do <amount> make",
        "how many <target> does <amount> come to",
        "how many <target> equal <amount>",
        "<amount> {is|are|equals} how many <target>",
        "how much {is|are} <amount> in <target>",
        "what {is|are} <amount> in <target>",
        "what would <amount> be in <target>",
        "what does <amount> come to in <target>",
        "if I have <amount> how many <target> is that",
        "in <target> how much is <amount>",
        "how many <target> would <amount> be",
        "how many <target> do I get from <amount>[ then]",
        "how many <target> correspond to <amount>",
        "what is the equivalent of <amount> in <target>",
        "<amount> is the same as how many <target>",
        "what do I get if I convert <amount> {to|into} <target>",
        "in <target>, what would <amount> be",
        "<amount> corresponds to how many <target>",
        "what number of <target> is <amount>",
        "I measured <amount>, how many <target> is that",
        "it says <amount> here, what is that in <target>",
        "if something is <amount>, what is it in <target>",
    ),
    clause=(
        "how many <target> {are in|are|make} <amount>",
        "how much <amount> is in <target>",
        "what <amount> {is|are|makes} in <target>",
        "how many <target> there are in <amount>",
        "how many <target> <amount> {is|are}",
        "what <amount> comes to in <target>",
        "what <amount> would be in <target>",
    ),
    command=(
        "convert <amount> {to|into} <target>",
        "change <amount> {to|into} <target>",
        "turn <amount> into <target>",
        "express <amount> in <target>",
        "<amount> expressed as <target>",
        "how do I express <amount> in <target>",
        "please express <amount> as <target>",
        "give <amount> in <target>",
        "calculate <amount> in <target>",
        "work out <amount> in <target>",
        "translate <amount> {to|into} <target>",
        "rewrite <amount> {in|as} <target>",
        "switch <amount> {into|to} <target>",
        "tell me how many <target> <amount> {are|is}",
        "figure out <amount> in <target>",
        "[just ]put <amount> into <target>",
    ),
    followup=(
        "and <amount>",
        "what about <amount>",
        "how about <amount>",
        "and for <amount>",
        "and <amount> in <target>",
        "what about <n>",
        "and <n>",
        "and what if it is <amount>",
        "now <amount>",
        "then <amount>",
        "the same for <amount>",
        "how much is <amount> then",
    ),
)


def _reworded(case: Case, source: Unit, target: Unit, rng: random.Random) -> Case:
    """The case with the other names of its units in the question, now and then."""
    slots = dict(case.slots)
    if source.also and rng.random() < 0.2:
        slots["amount"] = f"{slots['n']} {rng.choice(source.also)}"
    if target.also and rng.random() < 0.2:
        slots["target"] = rng.choice(target.also)
    return Case(slots, case.reply, case.key, case.short)


def _draw_number(rng: random.Random) -> int:
    """1 to 100; small and round numbers more often, as people ask for them."""
    at = rng.random()
    if at < 0.3:
        return rng.randint(1, 12)
    return 10 * rng.randint(1, 10) if at < 0.4 else rng.randint(1, 100)


def _intent(pair: Pair) -> Intent:
    def draw(rng: random.Random) -> Case:
        return _reworded(convert(_draw_number(rng), pair), pair.source, pair.target, rng)

    name = f"convert {pair.source.many} to {pair.target.many}".replace(" ", "_")
    return Intent(name, _PHRASES, draw, weight=0.1 if pair.decimals is None else 0.34, group="conversion")


def _draw_fahrenheit(rng: random.Random) -> Case:
    return _reworded(to_fahrenheit(_draw_number(rng)), _CELSIUS, _FAHRENHEIT, rng)


def _draw_celsius(rng: random.Random) -> Case:
    return _reworded(to_celsius(_draw_number(rng)), _FAHRENHEIT, _CELSIUS, rng)


INTENTS = (
    *(_intent(pair) for pair in PAIRS),
    Intent("convert_celsius_to_fahrenheit", _PHRASES, _draw_fahrenheit, weight=0.6, group="conversion"),
    Intent("convert_fahrenheit_to_celsius", _PHRASES, _draw_celsius, weight=0.6, group="conversion"),
)
