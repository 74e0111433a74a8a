"""Timers, alarms, reminders and lists: acknowledged in a reply that restates what was asked.

The pocket model only acknowledges; nothing is set or stored anywhere.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from predtui.training.corpus.intents.clock import clock
from predtui.training.corpus.intents.errands import TASKS, THINGS
from predtui.training.corpus.types import Case, Intent, Phrases

_LISTS = (("shopping", THINGS), ("grocery", THINGS), ("to-do", TASKS), ("packing", THINGS))
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


def reminder(task: str, time: str) -> Case:
    """A reminder of ``task`` at ``time``."""
    reply = f"Okay, I will remind you to {task} at {time}."
    return Case({"task": task, "time": time}, reply, (task, time), f"Reminder set for {time}.")


def delayed_reminder(task: str, duration: str) -> Case:
    """A reminder of ``task`` after ``duration``."""
    reply = f"Okay, I will remind you to {task} in {duration}."
    return Case({"task": task, "span": duration}, reply, (task, duration), f"Reminder set in {duration}.")


def listed(entry: str, name: str) -> Case:
    """``entry`` put on the list called ``name``."""
    reply = f"Okay, I added {entry} to your {name} list."
    return Case({"entry": entry, "list": name}, reply, (entry, name), f"Added {entry}.")


def struck(entry: str, name: str) -> Case:
    """``entry`` taken off the list called ``name``."""
    reply = f"Okay, I removed {entry} from your {name} list."
    return Case({"entry": entry, "list": name}, reply, (entry, name), f"Removed {entry}.")


def canceled(what: str) -> Case:
    """A timer, an alarm or a reminder called off."""
    return Case({"what": what}, f"Okay, I canceled the {what}.", (what,), "Canceled.")


def _draw_reminder(rng: random.Random) -> Case:
    return reminder(rng.choice(TASKS), _time(rng))


def _draw_delayed_reminder(rng: random.Random) -> Case:
    return delayed_reminder(rng.choice(TASKS), _duration(rng))


def _on_list(make: Callable[[str, str], Case]) -> Callable[[random.Random], Case]:
    def draw(rng: random.Random) -> Case:
        name, entries = rng.choice(_LISTS)
        entry = rng.choice(entries)
        return make(f"{entry} and {rng.choice(entries)}" if rng.random() < 0.15 else entry, name)

    return draw


_TIMER = Phrases(
    noun=("a timer for <span>", "a <span> timer", "a timer of <span>", "a new timer for <span>"),
    command=(
        "set a timer for <span>",
        "set a <span> timer",
        "set the timer {to|for} <span>",
        "set timer <span>",
        "start a timer for <span>",
        "start a <span> timer",
        "start the timer for <span>",
        "start a countdown of <span>",
        "create a timer for <span>",
        "make a timer for <span>",
        "make a <span> timer",
        "run a timer for <span>",
        "begin a timer {for|of} <span>",
        "put a timer on for <span>",
        "put <span> on the {timer|clock}",
        "time <span>[ for me]",
        "count down <span>",
        "count down from <span>",
        "give me a timer {for|of} <span>",
        "get a timer going for <span>",
        "add a timer for <span>",
        "set a new timer for <span>",
        "set a kitchen timer for <span>",
        "tell me when <span> {are over|are up|have passed}",
        "let me know when <span> have passed",
    ),
    question=("I need a timer for <span>", "timer for <span>", "timer <span>", "<span> timer"),
    followup=("and one for <span>", "make it <span>", "and another one for <span>", "change it to <span>"),
)
_ALARM = Phrases(
    noun=("an alarm for <time>", "an alarm at <time>", "a <time> alarm", "a wake up call at <time>"),
    command=(
        "set an alarm {for|at} <time>",
        "set a <time> alarm",
        "set the alarm {for|to|at} <time>",
        "set my alarm {for|to} <time>",
        "set alarm <time>",
        "create an alarm for <time>",
        "make an alarm for <time>",
        "add an alarm {for|at} <time>",
        "add a new alarm for <time>",
        "put an alarm {on|in} for <time>",
        "start an alarm at <time>",
        "schedule an alarm {for|at} <time>",
        "turn on the alarm for <time>",
        "give me an alarm {for|at} <time>",
        "wake me[ up] at <time>",
        "get me up at <time>",
        "ring {at|me at} <time>",
        "let the alarm ring at <time>",
        "have the alarm go off at <time>",
        "make sure I am awake at <time>",
        "sound the alarm at <time>",
    ),
    question=(
        "I need an alarm {for|at} <time>",
        "alarm for <time>",
        "alarm at <time>",
        "I have to get up at <time>",
        "I must wake up at <time>",
    ),
    followup=("and one for <time>", "make it <time>", "and another one at <time>", "change it to <time>"),
)


def _reminder_phrases(when: str) -> Phrases:
    return Phrases(
        noun=(f"a reminder to <task> {when}", f"a reminder {when} to <task>", f"a note to <task> {when}"),
        command=(
            f"remind me to <task> {when}",
            f"remind me {when} to <task>",
            f"{when} remind me to <task>",
            f"set a reminder to <task> {when}",
            f"set a reminder {when} to <task>",
            f"set me a reminder to <task> {when}",
            f"make a reminder to <task> {when}",
            f"make a note to <task> {when}",
            f"create a reminder to <task> {when}",
            f"create a reminder {when} to <task>",
            f"add a reminder to <task> {when}",
            f"add a reminder {when} to <task>",
            f"schedule a reminder to <task> {when}",
            f"put in a reminder to <task> {when}",
            f"leave me a reminder to <task> {when}",
            f"give me a reminder {when} to <task>",
            f"remember to tell me to <task> {when}",
            f"tell me to <task> {when}",
            f"don't let me forget to <task> {when}",
            f"make sure I <task> {when}",
            f"make sure that I don't forget to <task> {when}",
            f"note that I have to <task> {when}",
            f"help me remember to <task> {when}",
        ),
        question=(
            f"I have to <task> {when}",
            f"I need to remember to <task> {when}",
            f"I need a reminder to <task> {when}",
            f"I want to be reminded to <task> {when}",
            f"reminder to <task> {when}",
        ),
        followup=(f"and to <task> {when}", f"also to <task> {when}", f"and also to <task> {when}"),
    )


_LISTED = Phrases(
    command=(
        "add <entry> to {my|the} <list> list",
        "add <entry> to {my|the} list for <list>",
        "put <entry> on {my|the} <list> list",
        "put <entry> down on {my|the} <list> list",
        "put down <entry> on the <list> list",
        "write <entry> on {my|the} <list> list",
        "write down <entry> on {my|the} <list> list",
        "note <entry> on {my|the} <list> list",
        "place <entry> on the <list> list",
        "include <entry> {on|in} {my|the} <list> list",
        "enter <entry> {on|in} {my|the} <list> list",
        "jot down <entry> on the <list> list",
        "save <entry> to {my|the} <list> list",
        "append <entry> to {my|the} <list> list",
        "insert <entry> {into|in} {my|the} <list> list",
        "get <entry> on {my|the} <list> list",
        "have <entry> on {my|the} <list> list",
        "on {my|the} <list> list put <entry>",
        "to {my|the} <list> list add <entry>",
        "make an entry {for|of} <entry> on {my|the} <list> list",
        "extend {my|the} <list> list by <entry>",
        "list <entry> on {my|the} <list> list",
    ),
    question=(
        "{my|the} <list> list needs <entry>",
        "<entry> {goes|should go|must go} on {my|the} <list> list",
        "I need <entry> on {my|the} <list> list",
        "I want <entry> on {my|the} <list> list",
        "<entry> for the <list> list",
        "<entry> is missing on {my|the} <list> list",
    ),
    followup=(
        "and <entry> to the <list> list",
        "also <entry> on the <list> list",
        "and also <entry> to my <list> list",
        "and <entry> on my <list> list too",
    ),
)
_STRUCK = Phrases(
    command=(
        "remove <entry> from {my|the} <list> list",
        "take <entry> {off|from} {my|the} <list> list",
        "take <entry> out of {my|the} <list> list",
        "delete <entry> from {my|the} <list> list",
        "cross <entry> off {my|the} <list> list",
        "cross out <entry> on {my|the} <list> list",
        "check <entry> off {my|the} <list> list",
        "check off <entry> on {my|the} <list> list",
        "tick <entry> off {my|the} <list> list",
        "tick off <entry> on {my|the} <list> list",
        "strike <entry> {from|off} {my|the} <list> list",
        "drop <entry> from {my|the} <list> list",
        "erase <entry> from {my|the} <list> list",
        "clear <entry> from {my|the} <list> list",
        "get <entry> off {my|the} <list> list",
        "pull <entry> off {my|the} <list> list",
        "leave <entry> off {my|the} <list> list",
        "scratch <entry> from {my|the} <list> list",
        "from {my|the} <list> list remove <entry>",
        "mark <entry> as done on {my|the} <list> list",
    ),
    question=(
        "I don't need <entry> on {my|the} <list> list[ any more]",
        "I no longer need <entry> on {my|the} <list> list",
        "<entry> can come off {my|the} <list> list",
        "<entry> is done on {my|the} <list> list",
        "{my|the} <list> list no longer needs <entry>",
    ),
    followup=("and <entry> from the <list> list", "also <entry> from my <list> list"),
)
_CANCELED = Phrases(
    command=(
        "cancel {the|my|that} <what>",
        "stop {the|my|that} <what>",
        "turn off {the|my|that} <what>",
        "switch off {the|my|that} <what>",
        "delete {the|my|that} <what>",
        "remove {the|my|that} <what>",
        "clear {the|my|that} <what>",
        "end {the|my|that} <what>",
        "drop {the|my|that} <what>",
        "call off {the|my|that} <what>",
        "turn {the|my|that} <what> off",
        "switch {the|my|that} <what> off",
        "get rid of {the|my|that} <what>",
        "forget {the|my|that} <what>",
        "abort {the|my|that} <what>",
        "disable {the|my|that} <what>",
        "undo {the|my|that} <what>",
        "discard {the|my|that} <what>",
        "scrap {the|my|that} <what>",
    ),
    question=(
        "I don't need {the|that} <what>[ any more]",
        "I no longer need {the|that} <what>",
        "no <what>",
        "no more <what>",
        "{the|that} <what> can go",
        "never mind {the|that} <what>",
    ),
    followup=("and {the|my} <what>", "the <what> too", "also {the|my} <what>"),
)

INTENTS = (
    Intent("timer", _TIMER, lambda rng: timer(_duration(rng)), 0.7, "assistant"),
    Intent("alarm", _ALARM, lambda rng: alarm(_time(rng)), 0.5, "assistant"),
    Intent("reminder", _reminder_phrases("at <time>"), _draw_reminder, 0.6, "assistant"),
    Intent("delayed_reminder", _reminder_phrases("in <span>"), _draw_delayed_reminder, 0.4, "assistant"),
    Intent("list_add", _LISTED, _on_list(listed), 0.7, "assistant"),
    Intent("list_remove", _STRUCK, _on_list(struck), 0.3, "assistant"),
    Intent(
        "cancel",
        _CANCELED,
        lambda rng: canceled(rng.choice(("timer", "alarm", "reminder", "countdown", "wake up call"))),
        0.2,
        "assistant",
    ),
)
