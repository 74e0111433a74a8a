"""One loaded model that many stages use in turn, each with an empty KV cache. Must not know what they do with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from predtui.clock import Clock, RealClock
from predtui.decoding.costs.curve import Curve
from predtui.decoding.costs.instrument import Instrument
from predtui.decoding.costs.measured import measure
from predtui.lab.bench import calibrate
from predtui.lab.bench.virtual import Timetable
from predtui.lab.profiles import HardwareProfile
from predtui.llm.around import ModelAround
from predtui.llm.base import LanguageModel, LoadedModel, Preempted, Stale, never
from predtui.llm.load import load
from predtui.llm.requested import ServerTimes
from predtui.llm.rows import Rows
from predtui.llm.windows import CELLS
from predtui.predgen.options import SpeculationOptions
from predtui.predgen.stage import SpeculationStage
from predtui.state.events import Message

TYPICAL_CONTEXT = 200
"""Tokens before those whose forward is the measure of a machine."""
FORWARDS = 9
"""That this measure is the median of."""


Price = Callable[[int, int], float]
"""Seconds of a forward over so many new tokens that follow so many remembered ones."""


class PricedModel(ModelAround):
    """Another model at a price: each forward lets that much time pass on ``clock``. Without a price, a forward takes
    the time it takes."""

    def __init__(self, model: LanguageModel, price: Price | None, clock: Clock, stale: Stale = never) -> None:
        super().__init__(model)
        self._price, self._clock, self._stale = price, clock, stale
        self._parts: list[LanguageModel] = []

    def part(self, layers: Sequence[int]) -> LanguageModel:
        """At its share of the price, by layers; it forgets with the model."""
        price, share = self._price, len(layers) / self.abilities.layers

        def shared(new: int, known: int) -> float:
            return share * price(new, known) if price else 0.0

        self._parts.append(PricedModel(super().part(layers), shared if price else None, self._clock, self._stale))
        return self._parts[-1]

    def forget(self, keep: int = 0) -> None:
        super().forget(keep)
        for part in self._parts:
            part.forget(keep)

    def window(self, cells: int = CELLS) -> LanguageModel:
        """At the price of forwards over as much context as it holds."""
        price = self._price

        def within(new: int, known: int) -> float:
            return price(new, min(known, cells)) if price else 0.0

        return PricedModel(super().window(cells), within if price else None, self._clock, self._stale)

    def _forward(self, forward: Callable[[], Rows], length: int, rows: int) -> Rows:
        before = self.counters.tokens
        result = forward()
        self._pay(self.counters.tokens - before, length)
        return result

    def _pay(self, new: int, length: int) -> None:
        """For so many ``new`` tokens, evaluated at the end of ``length``. Raises Preempted where the forward became
        stale meanwhile, and remembers nothing of it."""
        if self._price is None:
            return
        due = self._clock.now() + self._price(new, length - new)
        while (now := self._clock.now()) < due:
            if self._stale():
                self._model.forget(length - new)
                raise Preempted
            upcoming = self._clock.next if isinstance(self._clock, Timetable) else None
            self._clock.sleep(min(due, upcoming or due) - now)


def priced(model: LanguageModel, price: Price | None, clock: Clock, stale: Stale = never) -> PricedModel:
    """``model`` at that price."""
    return PricedModel(model, price, clock, stale)


def costs_of(profile: HardwareProfile) -> Curve:
    """Seconds of a forward by the tokens it evaluates, in the middle of a conversation."""
    curve = Curve()
    for count in profile.tokens:
        curve.add(count, profile.forward_seconds(count, TYPICAL_CONTEXT))
    return curve


class SharedModel:
    """Loads the model that ``options`` name, and the drafts that methods name, and lends them to stages, on the machine
    of ``profile`` or on this one."""

    def __init__(self, options: SpeculationOptions, profile: HardwareProfile | None = None) -> None:
        """Raises PredtuiError as ``llm.load.load`` does."""
        self._price: Price | None = profile.forward_seconds if profile else None
        self._draft_price: Price | None = profile.draft_seconds if profile else None
        self._stale: Stale = never
        self._times = ServerTimes()
        self._drafts: dict[str, LoadedModel] = {}
        threads = options.threads or None
        self.loaded = load(options.model, options.engine, threads, options.context, lambda: self._stale())
        self.costs = costs_of(profile) if profile else self._measured()

    def stage(self, options: SpeculationOptions, clock: Clock) -> SpeculationStage:
        """A stage that borrows the models when it is opened, and finds nothing in their memory."""

        def lend(_model: str, _engine: str, _threads: int | None, _context: int, stale: Stale) -> LoadedModel:
            self._stale = stale
            return lent(self.loaded, self._price, clock, stale, self._draft_price)

        def lend_draft(
            name: str, engine: str, threads: int | None, context: int, _stale: Stale, caches: int, room: int | None
        ) -> LoadedModel:
            if name not in self._drafts:
                self._drafts[name] = load(name, engine, threads, context, lambda: self._stale(), caches, room)
            return lent(self._drafts[name], self._draft_price, clock)

        return SpeculationStage(options, lend, self.costs, lend_draft, times=self._times)

    def forward_ms(self) -> float:
        """Milliseconds of a forward over one token: on this machine the median of a few, amid a conversation."""
        if self._price:
            return round(1000 * self.costs.seconds(1), 4)
        known = min(TYPICAL_CONTEXT, self.loaded.model.context_size - 1)
        return round(1000 * calibrate.forward(self.loaded.model, 1, known, FORWARDS), 4)

    def _measured(self) -> Curve:
        """Nothing where an engine tells nothing of tokens that it is given."""
        if self.loaded.abilities.verifies != "exact":
            return Curve()
        prompt = self.loaded.prompt_tokens([Message("user", "how long does one word take")])
        self.loaded.model.forward(prompt)
        instrument = Instrument(RealClock())
        measure(self.loaded.model, prompt, instrument)
        return instrument.costs

    def close(self) -> None:
        for loaded in (self.loaded, *self._drafts.values()):
            loaded.model.close()


def forward_ms(options: SpeculationOptions) -> float:
    """Milliseconds of a forward over one token on this machine. Raises PredtuiError as ``llm.load.load`` does."""
    lender = SharedModel(options)
    try:
        return lender.forward_ms()
    finally:
        lender.close()


def lent(
    loaded: LoadedModel, price: Price | None, clock: Clock, stale: Stale = never, heads: Price | None = None
) -> LoadedModel:
    """The same model at that price, with nothing in its memory. ``heads``: what a use of heads over its states takes,
    which is a draft model's price."""
    loaded.model.forget()
    ready = replace(loaded, model=priced(loaded.model, price, clock, stale))
    return replace(ready, looked=lambda paths: clock.sleep(heads(paths, 0))) if heads else ready
