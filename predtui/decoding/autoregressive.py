"""Autoregressive decoding: one forward, one token. The rule that every faster way of decoding must reproduce.

Must not know of engines, of text, or of where the tokens go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing

from predtui.decoding.base import Decoder, DecodingStatistics, Sampler
from predtui.decoding.draft import Verification
from predtui.decoding.parts import Parts
from predtui.decoding.sampler import Greedy
from predtui.llm.base import GeneratingModel, LanguageModel, Stale, generates, never


def generate(
    model: LanguageModel,
    tokens: Sequence[int],
    sampler: Sampler,
    limit: int,
    is_end: Callable[[int], bool],
    stale: Stale = never,
    position: int = 0,
) -> Iterator[int]:
    """Tokens after ``tokens``, at most ``limit``, the end token included; none once the context is full or ``stale``.

    ``position``: how many tokens of the reply ``tokens`` already holds, since samplers count from its beginning.
    Costs a forward only when a token is asked for, so whoever stops asking stops the work. One request, in place of a
    forward a token, where the model makes many tokens in one and the sampler is greedy; it is cancelled as soon as no
    more of them are wanted.
    """
    if generates(model) and isinstance(sampler, Greedy):
        chosen = _requested(model, tokens, limit, stale)
    else:
        chosen = _one_by_one(model, list(tokens), sampler, limit, stale, position)
    for token in chosen:
        yield token
        if is_end(token):
            return


def _requested(model: GeneratingModel, tokens: Sequence[int], limit: int, stale: Stale) -> Iterator[int]:
    limit = min(limit, model.context_size - len(tokens) + 1)
    if limit <= 0 or stale():
        return
    with closing(model.generate(tokens, limit)) as arriving:
        for token in arriving:
            yield token
            if stale():
                return


def _one_by_one(
    model: LanguageModel, context: list[int], sampler: Sampler, limit: int, stale: Stale, position: int
) -> Iterator[int]:
    for index in range(limit):
        if stale() or len(context) > model.context_size:
            return
        token = sampler.choose(model.forward(context)[-1], position + index)
        yield token
        context.append(token)


class Autoregressive:
    """``generate`` as a ``Decoder``: it drafts nothing."""

    def __init__(self, model: LanguageModel, sampler: Sampler) -> None:
        self.statistics = DecodingStatistics()
        self._model, self._sampler = model, sampler

    def generate(
        self,
        tokens: Sequence[int],
        limit: int,
        is_end: Callable[[int], bool],
        stale: Stale = never,
        position: int = 0,
        guesses: Sequence[Sequence[int]] = (),
    ) -> Iterator[int]:
        for token in generate(self._model, tokens, self._sampler, limit, is_end, stale, position):
            self.statistics.count(proposed=0, accepted=0, tokens=1)
            yield token

    def observe(self, verification: Verification) -> None:
        """It learns nothing."""

    def close(self) -> None:
        """Nothing was started."""


def make(parts: Parts) -> Decoder:
    return Autoregressive(parts.target.model, parts.sampler)
