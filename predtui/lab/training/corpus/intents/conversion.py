"""Unit conversions of whole numbers from 1 to 100: length, mass, volume, temperature, speed and time.

A number is converted as its tens and its ones: "73 miles is 112.7 plus 4.8, which makes about 117.5 kilometers."
A figure said with "about" is within one unit of its last decimal place of the true value; all others are exact.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from predtui.lab.training.corpus.read import Row, keys, phrases, rows
from predtui.lab.training.corpus.types import Case, Intent


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit: its plural, its singular, and other names people use in a prompt."""

    many: str
    one: str
    also: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class UnitPair:
    """``factor`` targets are one source; rounded to ``decimals`` places, or exact where that is None."""

    source: Unit
    target: Unit
    factor: Decimal
    decimals: int | None = None


def _unit(row: Row) -> Unit:
    return Unit(row["many"], row["one"], keys(row["also"]))


_UNITS = {row["many"]: _unit(row) for row in rows("facts/units")}
_CELSIUS, _FAHRENHEIT = _UNITS["degrees Celsius"], _UNITS["degrees Fahrenheit"]


def _pairs() -> Iterator[UnitPair]:
    """The rounded ones, the same the other way round, and those that are exact."""
    table = [
        (_UNITS[row["source"]], _UNITS[row["target"]], Decimal(row["factor"]), row) for row in rows("facts/conversions")
    ]
    rounded = [one for one in table if one[3]["decimals"]]
    yield from (UnitPair(a, b, factor, int(row["decimals"])) for a, b, factor, row in rounded)
    yield from (UnitPair(b, a, 1 / factor, int(row["decimals_back"])) for a, b, factor, row in rounded)
    yield from (UnitPair(a, b, factor) for a, b, factor, row in table if not row["decimals"])


PAIRS = tuple(_pairs())


def _plain(value: Decimal) -> str:
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _rounded(value: Decimal, decimals: int) -> Decimal:
    return value.quantize(Decimal(1).scaleb(-decimals), rounding=ROUND_HALF_UP)


def _named(number: str, unit: Unit) -> str:
    return f"{number} {unit.one if number == '1' else unit.many}"


def _answer(number: int, pair: UnitPair, worked: str, result: Decimal, about: bool) -> Case:
    amount = _named(str(number), pair.source)
    said = ("about " if about else "") + _named(_plain(result), pair.target)
    slots = {"n": str(number), "amount": amount, "source": pair.source.many, "target": pair.target.many}
    reply = f"{amount} is {worked}, which makes {said}." if worked else f"{amount} is {said}."
    return Case(slots, reply, key=(said.removeprefix("about "),), short=f"It is {said}.")


def convert(number: int, pair: UnitPair) -> Case:
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


_ASKED = phrases("conversion")["conversion"]


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


def _intent(pair: UnitPair) -> Intent:
    def draw(rng: random.Random) -> Case:
        return _reworded(convert(_draw_number(rng), pair), pair.source, pair.target, rng)

    name = f"convert {pair.source.many} to {pair.target.many}".replace(" ", "_")
    return Intent(name, _ASKED, draw, weight=0.1 if pair.decimals is None else 0.34, group="conversion")


def _draw_fahrenheit(rng: random.Random) -> Case:
    return _reworded(to_fahrenheit(_draw_number(rng)), _CELSIUS, _FAHRENHEIT, rng)


def _draw_celsius(rng: random.Random) -> Case:
    return _reworded(to_celsius(_draw_number(rng)), _FAHRENHEIT, _CELSIUS, rng)


INTENTS = (
    *(_intent(pair) for pair in PAIRS),
    Intent("convert_celsius_to_fahrenheit", _ASKED, _draw_fahrenheit, weight=0.6, group="conversion"),
    Intent("convert_fahrenheit_to_celsius", _ASKED, _draw_celsius, weight=0.6, group="conversion"),
)
