"""A model that also evaluates soft tokens: such as no text has, and of which only the states behind them are of use.

A soft token stands at the end of a tree, and what it is was learned: an embedding of its own, or in some layer a matrix
that makes its state of the one behind the real token that it hangs under. Its number in the tree is ``vocab_size`` and
its index among those that were learned; no row tells of such a token. Must not know of engines, or of how they are
learned.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeGuard

import numpy as np
import numpy.typing as npt

from predtui.llm.base import LanguageModel, TreeModel, check_vocabulary

Weights = npt.NDArray[np.float32]
"""[count, width]: embeddings; [count, width, width]: matrices."""


class SoftModel(TreeModel, Protocol):
    """A ``TreeModel`` with ``Abilities.soft``. ``forward_tree`` then takes soft tokens, behind all others of a tree;
    they change no row but their own, and are not remembered."""

    def soften(self, weights: Weights, layer: int = 0) -> None:
        """From now on there are as many soft tokens as ``weights``: vectors that enter ``layer`` in their places, or
        matrices by which the states that enter it there are made. Raises ValueError for what does not fit the model."""
        ...


def has_soft(model: LanguageModel) -> TypeGuard[SoftModel]:
    """Whether ``model`` is one."""
    return model.abilities.soft


def check_weights(weights: Weights, layer: int, width: int, layers: int) -> None:
    """Raises ValueError for what makes no soft tokens of a model of so many ``layers`` and that ``width``."""
    if weights.ndim not in (2, 3) or {*weights.shape[1:]} != {width} or not len(weights) or not 0 <= layer < layers:
        raise ValueError(f"soft tokens of shape {weights.shape} in layer {layer} of {layers}, of width {width}")


def check_tree(tree: Sequence[int], vocab_size: int, count: int) -> int:
    """How many of ``tree`` are soft. Raises ValueError where one is none of ``count``, or not behind all others."""
    real = next((place for place, token in enumerate(tree) if token >= vocab_size), len(tree))
    check_vocabulary(tree[:real], vocab_size)
    check_vocabulary([token - vocab_size for token in tree[real:]], count)
    return len(tree) - real
