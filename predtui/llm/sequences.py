"""Several continuations side by side: a function from token lists to what follows each, that remembers them all.

Multi-sequence drafting asks it once a step. Must not know of engines or of how tokens are chosen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from predtui.llm.base import LanguageModel
from predtui.llm.rows import RowList, Rows

SEQUENCES = 8
"""Continuations that may stand side by side."""


class Sequences(Protocol):
    """The last lists of tokens, each with its own state."""

    def forward_each(self, contexts: Sequence[Sequence[int]]) -> Rows:
        """The row after the last token of each of at most ``SEQUENCES`` contexts.

        Pays only for what none of the contexts of the previous call begins with. Raises as ``LanguageModel.forward``.
        """
        ...

    def close(self) -> None:
        """The model that it came from stays open."""
        ...


@runtime_checkable
class SequencesModel(LanguageModel, Protocol):
    """A language model whose engine holds several sequences."""

    def sequences(self) -> Sequences:
        """Another memory over the same weights, which may be used in another thread than the model itself."""
        ...


class OneByOne:
    """Sequences in the single memory of a model: right, but paid for again and again."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model

    def forward_each(self, contexts: Sequence[Sequence[int]]) -> Rows:
        return RowList([self._model.forward(context)[0] for context in contexts])

    def close(self) -> None:
        """Nothing was opened."""


def sequences_of(model: LanguageModel) -> Sequences:
    """What the engine of ``model`` has of its own, else ``OneByOne``, which nothing else may use meanwhile."""
    return model.sequences() if isinstance(model, SequencesModel) else OneByOne(model)
