"""Several continuations side by side: a function from token lists to the row after each, with a cache for each list.

Multi-sequence drafting calls it once per step. Must not know of engines or of how tokens are chosen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from predtui.llm.base import LanguageModel
from predtui.llm.rows import RowList, Rows

SEQUENCES = 8
"""Most continuations side by side."""


class Sequences(Protocol):
    """Caches the token lists of the last call."""

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
    """A model whose engine can cache several sequences."""

    def sequences(self) -> Sequences:
        """Another cache over the same weights, which may be used from another thread than the model."""
        ...


class OneByOne:
    """Sequences through a model's single cache: correct, but each call evaluates them again."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model

    def forward_each(self, contexts: Sequence[Sequence[int]]) -> Rows:
        return RowList([self._model.forward(context)[0] for context in contexts])

    def close(self) -> None:
        """Nothing was opened."""


def sequences_of(model: LanguageModel) -> Sequences:
    """The engine's own sequences if it has them, else ``OneByOne``, during which nothing else may use the model."""
    return model.sequences() if isinstance(model, SequencesModel) else OneByOne(model)
