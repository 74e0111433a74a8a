"""A model around another: it asks that one, can what that one can, and does something about each forward.

Must not know what is done about them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import TypeVar, cast

from predtui.llm.base import GeneratingModel, LanguageModel, SharingModel, SparingModel, TreeModel
from predtui.llm.rows import Answers, Rows


class ModelAround:
    """A ``LanguageModel`` that is another one; closing it leaves the other open. ``capable`` adds capabilities."""

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
    def answers(self) -> Answers:
        return self._model.answers

    def forward(self, tokens: Sequence[int], last: int = 1) -> Rows:
        return self._forward(partial(self._model.forward, tokens, last), len(tokens), last)

    def forget(self, keep: int = 0) -> None:
        self._model.forget(keep)

    def close(self) -> None:
        """The model belongs to whoever loaded it."""

    def _forward(self, forward: Callable[[], Rows], length: int, rows: int) -> Rows:
        """What ``forward`` gives: so many ``rows``, at the end of ``length`` tokens, those of a tree among them."""
        return forward()


class _Trees(ModelAround):
    _model: TreeModel

    def forward_tree(self, tokens: Sequence[int], tree: Sequence[int], parents: Sequence[int]) -> Rows:
        forward = partial(self._model.forward_tree, tokens, tree, parents)
        return self._forward(forward, len(tokens) + len(tree), 1 + len(tree))


class _Generation(ModelAround):
    _model: GeneratingModel

    def generate(self, tokens: Sequence[int], limit: int) -> Iterator[int]:
        """Of the forwards behind these tokens nothing is known."""
        return self._model.generate(tokens, limit)


class _Sharing(ModelAround):
    _model: SharingModel

    def leave(self, cores: int) -> None:
        self._model.leave(cores)


class _Sparing(ModelAround):
    _model: SparingModel

    def aside(self, tokens: Sequence[int], room: int) -> AbstractContextManager[None]:
        return self._model.aside(tokens, room)


_CAPABILITIES: tuple[tuple[type, type[ModelAround]], ...] = (
    (TreeModel, _Trees),
    (GeneratingModel, _Generation),
    (SharingModel, _Sharing),
    (SparingModel, _Sparing),
)
Kind = TypeVar("Kind", bound=ModelAround)


def capable(kind: type[Kind], model: LanguageModel) -> type[Kind]:
    """``kind`` with the capabilities of ``model``, and no others. ``Sequences`` are not among them: they are a cache of
    their own, whose forwards are none of the model's."""
    added = [capability for protocol, capability in _CAPABILITIES if isinstance(model, protocol)]
    return cast("type[Kind]", type(kind.__name__, (*added, kind), {}))
