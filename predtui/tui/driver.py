"""What the screen needs of whoever runs the turn, the pipeline or a recording that plays itself back, and how what a
person asks reaches it, in order. Must not know how a turn is run, or what is on the screen.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, cast

from predtui.errors import PredtuiError, described
from predtui.runtime.manner import Manner
from predtui.runtime.typing import Typed
from predtui.state.events import Event
from predtui.state.exchange import Exchange
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

    def resume(self, session: int = 0, exchanges: tuple[Exchange, ...] = ()) -> None: ...

    def watch(self, on: bool) -> None: ...

    def configure(self, verifier: str = "") -> None: ...

    def conduct(self, manner: Manner) -> None: ...

    def replace_stage(self, name: str, options: Any) -> None: ...

    def restart_stage(self, name: str = "") -> None: ...

    def renew_stage(self, name: str) -> None: ...


Request = Callable[[LiveDriver], None]
Notify = Callable[[str, str], None]
"""Shows a line to the person: text, severity."""
READ_ONLY = "a replay: nothing can be typed or said"


class Requests:
    """Passes requests to a driver that runs, and keeps them for one that does not run yet. Failures become notices."""

    def __init__(self, driver: Driver, read_only: bool, notify: Notify, log: Callable[[str], object]) -> None:
        """``read_only``: the driver is a recording and takes none."""
        self._driver = driver
        self.read_only = read_only
        self._notify = notify
        self._log = log
        self._running = False
        self._waiting: list[Request] = []

    def begin(self) -> None:
        """The driver runs from now on."""
        self._running = True
        waiting, self._waiting = self._waiting, []
        for request in waiting:
            self.ask(request)

    def ask(self, request: Request) -> None:
        """Never raises."""
        if self.read_only:
            self._notify(READ_ONLY, "information")
        elif not self._running:
            self._waiting.append(request)
        else:
            try:
                request(cast(LiveDriver, self._driver))
            except Exception as error:
                self._log(repr(error))
                self._notify(one_line(error), "error")

    def restart(self, stage: str = "") -> None:
        """Of ``stage``, or of each that has failed."""
        self.ask(lambda driver: driver.restart_stage(stage))


def one_line(error: Exception) -> str:
    """What a person can act on."""
    return str(error) if isinstance(error, PredtuiError) else described(error)
