"""Timers, alarms, reminders and lists: acknowledged in a reply that restates what was asked.

The pocket model only acknowledges; nothing is set or stored anywhere.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from predtui.lab.training.corpus.intents.clock import clock
from predtui.lab.training.corpus.intents.errands import task, thing
from predtui.lab.training.corpus.read import phrases
from predtui.lab.training.corpus.types import Case, Intent

_LISTS = (("shopping", thing), ("grocery", thing), ("to-do", task), ("packing", thing))
_COUNTED = (("second", 5, 90), ("minute", 1, 90), ("hour", 1, 12))


def _duration(rng: random.Random) -> str:
    unit, least, most = rng.choices(_COUNTED, (1, 5, 2))[0]
    number = rng.randint(least, most)
    return f"{number} {unit}" + ("" if number == 1 else "s")


def _time(rng: random.Random) -> str:
    return clock(rng.randrange(24) * 60 + (rng.randrange(12) * 5 if rng.random() < 0.5 else 0))


def timer(duration: str) -> Case:
    """A timer that runs for ``duration``."""
    return Case(
        {"span": duration}, f"Okay, I set a timer for {duration}.", (duration, "timer"), f"Timer set for {duration}."
    )


def alarm(time: str) -> Case:
    """An alarm at ``time``."""
    return Case({"time": time}, f"Okay, I set an alarm for {time}.", (time, "alarm"), f"Alarm set for {time}.")


def reminder(what: str, time: str) -> Case:
    """A reminder of ``what`` at ``time``."""
    reply = f"Okay, I will remind you to {what} at {time}."
    return Case({"task": what, "time": time}, reply, (what, time), f"Reminder set for {time}.")


def delayed_reminder(what: str, duration: str) -> Case:
    """A reminder of ``what`` after ``duration``."""
    reply = f"Okay, I will remind you to {what} in {duration}."
    return Case({"task": what, "span": duration}, reply, (what, duration), f"Reminder set in {duration}.")


def _on_list(done: str, preposition: str) -> Callable[[random.Random], Case]:
    """A draw of an entry, or of two, ``done`` to a list."""

    def draw(rng: random.Random) -> Case:
        name, errand = rng.choice(_LISTS)
        entry = errand(rng)
        if rng.random() < 0.15:
            entry = f"{entry} and {errand(rng)}"
        reply = f"Okay, I {done} {entry} {preposition} your {name} list."
        return Case({"entry": entry, "list": name}, reply, (entry, name), f"{done.capitalize()} {entry}.")

    return draw


def canceled(what: str) -> Case:
    """A timer, an alarm or a reminder called off."""
    return Case({"what": what}, f"Okay, I canceled the {what}.", (what,), "Canceled.")


def _draw_reminder(rng: random.Random) -> Case:
    return reminder(task(rng), _time(rng))


def _draw_delayed_reminder(rng: random.Random) -> Case:
    return delayed_reminder(task(rng), _duration(rng))


_ASKED = phrases("assistant", when="at <time>")
_ASKED_AHEAD = phrases("assistant", when="in <span>")
INTENTS = (
    Intent("timer", _ASKED["timer"], lambda rng: timer(_duration(rng)), 1.4, "assistant"),
    Intent("alarm", _ASKED["alarm"], lambda rng: alarm(_time(rng)), 1.2, "assistant"),
    Intent("reminder", _ASKED["reminder"], _draw_reminder, 2.2, "assistant"),
    Intent("delayed_reminder", _ASKED_AHEAD["reminder"], _draw_delayed_reminder, 1.6, "assistant"),
    Intent("list_add", _ASKED["list_add"], _on_list("added", "to"), 3.4, "assistant"),
    Intent("list_remove", _ASKED["list_remove"], _on_list("removed", "from"), 1.8, "assistant"),
    Intent(
        "cancel",
        _ASKED["cancel"],
        lambda rng: canceled(rng.choice(("timer", "alarm", "reminder", "countdown", "wake up call"))),
        0.5,
        "assistant",
    ),
)
