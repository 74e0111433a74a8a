"""What there is to mind where the model is behind a network: how long it keeps one waiting, when it is asked, and what
a person is told meanwhile. For an engine of this machine, nothing.

Must not know of prompts, or of any particular server.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from predtui.llm.base import LanguageModel, LoadedModel
from predtui.llm.requested import RequestedModel, ServerTimes
from predtui.llm.waiting import Waiting, WaitingModel
from predtui.predgen.asking import Asking, survey
from predtui.predgen.options import SpeculationOptions
from predtui.predgen.preemption import Preemption
from predtui.predgen.window import Window
from predtui.state.events import Event, StageStatus, Transcript
from predtui.state.stage import StageContext

_TOKENS_PER_PIECE = 2
"""Of a reply in text, so many are asked for."""


class Distance:
    """``model``: that of the server, each request to which is timed, or the engine's own. ``asking``: when it is asked.
    ``waiting``: how it is waited for."""

    def __init__(
        self, model: LanguageModel, context: StageContext, preemption: Preemption, times: ServerTimes | None = None
    ) -> None:
        """``times``: what is known of the server already."""
        self._now, self._preemption = context.clock.now, preemption
        self._requested: RequestedModel | None = None
        if model.abilities.generates:
            goes_on = lambda: preemption.goes_on  # noqa: E731
            self._requested = RequestedModel(model, self._now, goes_on, times)
        self.model = self._requested or model
        self.waiting = model.waiting if isinstance(model, WaitingModel) else Waiting()
        self.waiting.told = context.waits
        self.asking = Asking()

    def tried(self, options: SpeculationOptions, loaded: LoadedModel, window: Window) -> Iterator[Event]:
        """Find out how soon the server stops, where it is to be asked before the input ends."""
        if self._requested and options.policy and options.remote_budget:
            if not self._requested.times.known:
                yield StageStatus(stage="llm", message="trying how soon the server stops", progress=0.95)
                survey(self._requested, partial(window.tokens, ()), self._preemption.halt, self._now)
            pieces = 1 if loaded.abilities.tokenises else _TOKENS_PER_PIECE
            self.asking = Asking(self._requested.times, pieces * (options.candidate_tokens + loaded.room_to_think))

    def arrived(self, event: Event) -> None:
        """Called in the host's thread."""
        self.asking.arrived(event, self._now())
        if isinstance(event, Transcript) and event.final:
            self.waiting.patient = True

    def handled(self, event: Event) -> None:
        """``event`` is handled now: only for a reply that is awaited, a server that fails is waited for."""
        self.waiting.patient = isinstance(event, Transcript) and event.final

    def over(self) -> None:
        """It is handled: what is under way goes on only for what has come meanwhile."""
        if self._requested and not self._preemption.goes_on:
            self._requested.drop()
