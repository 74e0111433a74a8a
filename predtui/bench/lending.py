"""One loaded model for many stages, in turn, each finding it as if new. Must not know what they do with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from predtui.clock import Clock
from predtui.llm.base import LanguageModel, LoadedModel, Logits, Stale, never
from predtui.llm.load import load
from predtui.predgen.stage import SpeculationOptions, SpeculationStage
from predtui.profile import HardwareProfile


class PricedModel:
    """Another model at the price of a profile: each forward lets that much time pass on ``clock``. Closing it leaves
    the other open. Without a profile, a forward takes the time it takes."""

    def __init__(self, model: LanguageModel, profile: HardwareProfile | None, clock: Clock) -> None:
        self.counters = model.counters
        self._model, self._profile, self._clock = model, profile, clock

    @property
    def vocab_size(self) -> int:
        return self._model.vocab_size

    @property
    def context_size(self) -> int:
        return self._model.context_size

    def logits(self, tokens: Sequence[int], last: int = 1) -> Logits:
        before = self.counters.tokens
        rows = self._model.logits(tokens, last)
        if self._profile is not None:
            new = self.counters.tokens - before
            self._clock.sleep(self._profile.forward_seconds(new, len(tokens) - new))
        return rows

    def forget(self, keep: int = 0) -> None:
        self._model.forget(keep)

    def close(self) -> None:
        """The model belongs to whoever lends it."""


class Lender:
    """Loads the model that ``options`` name and lends it to stages, on the machine of ``profile`` or on this one."""

    def __init__(self, options: SpeculationOptions, profile: HardwareProfile | None = None) -> None:
        """Raises PredtuiError as ``llm.load.load`` does."""
        self._profile = profile
        self._stale: Stale = never
        threads = options.threads or None
        self.loaded = load(options.model, options.engine, threads, options.context, lambda: self._stale())

    def stage(self, options: SpeculationOptions, clock: Clock) -> SpeculationStage:
        """A stage that borrows the model when it is opened, and finds nothing in the model's memory."""

        def lend(_model: str, _engine: str, _threads: int | None, _context: int, stale: Stale) -> LoadedModel:
            self._stale = stale
            self.loaded.model.forget()
            return replace(self.loaded, model=PricedModel(self.loaded.model, self._profile, clock))

        return SpeculationStage(options, lend)

    def close(self) -> None:
        self.loaded.model.close()
