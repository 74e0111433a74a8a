"""Clock arithmetic: hours and minutes after or before a time of day, each step said in the reply.

Times are "3 pm" or "3:40 pm". Every case is computed.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from predtui.lab.training.corpus.read import phrases
from predtui.lab.training.corpus.types import Case, Intent


def clock(minutes: int) -> str:
    """A time of day, given in minutes after midnight, as "3 pm" or "3:40 pm"."""
    hour, minute = divmod(minutes % 1440, 60)
    half = "am" if hour < 12 else "pm"
    return f"{hour % 12 or 12}:{minute:02d} {half}" if minute else f"{hour % 12 or 12} {half}"


def _count(number: int, unit: str) -> str:
    return f"{number} {unit}" + ("" if number == 1 else "s")


def _case(start: int, number: int, unit: str, later: bool, steps: str) -> Case:
    """``unit`` is "hour" or "minute"; ``steps`` end where the new time is said."""
    where = "after" if later else "before"
    moved = number * (60 if unit == "hour" else 1)
    end = clock(start + moved if later else start - moved)
    span, time = _count(number, unit), clock(start)
    reply = f"{span} {where} {time} means {steps}, so it is {end}."
    return Case({"span": span, "n": str(number), "time": time}, reply, (end,), f"It is {end}.")


def hours_from(hour: int, number: int, later: bool) -> Case:
    """The time ``number`` (1 to 11) hours after or before the full hour ``hour`` (0 to 23), by the 24-hour clock."""
    total = hour + number if later else hour - number
    if later:
        steps = f"{hour} plus {number}, which makes {total}"
        steps += f", and {total} minus 24 is {total - 24}" if total >= 24 else ""
    elif total >= 0:
        steps = f"{hour} minus {number}, which makes {total}"
    else:
        steps = f"{hour + 24} minus {number}, which makes {total + 24}"
    return _case(hour * 60, number, "hour", later, steps)


def minutes_from(start: int, number: int, later: bool) -> Case:
    """The time ``number`` (1 to 59) minutes after or before ``start`` (minutes after midnight)."""
    minute = start % 60
    total = minute + number if later else minute - number
    if later:
        steps = f"{minute} plus {number}, which makes {total}"
        steps += f", and {total} minus 60 is {total - 60}, one hour on" if total >= 60 else ""
    elif total >= 0:
        steps = f"{minute} minus {number}, which makes {total}"
    else:
        steps = f"{minute + 60} minus {number}, which makes {total + 60}, one hour back"
    return _case(start, number, "minute", later, steps)


def _draw_hours(later: bool) -> Callable[[random.Random], Case]:
    return lambda rng: hours_from(rng.randrange(24), rng.randint(1, 11), later)


def _draw_minutes(later: bool) -> Callable[[random.Random], Case]:
    return lambda rng: minutes_from(60 * rng.randrange(24) + 5 * rng.randrange(12), 5 * rng.randint(1, 11), later)


_ASKED = phrases("clock")
INTENTS = tuple(
    intent
    for later, where, asked in ((True, "after", _ASKED["later"]), (False, "before", _ASKED["earlier"]))
    for intent in (
        Intent(f"hours_{where}", asked, _draw_hours(later), 0.8, "clock"),
        Intent(f"minutes_{where}", asked, _draw_minutes(later), 0.8, "clock"),
    )
)
