"""Lets a stage work as its host does: on what it is given, then on what it does while nothing else waits."""

from __future__ import annotations

from collections.abc import Callable

from predtui.llm.base import never
from predtui.state.events import Event
from predtui.state.stage import Stage


def given(stage: Stage, event: Event, over: Callable[[], bool] = never) -> list[Event]:
    """What comes of ``event``, and of the idle time after it until there is nothing to do, or it is ``over``."""
    outs = list(stage.handle(event))
    while stage.tick is not None and not over():
        outs += stage.idle()
    return outs
