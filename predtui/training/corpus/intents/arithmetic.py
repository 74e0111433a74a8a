"""Sums, differences, products and exact quotients of whole numbers.

Each reply restates the numbers, then works in tens and ones where a carry or a borrow would have to be made unseen:
"47 plus 38 is 70 plus 15, which makes 85." Nothing here is stored: every case is computed.
"""

from __future__ import annotations

import random

from predtui.training.corpus.types import Case, Intent, Phrases


def _signed(number: int) -> str:
    return f"minus {-number}" if number < 0 else str(number)


def _case(a: int, b: int, reply: str, result: int, operator: str) -> Case:
    answer = _signed(result)
    return Case({"a": str(a), "b": str(b)}, reply, key=(answer,), short=f"{a} {operator} {b} is {answer}.")


def _sum_worked(a: int, b: int) -> str:
    ones = a % 10 + b % 10
    tens = a + b - ones
    if ones < 10 or tens == 0:
        return f"{a + b}"
    return f"{tens} plus {ones}, which makes {a + b}"


def _difference_worked(a: int, b: int) -> str:
    """``a`` at least ``b``."""
    ones = a % 10 - b % 10
    tens = a - b - ones
    if ones >= 0 or a < 20:
        return f"{a - b}"
    return f"{tens} minus {-ones}, which makes {a - b}"


def add(a: int, b: int) -> Case:
    """``a`` plus ``b``."""
    return _case(a, b, f"{a} plus {b} is {_sum_worked(a, b)}.", a + b, "plus")


def subtract(a: int, b: int) -> Case:
    """``a`` minus ``b``; below zero by way of ``b`` minus ``a``."""
    if a >= b:
        return _case(a, b, f"{a} minus {b} is {_difference_worked(a, b)}.", a - b, "minus")
    worked = f"{b} minus {a} is {_difference_worked(b, a)}"
    return _case(a, b, f"{a} minus {b} is below zero. {worked}, so it is minus {b - a}.", a - b, "minus")


def multiply(a: int, b: int) -> Case:
    """``a`` times ``b``; a factor above 12 is split into ten and the rest."""
    small, large = sorted((a, b))
    if large <= 12 or large == 20 or small < 2:
        worked = f"{a * b}"
    else:
        worked = f"{small * 10} plus {small * (large - 10)}, which makes {a * b}"
    return _case(a, b, f"{a} times {b} is {worked}.", a * b, "times")


