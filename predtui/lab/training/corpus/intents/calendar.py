"""Days, months and clock arithmetic, each step of the counting said in the reply.

Every case is computed; the tables hold only the names. Years are taken without leap days unless said otherwise.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from predtui.lab.training.corpus.read import phrases, rows
from predtui.lab.training.corpus.types import Case, Intent

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
_LENGTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_ORDINALS = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
    "twelfth",
)  # fmt: skip
_SEASONS = ("winter", "spring", "summer", "autumn")


def _count(number: int, unit: str) -> str:
    return f"{number} {unit}" + ("" if number == 1 else "s")


def days_from(day: int, number: int, later: bool) -> Case:
    """The weekday ``number`` (1 to 30) days after or before day ``day`` (0 is Monday)."""
    step, where = (1, "after") if later else (-1, "before")
    span = _count(number, "day")
    start = DAYS[day]
    weeks, rest = divmod(number, 7)
    walk = [DAYS[(day + step * i) % 7] for i in range(1, rest + 1)]
    end = DAYS[(day + step * number) % 7]
    parts = [_count(weeks, "week")] * bool(weeks) + [_count(rest, "day")] * bool(rest)
    way = f"{' and '.join(parts)} {'on' if later else 'back'}"
    reply = f"{span} {where} {start} is {way}"
    reply += f": {', '.join(walk)}. So it is {end}." if walk else f", so it is {end} again."
    return Case({"span": span, "n": str(number), "day": start}, reply, (end,), f"It is {end}.")


def next_day(day: int, later: bool) -> Case:
    """The weekday after or before day ``day`` (0 is Monday)."""
    end, where = DAYS[(day + (1 if later else -1)) % 7], "after" if later else "before"
    return Case({"day": DAYS[day]}, f"The day {where} {DAYS[day]} is {end}.", (end,))


def next_month(month: int, later: bool) -> Case:
    """The month after or before month ``month`` (0 is January)."""
    end, where = MONTHS[(month + (1 if later else -1)) % 12], "after" if later else "before"
    return Case({"month": MONTHS[month]}, f"The month {where} {MONTHS[month]} is {end}.", (end,))


def months_from(month: int, number: int, later: bool) -> Case:
    """The month ``number`` (1 to 24) months after or before month ``month`` (0 is January)."""
    where, operator = ("after", "plus") if later else ("before", "minus")
    start, place = MONTHS[month], month + 1
    goal = place + number if later else place - number
    end = MONTHS[(goal - 1) % 12]
    steps = f"{start} is month {place}"
    if later:
        steps += f", and {place} plus {number} is {goal}"
    else:
        while place <= number:
            steps += f", and {place} plus 12 is {place + 12}"
            place += 12
        steps += f", and {place} minus {number} is {place - number}"
        goal = place - number
    while goal > 12:
        steps += f", and {goal} minus 12 is {goal - 12}"
        goal -= 12
    span = _count(number, "month")
    reply = f"{span} {where} {start} means {operator} {number}. {steps}, so it is {end}."
    return Case({"span": span, "n": str(number), "month": start}, reply, (end,), f"It is {end}.")


def month_length(month: int) -> Case:
    """How many days month ``month`` (0 is January) has."""
    days, name = _LENGTHS[month], MONTHS[month]
    leap = ", and 29 in a leap year" if days == 28 else ""
    return Case({"month": name}, f"{name} has {days} days{leap}.", (f"{days} days",))


def month_number(month: int) -> Case:
    """Which number month ``month`` (0 is January) has."""
    name = MONTHS[month]
    return Case({"month": name}, f"{name} is month number {month + 1}.", (f"month number {month + 1}",))


def numbered_month(month: int) -> Case:
    """Which month has the number of month ``month`` (0 is January)."""
    ordinal, name = _ORDINALS[month], MONTHS[month]
    slots = {"n": str(month + 1), "ordinal": ordinal}
    return Case(slots, f"The {ordinal} month of the year is {name}.", (name,))


def season(month: int) -> Case:
    """The season of month ``month`` (0 is January) in the northern half of the world."""
    name, found = MONTHS[month], _SEASONS[(month + 1) % 12 // 3]
    return Case({"month": name}, f"{name} is in {found} in the northern half of the world.", (found,))


def time_units(row: int) -> Case:
    """How many of one unit of time another one has; ``row`` counts in the table."""
    unit = rows("facts/time_units")[row]
    parts, whole, number = unit["parts"], unit["whole"], unit["number"]
    slots = {"parts": parts, "whole": whole}
    return Case(slots, f"{whole[0].upper()}{whole[1:]} has {number} {parts}.", (f"{number} {parts}",))


def _beside(make: Callable[[int, bool], Case], size: int, later: bool) -> Callable[[random.Random], Case]:
    return lambda rng: make(rng.randrange(size), later)


def _days(later: bool) -> Callable[[random.Random], Case]:
    return lambda rng: days_from(rng.randrange(7), rng.randint(2, 30), later)


def _months(later: bool) -> Callable[[random.Random], Case]:
    return lambda rng: months_from(rng.randrange(12), rng.randint(2, 24), later)


_OF_DAYS, _OF_MONTHS = phrases("calendar", unit="day"), phrases("calendar", unit="month")


def _intents(later: bool) -> tuple[Intent, ...]:
    """The four intents that go one way in time."""
    where, one, some = ("after", "next", "later") if later else ("before", "previous", "earlier")
    day, month = (_beside(next_day, 7, later), _beside(next_month, 12, later))
    return (
        Intent(f"day_{where}", _OF_DAYS[one], day, 0.15, "calendar"),
        Intent(f"days_{where}", _OF_DAYS[some], _days(later), 0.9, "calendar"),
        Intent(f"month_{where}", _OF_MONTHS[one], month, 0.15, "calendar"),
        Intent(f"months_{where}", _OF_MONTHS[some], _months(later), 0.6, "calendar"),
    )


def _intent(name: str, make: Callable[[int], Case], size: int, weight: float = 0.2) -> Intent:
    """An intent that draws one of ``size`` cases."""
    return Intent(name, _OF_MONTHS[name], lambda rng: make(rng.randrange(size)), weight, "calendar")


INTENTS = (
    *_intents(later=True),
    *_intents(later=False),
    _intent("month_length", month_length, 12),
    _intent("month_number", month_number, 12),
    _intent("numbered_month", numbered_month, 12),
    _intent("season", season, 12),
    _intent("time_units", time_units, len(rows("facts/time_units")), 0.25),
)
