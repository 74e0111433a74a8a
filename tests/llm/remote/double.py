"""A double of an engine behind a network, over the scripted model: it tells the 20 likeliest tokens with their
log-probabilities, and that of the token that follows, and makes many tokens in one request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from predtui.llm.abilities import Abilities
from predtui.llm.base import Counters, LoadedModel
from predtui.llm.load import load
from predtui.llm.rows import PartialRow, Row, RowList
from predtui.llm.scripted import ScriptedModel

TOLD = 20


class RemoteModel:
    """A ``GeneratingModel``. ``counters.forwards`` are requests; nothing is remembered between them."""

    def __init__(self, seed: int, told: int) -> None:
        self._model = ScriptedModel(seed)
        self.counters = Counters()
        self.vocab_size, self.context_size = self._model.vocab_size, self._model.context_size
        self.abilities = Abilities(verifies="exact", rollback="none", top=told, generates=True)

    def forward(self, tokens: Sequence[int], last: int = 1) -> RowList:
        rows = self._model.forward(tokens, last)
        self.counters.forwards += 1
        self.counters.tokens += len(tokens)
        follows = [*tokens[len(tokens) - last + 1 :], None]
        return RowList([_partial(row, self.abilities.top, token) for row, token in zip(rows, follows, strict=True)])

    def generate(self, tokens: Sequence[int], limit: int) -> Iterator[int]:
        self.counters.forwards += 1
        context = list(tokens)
        for _ in range(limit):
            context.append(self._model.forward(context)[0].argmax())
            self.counters.tokens += 1
            yield context[-1]

    def forget(self, keep: int = 0) -> None:
        """Nothing is remembered."""

    def close(self) -> None:
        self._model.close()


def _partial(row: Row, told: int, follows: int | None) -> PartialRow:
    others = [] if follows is None else [(follows, row.logprob(follows))]
    return PartialRow([(token, row.logprob(token)) for token in row.top(told)], others)


def remote(seed: int, told: int = TOLD) -> LoadedModel:
    return replace(load(str(seed), engine="scripted"), name="far", engine="remote", model=RemoteModel(seed, told))
