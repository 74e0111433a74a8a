"""Sums, differences, products and exact quotients of whole numbers.

Each reply restates the numbers, then works in tens and ones where both have tens or a carry or a borrow would have to
be made unseen: "47 plus 38 is 70 plus 15, which makes 85." Nothing here is stored: every case is computed.
"""

from __future__ import annotations

import random

from predtui.lab.training.corpus.read import phrases
from predtui.lab.training.corpus.types import Case, Intent


def _signed(number: int) -> str:
    return f"minus {-number}" if number < 0 else str(number)


def _case(a: int, b: int, reply: str, result: int) -> Case:
    answer = _signed(result)
    return Case({"a": str(a), "b": str(b)}, reply, key=(answer,), short=f"It is {answer}.")


def _sum_worked(a: int, b: int) -> str:
    ones = a % 10 + b % 10
    tens = a + b - ones
    if tens == 0 or (ones < 10 and min(a, b) < 10) or ones == 0:
        return f"{a + b}"
    return f"{tens} plus {ones}, which makes {a + b}"


def _difference_worked(a: int, b: int) -> str:
    """``a`` at least ``b``."""
    ones = a % 10 - b % 10
    tens = a - b - ones
    if a < 20 or ones == 0 or (ones > 0 and (b < 10 or tens == 0)):
        return f"{a - b}"
    if ones > 0:
        return f"{tens} plus {ones}, which makes {a - b}"
    return f"{tens} minus {-ones}, which makes {a - b}"


def add(a: int, b: int) -> Case:
    """``a`` plus ``b``."""
    return _case(a, b, f"{a} plus {b} is {_sum_worked(a, b)}.", a + b)


def subtract(a: int, b: int) -> Case:
    """``a`` minus ``b``; below zero by way of ``b`` minus ``a``."""
    if a >= b:
        return _case(a, b, f"{a} minus {b} is {_difference_worked(a, b)}.", a - b)
    worked = f"{b} minus {a} is {_difference_worked(b, a)}"
    return _case(a, b, f"{a} minus {b} is below zero. {worked}, so it is minus {b - a}.", a - b)


def multiply(a: int, b: int) -> Case:
    """``a`` times ``b``; a factor above 12 is split into ten and the rest."""
    small, large = sorted((a, b))
    if large <= 12 or large == 20 or small < 2:
        worked = f"{a * b}"
    else:
        worked = f"{small * 10} plus {small * (large - 10)}, which makes {a * b}"
    return _case(a, b, f"{a} times {b} is {worked}.", a * b)


def divide(a: int, b: int) -> Case:
    """``a`` divided by ``b``, which must divide it."""
    return _case(a, b, f"{a} divided by {b} is {a // b}.", a // b)


def _draw_sum(rng: random.Random) -> Case:
    top = 20 if rng.random() < 0.2 else 100
    return add(rng.randint(0, top), rng.randint(0, top))


def _draw_difference(rng: random.Random) -> Case:
    top = 20 if rng.random() < 0.2 else 100
    low, high = sorted((rng.randint(0, top), rng.randint(0, top)))
    return subtract(low, high) if rng.random() < 0.12 else subtract(high, low)


def _draw_product(rng: random.Random) -> Case:
    a = rng.randint(0, 12)
    b = rng.randint(13, 20) if a and a <= 10 and rng.random() < 0.25 else rng.randint(0, 12)
    return multiply(a, b) if rng.random() < 0.5 else multiply(b, a)


def _draw_quotient(rng: random.Random) -> Case:
    b, result = rng.randint(1, 12), rng.randint(0, 12)
    return divide(b * result, b)


_ASKED = phrases("arithmetic")
INTENTS = (
    Intent("addition", _ASKED["addition"], _draw_sum, weight=2.8, group="arithmetic"),
    Intent("subtraction", _ASKED["subtraction"], _draw_difference, weight=3.0, group="arithmetic"),
    Intent("multiplication", _ASKED["multiplication"], _draw_product, weight=1.8, group="arithmetic"),
    Intent("division", _ASKED["division"], _draw_quotient, weight=0.8, group="arithmetic"),
)
