"""Measures what decoding costs, from outside: the target's forwards are timed by a model around it.

Each forward feeds the curve of the target's costs and the spans of its work. Must not know what decodes, or what is
made of the figures.
"""

from __future__ import annotations

from collections.abc import Sequence

from predtui.clock import Clock
from predtui.decoding.costs.constants import SINGLES
from predtui.decoding.costs.curve import Curve
from predtui.decoding.costs.spans import TARGET, WorkSpans
from predtui.llm.base import LanguageModel, TreeModel
from predtui.llm.rows import Answers, Rows


class Instrument:
    """The last forward, and what is known from those before."""

    def __init__(self, clock: Clock, spans: WorkSpans, costs: Curve | None = None) -> None:
        """``costs``: what is known already of the target's forwards."""
        self.now, self.spans = clock.now, spans
        self.costs = Curve() if costs is None else costs
        self.seconds = 0.0
        """What the last forward took."""
        self.steady = False
        """Whether that is what such a forward usually takes: it evaluated nothing of a prompt, and, where it was over
        one token, so was the one before. Engines pay for a change of shape and for cold caches; without drafts there
        would be neither."""
        self._single = False
        """Whether the last forward was over one token."""
        self._singles = SINGLES
        """How many forwards over one token are still to be measured of those to come."""

    def around(self, model: LanguageModel) -> LanguageModel:
        """``model``, whose forwards are measured, with trees where it evaluates them."""
        return TimedTreeModel(model, self) if isinstance(model, TreeModel) else TimedModel(model, self)

    def measure_singles(self) -> None:
        """A reply begins, or a source is asked for a draft again: forwards over one token are measured anew. In between
        there may be hundreds, of which the first few are enough."""
        self._singles = SINGLES

    def evaluated(self, tokens: int, rows: int, start: float) -> None:
        """A forward that began at ``start`` and ends now has evaluated so many ``tokens``, for the last ``rows``."""
        end = self.now()
        self.seconds = end - start
        self.spans.worked(TARGET, start, end)
        alone = tokens == rows
        self.steady = alone and (rows > 1 or self._single)
        self._single = alone and rows == 1
        if self.steady and (rows > 1 or self._singles > 0):
            self.costs.add(tokens, self.seconds)
            self._singles -= rows == 1


class TimedModel:
    """Another model, each forward of which an instrument measures. Closing it leaves the other open."""

    def __init__(self, model: LanguageModel, instrument: Instrument) -> None:
        self.counters = model.counters
        self._model, self._instrument = model, instrument

    @property
    def vocab_size(self) -> int:
        return self._model.vocab_size

    @property
    def context_size(self) -> int:
        return self._model.context_size

    @property
    def answers(self) -> Answers:
        return self._model.answers

    def forward(self, tokens: Sequence[int], last: int = 1) -> Rows:
        start, before = self._instrument.now(), self.counters.tokens
        rows = self._model.forward(tokens, last)
        self._instrument.evaluated(self.counters.tokens - before, last, start)
        return rows

    def forget(self, keep: int = 0) -> None:
        self._model.forget(keep)

    def close(self) -> None:
        """The model belongs to whoever loaded it."""


class TimedTreeModel(TimedModel):
    """The same of a ``TreeModel``."""

    def __init__(self, model: TreeModel, instrument: Instrument) -> None:
        super().__init__(model, instrument)
        self._trees = model

    def forward_tree(self, tokens: Sequence[int], tree: Sequence[int], parents: Sequence[int]) -> Rows:
        start, before = self._instrument.now(), self.counters.tokens
        rows = self._trees.forward_tree(tokens, tree, parents)
        self._instrument.evaluated(self.counters.tokens - before, 1 + len(tree), start)
        return rows
