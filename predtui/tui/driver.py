"""What the screen needs of whoever runs the turn: the pipeline, or a recording that plays itself back.

Must not know how either works.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from predtui.runtime.typing import Typed
from predtui.state.events import Event
from predtui.state.turn import Turn


class Driver(Protocol):
    """Runs turns. Listeners are called on a thread of its own, after ``state`` has taken the event in."""

    @property
    def state(self) -> Turn: ...

    def subscribe(self, listener: Callable[[Event], None]) -> Any: ...

    def start(self) -> None: ...

    def stop(self) -> None: ...


class LiveDriver(Driver, Protocol):
    """A driver that a person can speak to: the pipeline."""

    def type_line(self, typed: Typed) -> None: ...

    def talk(self, on: bool) -> None: ...

    def silence(self) -> None: ...

    def configure(self, verifier: str = "") -> None: ...

    def replace_stage(self, name: str, options: Any) -> None: ...

    def renew_stage(self, name: str) -> None: ...
