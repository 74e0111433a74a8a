"""Measures what the target costs, from outside: each of its forwards is timed by a model around it.

There is one instrument a model: it feeds the curve of the forwards' costs, by which drafts and candidates are verified,
and the spans of work. Must not know what asks for forwards, or what is made of the figures.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import closing

from predtui.clock import Clock
from predtui.decoding.costs.curve import Curve
from predtui.decoding.costs.spans import TARGET, WorkSpans
from predtui.decoding.costs.stream import StreamCost
from predtui.llm.around import Generating, ModelAround
from predtui.llm.base import LanguageModel
from predtui.llm.rows import Rows


class Instrument:
    """The last forward, and what is known from those before."""

    def __init__(self, clock: Clock, costs: Curve | None = None) -> None:
        """``costs``: what is known already of the target's forwards; it is kept up."""
        self.now, self.spans = clock.now, WorkSpans()
        self.costs = Curve() if costs is None else costs
        """Seconds of a forward by the tokens it evaluates, for a row after most of them."""
        self.stream = StreamCost()
        """Seconds of a token that a ``GeneratingModel`` makes in a request for many."""
        self.seconds = 0.0
        """What the last forward took."""
        self.steady = False
        """Whether that is what such a forward usually takes, and was added to the costs. A prefill, which gives one row
        for many tokens, takes up to a fifth less than a verification of as many; of forwards over one token, the first
        in a row takes longer, since engines pay for a change of shape and for cold caches."""
        self._single = False
        """Whether the last forward was over one token."""

    def around(self, model: LanguageModel) -> LanguageModel:
        """``model``, whose forwards are measured; itself where they are already."""
        if isinstance(model, TimedModel) and model.instrument is self:
            return model
        return TimedModel(model, self)

    def alone(self) -> float:
        """Seconds of a token without a draft: streamed, where it can be; 0 while that is not known."""
        return self.stream.seconds or self.costs.seconds(1)

    def told_of_stream(self) -> str:
        """Why nothing is drafted, for a person."""
        streamed, asked = self.stream.seconds * 1000, self.costs.seconds(1) * 1000
        return f"streamed, which is faster here: {streamed:.0f} ms a token, {asked:.0f} ms a request"

    def evaluated(self, tokens: int, rows: int, start: float) -> None:
        """A forward that began at ``start`` and ends now has evaluated so many ``tokens``, for the last ``rows``."""
        end = self.now()
        self.seconds = end - start
        self.spans.worked(TARGET, start, end)
        single = tokens == rows == 1
        self.steady = self._single if single else rows > 1
        self._single = single
        if self.steady:
            self.costs.add(tokens, self.seconds)


class TimedModel(ModelAround):
    """Another model, each forward of which an instrument measures."""

    def __init__(self, model: LanguageModel, instrument: Instrument) -> None:
        super().__init__(model)
        self.instrument = instrument

    def _streamed(self, generate: Generating, tokens: Sequence[int], limit: int) -> Generator[int, None, None]:
        now = self.instrument.now
        start, seconds, count = now(), 0.0, 0
        try:
            with closing(generate(tokens, limit)) as arriving:
                for token in arriving:
                    seconds, count = now() - start, count + 1
                    yield token
        finally:
            self.instrument.stream.add(count, seconds)

    def _forward(self, forward: Callable[[], Rows], length: int, rows: int) -> Rows:
        start, before = self.instrument.now(), self.counters.tokens
        result = forward()
        distant = self.abilities.generates  # what its server has in its cache, nobody knows
        self.instrument.evaluated(rows if distant else self.counters.tokens - before, rows, start)
        return result
