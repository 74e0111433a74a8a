"""One loaded model for many stages, in turn, each finding it as if new. Must not know what they do with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from predtui.clock import Clock, RealClock
from predtui.decoding.scheduler import Curve
from predtui.events import Message
from predtui.llm.base import LanguageModel, LoadedModel, Logits, Stale, TreeModel, never
from predtui.llm.load import load
from predtui.predgen.costs import measured
from predtui.predgen.options import SpeculationOptions
from predtui.predgen.stage import SpeculationStage
from predtui.profile import HardwareProfile

TYPICAL_CONTEXT = 200
"""Tokens before those whose forward is the measure of a machine."""


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
        self._pay(before, len(tokens))
        return rows

    def forget(self, keep: int = 0) -> None:
        self._model.forget(keep)

    def close(self) -> None:
        """The model belongs to whoever lends it."""

    def _pay(self, before: int, length: int) -> None:
        """For what was evaluated since the counter stood at ``before``, at the end of so many tokens."""
        if self._profile is not None:
            new = self.counters.tokens - before
            self._clock.sleep(self._profile.forward_seconds(new, length - new))


class PricedTreeModel(PricedModel):
    """The same of a ``TreeModel``."""

    def __init__(self, model: TreeModel, profile: HardwareProfile | None, clock: Clock) -> None:
        super().__init__(model, profile, clock)
        self._trees = model

    def tree_logits(self, tokens: Sequence[int], tree: Sequence[int], parents: Sequence[int]) -> Logits:
        before = self.counters.tokens
        rows = self._trees.tree_logits(tokens, tree, parents)
        self._pay(before, len(tokens) + len(tree))
        return rows


def priced(model: LanguageModel, profile: HardwareProfile | None, clock: Clock) -> PricedModel:
    """``model`` at the price of ``profile``, with trees where it evaluates them."""
    if isinstance(model, TreeModel):
        return PricedTreeModel(model, profile, clock)
    return PricedModel(model, profile, clock)


def costs_of(profile: HardwareProfile) -> Curve:
    """Seconds of a forward by the tokens it evaluates, in the middle of a conversation."""
    curve = Curve()
    for count in profile.tokens:
        curve.add(count, profile.forward_seconds(count, TYPICAL_CONTEXT))
    return curve


class Lender:
    """Loads the model that ``options`` name and lends it to stages, on the machine of ``profile`` or on this one."""

    def __init__(self, options: SpeculationOptions, profile: HardwareProfile | None = None) -> None:
        """Raises PredtuiError as ``llm.load.load`` does."""
        self._profile = profile
        self._stale: Stale = never
        threads = options.threads or None
        self.loaded = load(options.model, options.engine, threads, options.context, lambda: self._stale())
        self.costs = costs_of(profile) if profile else measured(self.loaded.model, self._prompt(), RealClock())

    def stage(self, options: SpeculationOptions, clock: Clock) -> SpeculationStage:
        """A stage that borrows the model when it is opened, and finds nothing in the model's memory."""

        def lend(_model: str, _engine: str, _threads: int | None, _context: int, stale: Stale) -> LoadedModel:
            self._stale = stale
            self.loaded.model.forget()
            return replace(self.loaded, model=priced(self.loaded.model, self._profile, clock))

        return SpeculationStage(options, lend, self.costs)

    def _prompt(self) -> list[int]:
        return self.loaded.prompt_tokens([Message("user", "how long does one word take")])

    def close(self) -> None:
        self.loaded.model.close()
