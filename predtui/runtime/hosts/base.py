"""What every host offers, whichever way it runs its stage. Must not know any particular stage."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Protocol, cast

from predtui.errors import FREE_MEMORY, PredtuiError, described, starved
from predtui.state.events import Event, Notice, StageStatus
from predtui.state.stage import Stage, StageSpec

Emit = Callable[[Event], None]
"""Takes a stamped event out of a host; must be quick and callable from any thread."""


class Host(Protocol):
    """Runs one stage and reports all it yields, and its own life as ``StageStatus``, through an ``Emit`` callable.

    A stage whose process dies is reported as "restarting" and stays down until ``restart``: when, and how often, is the
    supervisor's to decide. What is sent to a stage that is down is dropped.
    """

    spec: StageSpec

    @property
    def alive(self) -> bool: ...

    @property
    def status(self) -> StageStatus:
        """The latest status."""
        ...

    @property
    def pid(self) -> int | None:
        """The stage's own process, where it has one."""
        ...

    def accepts(self, event: Event) -> bool:
        """Whether the stage takes events of this type (True while not yet known)."""
        ...

    def start(self) -> None:
        """Returns at once; "ready" or "failed" is reported when the stage has opened."""
        ...

    def send(self, event: Event) -> None:
        """Queue an event for the stage, if it takes events of this type. Never blocks."""
        ...

    def stop(self) -> None:
        """Ask the stage to end, and end it by force after about a second. Reports nothing afterwards."""
        ...

    def restart(self) -> None: ...


HostFactory = Callable[[StageSpec, Emit], Host]


def make_stage(spec: StageSpec) -> Stage:
    """Import and call the factory of ``spec``. Raises PredtuiError when there is none."""
    module, _, name = spec.factory.partition(":")
    try:
        factory = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        cause = error.__cause__ or error  # a library may put pages of advice before it
        remedy = FREE_MEMORY if starved(cause) else "Reinstall predtui."
        raise PredtuiError(f"stage {spec.name}: cannot load {spec.factory}: {described(cause)}.", remedy) from error
    return cast(Stage, factory(spec.options))


def overflow_notice(stage: str) -> Notice:
    """The notice, given once, when a stage cannot keep up with the sound."""
    return Notice(
        text=f"{stage} cannot keep up: the oldest sound waiting for it is being dropped. Speak in shorter turns.",
        severity="warning",
    )
