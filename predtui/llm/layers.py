"""A model that can leave out some of its layers: what is left drafts for it, over the same weights.

Must not know of engines, or of which layers are worth leaving out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeGuard

from predtui.llm.base import LanguageModel


class LayeredModel(LanguageModel, Protocol):
    """A model of which parts can be had. It has ``Abilities.layers``."""

    def part_bytes(self, layers: Sequence[int]) -> int:
        """What a part of these layers takes beside the model, about: its cache, and its weights where the engine cannot
        share them."""
        ...

    def part(self, layers: Sequence[int]) -> LanguageModel:
        """Another model of these layers alone, in their order, behind the same embeddings and before the same last norm
        and output layer, with a cache of its own; it tells hidden states where the model does. Closing it leaves the
        model open; it is not to be used once the model is closed. Raises ValueError for layers that are not some of the
        model's in rising order, PredtuiError where the part cannot be opened."""
        ...


def has_layers(model: LanguageModel) -> TypeGuard[LayeredModel]:
    """Whether ``model`` is one."""
    return model.abilities.layers > 0


def check_layers(layers: Sequence[int], count: int) -> None:
    """Raises ValueError for what are not some of ``count`` layers in rising order."""
    if not layers or list(layers) != sorted({*layers}) or not 0 <= layers[0] <= layers[-1] < count:
        raise ValueError(f"{[*layers]} of {count} layers")