def divide(a: int, b: int) -> Case:
    """``a`` divided by ``b``, which must divide it."""
    return _case(a, b, f"{a} divided by {b} is {a // b}.", a // b, "divided by")


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


_SUM = Phrases(
    noun=(
        "<a> plus <b>",
        "<a> and <b>",
        "the sum of <a> and <b>",
        "the total of <a> and <b>",
        "<a> added to <b>",
        "<a> and <b> together",
        "<a> and <b> added {together|up}",
        "<a> + <b>",
        "the result of <a> plus <b>",
        "the answer to <a> plus <b>",
        "the result of adding <a> and <b>",
        "<b> more than <a>",
        "<a> with <b> added",
    ),
    question=(
        "how much is <a> plus <b>",
        "how much is <a> and <b>",
        "how much do <a> and <b> make",
        "what do you get when you add <a> and <b>",
        "what does <a> plus <b> {equal|make|give|come to}",
        "what do <a> and <b> {make|give|come to|add up to}",
        "<a> plus <b> {is what|equals what|makes what}",
        "if I have <a> and get <b> more how many do I have",
    ),
    clause=(
        "what <a> plus <b> {is|makes|equals}",
        "how much <a> plus <b> is",
        "how much <a> and <b> {is|make|are}",
        "what you get when you add <a> and <b>",
        "what <a> and <b> add up to",
    ),
    command=(
        "add <a> and <b>",
        "add <a> to <b>",
        "add up <a> and <b>",
        "add <a> plus <b>",
        "calculate <a> plus <b>",
        "work out <a> plus <b>",
        "compute the sum of <a> and <b>",
        "sum <a> and <b>",
        "figure out <a> plus <b>",
    ),
    followup=(
        "and <a> plus <b>",
        "what about <a> plus <b>",
        "what about <a> and <b>",
        "how about <a> and <b>",
        "how about <a> plus <b>",
        "and <a> and <b>",
        "then <a> plus <b>",
        "now <a> and <b>",
        "now <a> plus <b>",
        "and of <a> and <b>",
        "the same for <a> and <b>",
        "and if it is <a> and <b>",
    ),
)
_DIFFERENCE = Phrases(
    noun=(
        "<a> minus <b>",
        "<a> less <b>",
        "<a> take away <b>",
        "the difference of <a> and <b>",
        "<b> {subtracted|taken} from <a>",
        "<b> less than <a>",
        "<b> taken away from <a>",
        "<a> - <b>",
        "the result of <a> minus <b>",
        "the answer to <a> minus <b>",
        "the result of subtracting <b> from <a>",
        "<a> without <b>",
    ),
    question=(
        "how much is <a> minus <b>",
        "how much is <a> {take away|less} <b>",
        "what do you get when you take <b> from <a>",
        "what do you get when you subtract <b> from <a>",
        "what does <a> minus <b> {equal|make|give|come to}",
        "<a> minus <b> {is what|equals what|makes what}",
        "what {is left|remains} if I take <b> {away from|from|off} <a>",
        "what {is left|remains} of <a> after taking away <b>",
        "if I have <a> and give away <b> how many do I have",
    ),
    clause=(
        "what <a> minus <b> {is|makes|equals}",
        "how much <a> minus <b> is",
        "what {is left|remains} when you take <b> from <a>",
        "what you get when you subtract <b> from <a>",
        "what <a> take away <b> is",
    ),
    command=(
        "subtract <b> from <a>",
        "take <b> {away from|from|off} <a>",
        "deduct <b> from <a>",
        "calculate <a> minus <b>",
        "work out <a> minus <b>",
        "compute <a> minus <b>",
        "figure out <a> minus <b>",
        "compute the difference of <a> and <b>",
    ),
    followup=(
        "and <a> minus <b>",
        "what about <a> minus <b>",
        "how about <a> minus <b>",
        "how about <a> take away <b>",
        "then <a> minus <b>",
        "now <a> minus <b>",
        "now <b> from <a>",
        "and <b> from <a>",
        "and <a> less <b>",
        "what about <b> from <a>",
        "the same for <a> minus <b>",
    ),
)
_PRODUCT = Phrases(
    noun=(
        "<a> times <b>",
        "<a> multiplied by <b>",
        "the product of <a> and <b>",
        "<a> x <b>",
        "<a> * <b>",
        "the result of <a> times <b>",
        "the answer to <a> times <b>",
        "the result of multiplying <a> by <b>",
        "<a> lots of <b>",
        "<a> groups of <b>",
    ),
    question=(
        "how much is <a> times <b>",
        "how much is <a> multiplied by <b>",
        "what do you get when you multiply <a> {by|and|with} <b>",
        "what does <a> times <b> {equal|make|give|come to}",
        "<a> times <b> {is what|equals what|makes what}",
        "how many are <a> times <b>",
        "how much are <a> times <b>",
        "if I have <a> boxes of <b> how many is that",
        "how many is <a> sets of <b>",
    ),
    clause=(
        "what <a> times <b> {is|makes|equals}",
        "how much <a> times <b> is",
        "what you get when you multiply <a> by <b>",
        "how much <a> multiplied by <b> is",
        "what <a> multiplied by <b> {makes|is}",
    ),
    command=(
        "multiply <a> {by|with} <b>",
        "multiply <a> and <b>",
        "multiply <a> times <b>",
        "calculate <a> times <b>",
        "work out <a> times <b>",
        "compute <a> times <b>",
        "figure out <a> times <b>",
        "compute the product of <a> and <b>",
    ),
    followup=(
        "and <a> times <b>",
        "what about <a> times <b>",
        "how about <a> times <b>",
        "how about <a> multiplied by <b>",
        "then <a> times <b>",
        "now <a> times <b>",
        "and the product of <a> and <b>",
        "and <a> by <b>",
        "what about <a> multiplied by <b>",
        "the same for <a> times <b>",
    ),
)
_QUOTIENT = Phrases(
    noun=(
        "<a> divided by <b>",
        "<a> over <b>",
        "<a> / <b>",
        "the quotient of <a> and <b>",
        "the result of <a> divided by <b>",
        "the answer to <a> divided by <b>",
        "the result of dividing <a> by <b>",
        "<a> split by <b>",
        "<a> split {into|in} <b>",
    ),
    question=(
        "how much is <a> divided by <b>",
        "how much is <a> over <b>",
        "how many times does <b> {go|fit} into <a>",
        "how often does <b> {go|fit} into <a>",
        "what do you get when you divide <a> by <b>",
        "what does <a> divided by <b> {equal|make|give|come to}",
        "<a> divided by <b> {is what|equals what|makes what}",
        "how many does each get if I split <a> among <b>",
    ),
    clause=(
        "what <a> divided by <b> {is|makes|equals}",
        "how much <a> divided by <b> is",
        "how {often|many times} <b> goes into <a>",
        "what you get when you divide <a> by <b>",
    ),
    command=(
        "divide <a> by <b>",
        "split <a> by <b>",
        "calculate <a> divided by <b>",
        "work out <a> divided by <b>",
        "compute <a> divided by <b>",
        "figure out <a> divided by <b>",
    ),
    followup=(
        "and <a> divided by <b>",
        "what about <a> divided by <b>",
        "how about <a> divided by <b>",
        "how about <a> over <b>",
        "then <a> divided by <b>",
        "now <a> divided by <b>",
        "and <a> over <b>",
        "and <a> by <b>",
        "what about <a> over <b>",
        "the same for <a> divided by <b>",
    ),
)

INTENTS = (
    Intent("addition", _SUM, _draw_sum, weight=1.6, group="arithmetic"),
    Intent("subtraction", _DIFFERENCE, _draw_difference, weight=1.8, group="arithmetic"),
    Intent("multiplication", _PRODUCT, _draw_product, weight=1.0, group="arithmetic"),
    Intent("division", _QUOTIENT, _draw_quotient, weight=0.5, group="arithmetic"),
)
