"""Clock arithmetic: hours and minutes after or before a time of day, each step said in the reply.

Times are "3 pm" or "3:40 pm". Every case is computed.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from predtui.lab.training.corpus.types import Case, Intent, Phrases


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


def _phrases(later: bool) -> Phrases:
    where, moved = ("after", "{after|from|past}") if later else ("before", "before")
    later_on = "later" if later else "earlier"
    return Phrases(
        noun=(
            f"the time <span> {moved} <time>",
            f"<span> {where} <time>",
            f"the time when it is <span> {where} <time>",
            f"the time that is <span> {moved} <time>",
            f"<time> {'plus' if later else 'minus'} <span>",
            f"the clock time <span> {where} <time>",
            f"the time <span> {later_on} than <time>",
            f"the hour <span> {where} <time>",
            f"<time> and <span> {later_on}",
            f"the time on the clock <span> {where} <time>",
        ),
        question=(
            f"what time is it <span> {moved} <time>",
            f"what time is <span> {moved} <time>",
            f"what time {'will it be' if later else 'was it'} <span> {moved} <time>",
            f"what is <span> {moved} <time>",
            f"if it is <time> what time is it <span> {later_on}",
            f"if it is <time> now what time {'will it be in <span>' if later else 'was it <span> ago'}",
            f"starting at <time> what is <span> {later_on}",
            f"at what time is it <span> {moved} <time>",
            f"when is it <span> {moved} <time>",
            f"<span> {where} <time> is what time",
            f"it is <time> so what time is <span> {later_on}",
            f"{{what|which}} time {{do I see|is shown|can I read}} on the {{clock|watch|phone}} <span> {where} <time>",
            "{what|which} time {do I get|is it|comes out} if I {move|turn|set|put} the clock "
            f"{'{on|forward}' if later else '{back|backward}'} by <span> from <time>",
            f"what does the clock {{say|show}} <span> {where} <time>",
            f"what time do we have <span> {where} <time>",
            "it is <time> now so what time {comes|is it} in <span>"
            if later
            else "it is <time> now so what time was it <span> ago",
            "if I start at <time> and wait <span> what time is it"
            if later
            else "if I arrive at <time> after <span> on the road when did I leave",
            "the clock shows <time>, what will it show <span> later"
            if later
            else "the clock shows <time>, what did it show <span> earlier",
            "<time> plus <span> is what time" if later else "<time> minus <span> is what time",
            f"what time is <span> {later_on} than <time>",
            "counting <span> on from <time> what time is it"
            if later
            else "counting <span> back from <time> what time is it",
            "something starts at <time> and takes <span>, when is it over"
            if later
            else "something ends at <time> and takes <span>, when does it start",
        ),
        clause=(
            f"what time it is <span> {moved} <time>",
            f"what time is <span> {moved} <time>",
            f"when it is <span> {moved} <time>",
            f"what time <span> {where} <time> is",
            f"what the time is <span> {where} <time>",
            f"what the clock shows <span> {where} <time>",
            f"what time we have <span> {where} <time>",
        ),
        command=(
            f"count <span> {'on' if later else 'back'} from <time>",
            f"count {'on' if later else 'back'} <span> from <time>",
            f"start at <time> and count {'on' if later else 'back'} <span>",
            f"go <span> {'forward' if later else 'back'} from <time>",
            f"{'add <span> to' if later else 'take <span> from'} <time>",
            f"work out <span> {where} <time>",
            f"find the time <span> {where} <time>",
            f"tell me the time <span> {where} <time>",
            f"give me the time <span> {where} <time>",
        ),
        followup=(
            f"and <span> {where} <time>",
            f"what about <span> {where} <time>",
            f"how about <span> {where} <time>",
            f"and <span> {moved} <time> then",
        ),
    )


INTENTS = tuple(
    intent
    for later, where in ((True, "after"), (False, "before"))
    for intent in (
        Intent(f"hours_{where}", _phrases(later), _draw_hours(later), 0.8, "clock"),
        Intent(f"minutes_{where}", _phrases(later), _draw_minutes(later), 0.8, "clock"),
    )
)
