"""When a forward under way ends at once. Must not know what is computed."""

from __future__ import annotations

from collections.abc import Callable

from predtui.clock import Clock
from predtui.llm.halt import Halt
from predtui.state.events import Event, Interrupt, Transcript, TurnStarted


class Preemption:
    """Whatever is computed for another prompt than the final one, for a turn that is over, or for a reply that is no
    longer wanted, is not waited for: ``halt`` is set while nothing that is being computed can matter any more. A word
    that is not the last overtakes what is computed for those before: pieces of it that are done are likely of use."""

    def __init__(
        self,
        clock: Clock,
        enabled: bool,
        answering_ahead: Callable[[], str | None],
        asked: Callable[[], object] = bool,
    ) -> None:
        """``answering_ahead``: the prompt that is answered before it has come, None where none is. ``asked``: told
        whenever an engine asks for the halt."""
        self.halt = Halt(asked)
        self.answering = ""
        """The prompt that has come last."""
        self._now, self._enabled, self._answering_ahead = clock.now, enabled, answering_ahead
        self._urgent = self._newer = Event()
        """The last events: for which the halt is set, and by which work is overtaken."""
        self._handled = Event()
        self._came: tuple[Event, float] = Event(), 0.0
        """The last event that came, and when."""

    def arrived(self, event: Event) -> None:
        """Called in the host's thread, while the stage may be at work."""
        (last, _), self._came = self._came, (event, self._now())
        if not self._enabled or not self._overtakes(event, last):
            return
        if isinstance(event, Transcript) and not event.final:
            self._newer = event
            self.halt.overtaken = True
        else:
            self._urgent = event
            self.halt.set()

    def handled(self, event: Event) -> None:
        """``event`` is handled now."""
        self._handled = event
        if event.generation >= self._urgent.generation:
            self.halt.clear()
        if event.generation >= self._newer.generation:
            self.halt.overtaken = False

    @property
    def goes_on(self) -> bool:
        """Whether what has come meanwhile, or is handled now, asks for the very reply that is being made."""
        last, _ = self._came
        news = last is not self._handled or self._answering_ahead() is not None
        return isinstance(last, Transcript) and news and last.prompt == self._made()

    def late(self, event: Event) -> float:
        """Seconds since ``event`` came, where it is the last."""
        last, came = self._came
        return self._now() - came if event is last else 0.0

    def _overtakes(self, event: Event, last: Event) -> bool:
        """Whether ``event``, which came after ``last``, asks for something else than what is being made."""
        if not isinstance(event, Transcript):
            return isinstance(event, TurnStarted | Interrupt)
        if event.prompt == self._made():
            return False
        asks = not isinstance(last, Transcript) or event.changes(last)
        return asks or self._answering_ahead() is not None

    def _made(self) -> str:
        """The prompt whose reply is being made."""
        ahead = self._answering_ahead()
        return self.answering if ahead is None else ahead
