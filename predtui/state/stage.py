"""The Stage protocol. A stage is a generator; its host owns queues, timing, staleness, errors and restarts.

Must not know of any particular stage.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

from predtui.clock import Clock
from predtui.state.events import Event

Listener = Callable[[Event], None]


def unwatched(listener: Listener) -> None:
    """Nothing arrives while a stage without a host works."""


def lasting() -> bool:
    """A stage without a host is not closed while it works."""
    return False


def untold(line: str) -> None:
    """A stage without a host has nobody to tell."""


def unhurried(seconds: float) -> None:
    """Nobody looks after a stage without a host."""


@dataclass(frozen=True, slots=True)
class StageContext:
    """What a host lends to its stage. ``stale()`` is true once an event of a newer generation has arrived for it:
    ask it between forwards, between chunks, and stop (return) when it says so. ``watch(listener)``: have each event
    told as it arrives, in the host's thread and before it is handled, to a stage that cannot ask so often.
    ``allow(seconds)``: what lies between two of its questions, or yields, may take so long from now on; a stage that
    takes much longer is taken to hang. ``closing()`` is true once nothing that the stage does is wanted any more.
    ``waits(line)``: have the person told at once what is waited for, by a stage that cannot yield meanwhile; an empty
    line once it goes on."""

    clock: Clock
    stale: Callable[[], bool]
    log: logging.Logger
    watch: Callable[[Listener], None] = unwatched
    allow: Callable[[float], None] = unhurried
    closing: Callable[[], bool] = lasting
    waits: Callable[[str], None] = untold


class Stage(Protocol):
    """One kind of work. Yields events unstamped; the host stamps them with the generation of what is handled."""

    accepts: tuple[type[Event], ...]
    """Event types delivered to ``handle``, in order of arrival."""

    tick: float | None
    """Seconds between calls of ``idle`` while nothing waits; None for never."""

    def open(self, context: StageContext) -> Iterator[Event]:
        """Load what is needed; may yield StageStatus(state="starting") lines with progress. Raises PredtuiError."""
        ...

    def handle(self, event: Event) -> Iterator[Event]: ...

    def idle(self) -> Iterator[Event]:
        """A small piece of work while nothing waits."""
        ...

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Fallback:
    """The safest way to run a stage, for when it crashes otherwise. ``options`` makes it out of the stage's options;
    ``words`` say what it is, ``remedy`` what a person can do where it does not help, ``recompile`` where what the stage
    runs was compiled for another processor."""

    options: Callable[[Any], Any]
    words: str
    remedy: str
    recompile: str = ""


@dataclass(frozen=True, slots=True)
class Needs:
    """What a stage may do beside computing and reading files; everything else is refused to its process, where the
    system can. ``sockets``: none, local ones (UNIX), or any. ``programs``: which it may start, all confined like it;
    "itself" is Python. ``writes``: folders, made if they are not there. ``devices``: patterns of their paths.
    ``ports``: of TCP, that it may connect to, whatever ``sockets`` says."""

    sockets: Literal["none", "local", "any"] = "none"
    programs: Literal["none", "itself", "any"] = "none"
    writes: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()
    ports: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class StageSpec:
    """How to make a stage in another process: ``factory``, "module:function", is called there with ``options``.
    ``needs``: what that process may do; None: whatever the user may. ``threads``: of the CPU, that its numeric
    libraries may use; 0: theirs to choose."""

    name: str
    factory: str
    options: Any = None
    fallback: Fallback | None = None
    needs: Needs | None = Needs()
    threads: int = 0

    def safest(self) -> StageSpec:
        """The same stage, run in its safest way; itself where it has none, or is run so already."""
        return replace(self, options=self.fallback.options(self.options)) if self.fallback else self
