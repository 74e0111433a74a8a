"""A model around another can what that one can, and nothing else."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import pytest

from predtui.llm import base
from predtui.llm.around import ModelAround, capable
from predtui.llm.base import LanguageModel, Preempted, TreeModel, aside, leave
from predtui.llm.rows import Rows
from predtui.llm.scripted import ScriptedModel

CAPABILITIES = {
    name: kind for name, kind in vars(base).items() if isinstance(kind, type) and LanguageModel in kind.__mro__[1:]
}
"""Every protocol of a model that can more than evaluate a sequence."""


class Bare:
    """Asks a scripted model, and can nothing that a model need not."""

    def __init__(self) -> None:
        self.inner = ScriptedModel(1)
        self.counters, self.answers = self.inner.counters, self.inner.answers
        self.vocab_size, self.context_size = self.inner.vocab_size, self.inner.context_size
        self.said: list[object] = []

    def forward(self, tokens: Sequence[int], last: int = 1) -> Rows:
        return self.inner.forward(tokens, last)

    def forget(self, keep: int = 0) -> None:
        self.inner.forget(keep)

    def close(self) -> None:
        self.said.append("closed")


def generate(self: Bare, tokens: Sequence[int], limit: int) -> Iterator[int]:
    yield from range(limit)


def forward_tree(self: Bare, tokens: Sequence[int], tree: Sequence[int], parents: Sequence[int]) -> Rows:
    return self.inner.forward_tree(tokens, tree, parents)


def leaves(self: Bare, cores: int) -> None:
    self.said.append(cores)


@contextmanager
def spares(self: Bare, tokens: Sequence[int], room: int) -> Iterator[None]:
    self.said.append("in")
    yield
    self.said.append("out")


METHODS = {"generate": generate, "forward_tree": forward_tree, "leave": leaves, "aside": spares}


class Counting(ModelAround):
    """Notes the length and the rows of each forward."""

    def __init__(self, model: LanguageModel) -> None:
        super().__init__(model)
        self.forwards: list[tuple[int, int]] = []

    def _forward(self, forward: Callable[[], Rows], length: int, rows: int) -> Rows:
        self.forwards.append((length, rows))
        return forward()


def around(*names: str) -> tuple[Bare, Counting]:
    bare = type("Bare", (Bare,), {name: METHODS[name] for name in names})()
    return bare, capable(Counting, bare)(bare)


@pytest.mark.parametrize("names", [n for size in range(5) for n in itertools.combinations(METHODS, size)])
def test_it_has_exactly_the_capabilities_of_the_other(names: tuple[str, ...]) -> None:
    bare, model = around(*names)
    told = {name for name, kind in CAPABILITIES.items() if isinstance(bare, kind)}
    assert {name for name, kind in CAPABILITIES.items() if isinstance(model, kind)} == told
    assert len(told) == len(names)


def test_no_capability_is_missing_from_these() -> None:
    assert len(CAPABILITIES) == len(METHODS)


def test_each_call_reaches_the_other_and_each_forward_passes_by() -> None:
    bare, model = around(*METHODS)
    assert isinstance(model, TreeModel)
    leave(model, 2)
    with aside(model, [5], 3):
        assert model.forward([5, 6, 7], 2)[1].argmax() == ScriptedModel(1).forward([5, 6, 7])[0].argmax()
        model.forward_tree([5, 6], [7, 8, 9], [-1, 0, 0])
    model.close()
    assert bare.said == [2, "in", "out"]
    assert model.forwards == [(3, 2), (5, 4)]
    assert (model.vocab_size, model.context_size, model.answers) == (bare.vocab_size, bare.context_size, bare.answers)
    model.forget(1)
    before = model.counters.tokens
    bare.forward([5, 6, 7])
    assert model.counters.tokens == before + 2


def test_what_the_other_raises_is_raised() -> None:
    bare, model = around()

    def halted(tokens: Sequence[int], last: int = 1) -> Rows:
        raise Preempted

    bare.forward = halted  # type: ignore[method-assign]
    with pytest.raises(Preempted):
        model.forward([5])
