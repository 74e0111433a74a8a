"""How the machine has been doing: the latest sample, and the course of each figure before it. Knows nothing of widgets,
nor of how a course is drawn.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from predtui.state.events import Usage
from predtui.state.turn import Turn

HISTORY = 200
"""Samples that are kept."""
LONGEST = 3.0
"""Seconds between two samples, beyond which nobody watched: what was done meanwhile belongs to neither."""

Course = tuple[float, ...]
"""A figure at each sample, oldest first."""


class Made(NamedTuple):
    """What the model has done in a turn: tokens chosen, and forwards of the target."""

    turn: int = 0
    tokens: int = 0
    forwards: int = 0


class Load(NamedTuple):
    """Courses by name: "cpu", "core 0", "cpu W", "llm %", "llm MB", "gpu", "gpu MB", "gpu W", "gpu °C", and
    "tokens/s", "forwards/s" once the model has done something."""

    now: Usage | None = None
    courses: tuple[tuple[str, Course], ...] = ()
    joules: float | None = None
    """Of the last reply."""
    made: Made = Made()

    def course(self, name: str) -> Course:
        """Empty for what is not known."""
        return next((course for named, course in self.courses if named == name), ())


def followed(before: Load, turn: Turn) -> Load:
    """After ``turn`` has come; the same one where nothing of it is news."""
    joules, usage = before.joules if turn.joules is None else turn.joules, turn.usage
    if not usage.memory_mb or usage == before.now:
        return before if joules == before.joules else before._replace(joules=joules)
    made = Made(turn.number, turn.candidate.generated, turn.candidate.forwards)
    seconds = usage.time - before.now.time if before.now else 0.0
    now = dict(_figures(usage))
    if any(made[1:]) or before.course("tokens/s"):
        now |= _rates(before.made, made, seconds)
    former = dict(before.courses)
    courses = tuple((name, (*former.get(name, ()), figure)[-HISTORY:]) for name, figure in now.items())
    return Load(usage, courses, joules, made)


def _figures(usage: Usage) -> Iterator[tuple[str, float]]:
    yield "cpu", usage.cpu
    yield from ((f"core {number}", share) for number, share in enumerate(usage.cores))
    for name, share, memory in usage.stages:
        yield f"{name} %", share
        yield f"{name} MB", memory
    told = {
        "cpu W": usage.watts,
        "gpu": usage.gpu,
        "gpu MB": usage.gpu_memory_mb,
        "gpu W": usage.gpu_watts,
        "gpu °C": usage.gpu_celsius,
    }
    yield from ((name, figure) for name, figure in told.items() if figure is not None)


def _rates(before: Made, made: Made, seconds: float) -> dict[str, float]:
    """A second, since the sample before; a turn begins with nothing done."""
    base = before if made.turn == before.turn else Made()
    known = 0.0 < seconds <= LONGEST
    tokens, forwards = made.tokens - base.tokens, made.forwards - base.forwards
    return {
        "tokens/s": max(0, tokens) / seconds if known else 0.0,
        "forwards/s": max(0, forwards) / seconds if known else 0.0,
    }
