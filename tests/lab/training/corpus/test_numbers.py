"""Numbers, conversions, days, months and times in replies, checked by computing them in another way."""

from __future__ import annotations

import datetime as dt
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui.lab.training.corpus.intents.arithmetic import add, divide, multiply, subtract
from predtui.lab.training.corpus.intents.calendar import DAYS, MONTHS, days_from, month_length, months_from
from predtui.lab.training.corpus.intents.clock import clock, hours_from, minutes_from
from predtui.lab.training.corpus.intents.conversion import PAIRS, UnitPair, convert, to_celsius, to_fahrenheit
from predtui.lab.training.corpus.types import Case

HUNDRED = st.integers(0, 100)
LATER = st.booleans()

IN_BASE_UNITS = {
    "inches": 0.0254, "centimeters": 0.01, "feet": 0.3048, "meters": 1.0, "yards": 0.9144, "miles": 1609.344,
    "kilometers": 1000.0, "millimeters": 0.001, "pounds": 453.59237, "kilograms": 1000.0, "ounces": 28.349523125,
    "grams": 1.0, "stone": 6350.29318, "gallons": 3.785411784, "liters": 1.0, "cups": 0.2365882365,
    "milliliters": 0.001, "pints": 0.473176473, "miles per hour": 1.609344, "kilometers per hour": 1.0,
    "hours": 3600.0, "minutes": 60.0, "seconds": 1.0, "days": 86400.0, "weeks": 604800.0, "years": 12.0,
    "months": 1.0, "dozen": 12.0, "pieces": 1.0,
}  # fmt: skip


def stated(case: Case) -> float:
    """The figure of the key, "minus" read as a sign."""
    found = re.match(r"(minus )?(\d+(?:\.\d+)?)", case.key[0])
    assert found is not None
    return float(found[2]) * (-1 if found[1] else 1)


def steps_hold(reply: str) -> bool:
    """Every "x plus y is|which makes z" in the reply is true, to the last decimal."""
    signs = {"plus": 1, "minus": -1}
    pattern = r"([\d.]+) (plus|minus) ([\d.]+)(?:, which makes(?: about)?| is) "
    pattern += r"(\d+(?:\.\d+)?)(?![.\d]*\d| (?:plus|minus|times))"
    return all(abs(float(a) + signs[sign] * float(b) - float(c)) < 1e-9 for a, sign, b, c in re.findall(pattern, reply))


@given(HUNDRED, HUNDRED)
def test_sums_and_differences(a: int, b: int) -> None:
    assert stated(add(a, b)) == a + b
    assert stated(subtract(a, b)) == a - b
    assert steps_hold(add(a, b).reply)
    assert steps_hold(subtract(a, b).reply)


@given(st.integers(0, 12), st.integers(0, 20))
def test_products_and_quotients(a: int, b: int) -> None:
    assert stated(multiply(a, b)) == stated(multiply(b, a)) == a * b
    assert steps_hold(multiply(a, b).reply)
    assert stated(divide(a * (b + 1), b + 1)) == a


def test_a_carry_is_worked_and_the_rest_is_direct() -> None:
    assert add(47, 38).reply == "47 plus 38 is 70 plus 15, which makes 85."
    assert add(42, 36).reply == "42 plus 36 is 70 plus 8, which makes 78."
    assert subtract(83, 47).reply == "83 minus 47 is 40 minus 4, which makes 36."
    assert (
        subtract(38, 83).reply
        == "38 minus 83 is below zero. 83 minus 38 is 50 minus 5, which makes 45, so it is minus 45."
    )
    assert multiply(14, 7).reply == "14 times 7 is 70 plus 28, which makes 98."


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: f"{pair.source.many} to {pair.target.many}")
def test_conversions_are_right_to_the_last_decimal_said(pair: UnitPair) -> None:
    for number in range(1, 101):
        case = convert(number, pair)
        true = number * IN_BASE_UNITS[pair.source.many] / IN_BASE_UNITS[pair.target.many]
        tolerance = 10.0**-pair.decimals if pair.decimals is not None else 1e-9 * true
        assert abs(stated(case) - true) <= tolerance, case.reply
        assert ("about" in case.reply) == (pair.decimals is not None)
        assert steps_hold(case.reply), case.reply
        assert case.reply.startswith(f"{number} ")


def test_temperatures() -> None:
    for number in range(1, 101):
        assert abs(stated(to_fahrenheit(number)) - (number * 9 / 5 + 32)) < 1e-9
        assert abs(stated(to_celsius(number)) - (number - 32) * 5 / 9) <= 0.05 + 1e-9
    assert to_celsius(20).key == ("minus 6.7 degrees Celsius",)
    assert to_celsius(50).reply == "50 degrees Fahrenheit is 18 divided by 1.8, which makes 10 degrees Celsius."


@given(st.integers(0, 6), st.integers(1, 30), LATER)
def test_days_agree_with_the_calendar(day: int, number: int, later: bool) -> None:
    monday = dt.date(2024, 1, 1)
    end = monday + dt.timedelta(days=day + (number if later else -number))
    case = days_from(day, number, later)
    assert case.key == (DAYS[end.weekday()],)
    named = [word for word in re.findall(r"\w+", case.reply) if word in DAYS]
    assert named[0] == DAYS[day]
    assert named[-1] == DAYS[end.weekday()]


@given(st.integers(0, 11), st.integers(1, 24), LATER)
def test_months_are_counted_on_and_back(month: int, number: int, later: bool) -> None:
    case = months_from(month, number, later)
    assert case.key == (MONTHS[(month + (number if later else -number)) % 12],)
    assert steps_hold(case.reply)
    assert all(int(n) > 0 for n in re.findall(r"\d+", case.reply))


def test_months_are_as_long_as_the_calendar_says() -> None:
    for month in range(12):
        days = (dt.date(2023 + (month == 11), (month + 1) % 12 + 1, 1) - dt.timedelta(days=1)).day
        assert month_length(month).key == (f"{days} days",)


def said_time(moment: dt.datetime) -> str:
    return moment.strftime("%I:%M %p").lstrip("0").replace(":00", "").lower()


@given(st.integers(0, 1439))
def test_times_of_day_are_said_as_usual(minute: int) -> None:
    assert clock(minute) == said_time(dt.datetime(2024, 1, 1) + dt.timedelta(minutes=minute))


@given(st.integers(0, 23), st.integers(1, 11), LATER)
def test_hours_agree_with_the_clock(hour: int, number: int, later: bool) -> None:
    case = hours_from(hour, number, later)
    end = dt.datetime(2024, 1, 2, hour) + dt.timedelta(hours=number if later else -number)
    assert case.key == (said_time(end),)
    assert steps_hold(case.reply)
    last = re.findall(r"(?:is|makes) (\d+)", case.reply)[-1]
    assert last == case.key[0].split()[0].split(":")[0]


@given(st.integers(0, 1439), st.integers(1, 59), LATER)
def test_minutes_agree_with_the_clock(start: int, number: int, later: bool) -> None:
    case = minutes_from(start, number, later)
    end = dt.datetime(2024, 1, 2) + dt.timedelta(minutes=start + (number if later else -number))
    assert case.key == (said_time(end),)
    assert steps_hold(case.reply)
