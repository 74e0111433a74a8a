"""A model around another: it asks that one, can what that one can, and does something about each forward.

Must not know what is done about them.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import cast

from predtui.llm.abilities import Abilities
from predtui.llm.base import GeneratingModel, HiddenModel, LanguageModel, SharingModel, SparingModel, TreeModel
from predtui.llm.layers import LayeredModel
from predtui.llm.rows import Rows
from predtui.llm.soft import SoftModel, Weights
from predtui.llm.windows import CELLS, WindowModel

Generating = Callable[[Sequence[int], int], Generator[int, None, None]]


class ModelAround:
    """A ``LanguageModel`` that is another one, with its abilities; closing it leaves the other open. ``Sequences`` are
    not among them: they are a cache of their own, whose forwards are none of the model's."""

    def __init__(self, model: LanguageModel) -> None:
        self.counters = model.counters
        self._model = model

    @property
    def vocab_size(self) -> int:
        return self._model.vocab_size

    @property
    def context_size(self) -> int:
        return self._model.context_size

    @property
    def abilities(self) -> Abilities:
        return self._model.abilities

    def forward(self, tokens: Sequence[int], last: int = 1) -> Rows:
        rows = self._forward(partial(self._model.forward, tokens, last), len(tokens), last)
        return self._told(rows, tokens, last)

    def forward_tree(self, tokens: Sequence[int], tree: Sequence[int], parents: Sequence[int]) -> Rows:
        forward = partial(cast(TreeModel, self._model).forward_tree, tokens, tree, parents)
        rows = self._forward(forward, len(tokens) + len(tree), 1 + len(tree))
        return self._told_of_tree(rows, tokens, tree, parents)

    def generate(self, tokens: Sequence[int], limit: int) -> Generator[int, None, None]:
        """Of the forwards behind these tokens nothing is known."""
        return self._streamed(cast(GeneratingModel, self._model).generate, tokens, limit)

    def leave(self, cores: int) -> None:
        cast(SharingModel, self._model).leave(cores)

    def aside(self, tokens: Sequence[int], room: int) -> AbstractContextManager[None]:
        return cast(SparingModel, self._model).aside(tokens, room)

    def tell_hidden(self) -> None:
        cast(HiddenModel, self._model).tell_hidden()

    def window_bytes(self, cells: int = CELLS) -> int:
        return cast(WindowModel, self._model).window_bytes(cells)

    def window(self, cells: int = CELLS) -> LanguageModel:
        return cast(WindowModel, self._model).window(cells)

    def part_bytes(self, layers: Sequence[int]) -> int:
        return cast(LayeredModel, self._model).part_bytes(layers)

    def part(self, layers: Sequence[int]) -> LanguageModel:
        return cast(LayeredModel, self._model).part(layers)

    def soften(self, weights: Weights, layer: int = 0) -> None:
        cast(SoftModel, self._model).soften(weights, layer)

    def forget(self, keep: int = 0) -> None:
        self._model.forget(keep)

    def close(self) -> None:
        """The model belongs to whoever loaded it."""

    def _forward(self, forward: Callable[[], Rows], length: int, rows: int) -> Rows:
        """What ``forward`` gives: so many ``rows``, at the end of ``length`` tokens, those of a tree among them."""
        return forward()

    def _told(self, rows: Rows, tokens: Sequence[int], last: int) -> Rows:
        """What is told of ``rows``, those after each of the last ``last`` of ``tokens``."""
        return rows

    def _told_of_tree(self, rows: Rows, tokens: Sequence[int], tree: Sequence[int], parents: Sequence[int]) -> Rows:
        """What is told of ``rows``, those of ``TreeModel.forward_tree``."""
        return rows

    def _streamed(self, generate: Generating, tokens: Sequence[int], limit: int) -> Generator[int, None, None]:
        """What is told of ``generate``, that of a ``GeneratingModel``."""
        return generate(tokens, limit)
