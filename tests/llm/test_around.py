"""A model around another can what that one can, and nothing else."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui.llm.abilities import Abilities
from predtui.llm.around import ModelAround
from predtui.llm.base import LanguageModel, Preempted, aside, generates, has_trees, leave, tells_hidden
from predtui.llm.layers import has_layers
from predtui.llm.rows import Rows
from predtui.llm.scripted import ScriptedModel

ABILITIES = st.builds(
    Abilities,
    verifies=st.sampled_from(["exact", "regenerates"]),
    rollback=st.sampled_from(["any", "none", 8]),
    top=st.integers(0, 9),
    hidden=st.sampled_from([0, 8]),
    layers=st.sampled_from([0, 4]),
    **{field.name: st.booleans() for field in fields(Abilities) if field.type == "bool"},
)


class Bare:
    """Asks a scripted model, and notes what else it is asked."""

    def __init__(self, abilities: Abilities) -> None:
        self.inner = ScriptedModel(1)
        self.counters, self.abilities = self.inner.counters, abilities
        self.vocab_size, self.context_size = self.inner.vocab_size, self.inner.context_size
        self.said: list[object] = []

    def forward(self, tokens: Sequence[int], last: int = 1) -> Rows:
        return self.inner.forward(tokens, last)

    def forward_tree(self, tokens: Sequence[int], tree: Sequence[int], parents: Sequence[int]) -> Rows:
        return self.inner.forward_tree(tokens, tree, parents)

    def generate(self, tokens: Sequence[int], limit: int) -> Iterator[int]:
        yield from range(limit)

    def leave(self, cores: int) -> None:
        self.said.append(cores)

    def tell_hidden(self) -> None:
        self.said.append("tells")

    def part_bytes(self, layers: Sequence[int]) -> int:
        return len(layers)

    def part(self, layers: Sequence[int]) -> LanguageModel:
        self.said.append([*layers])
        return self.inner.part(layers)

    @contextmanager
    def aside(self, tokens: Sequence[int], room: int) -> Iterator[None]:
        self.said.append("in")
        yield
        self.said.append("out")

    def forget(self, keep: int = 0) -> None:
        self.inner.forget(keep)

    def close(self) -> None:
        self.said.append("closed")


class Counting(ModelAround):
    """Notes the length and the rows of each forward."""

    def __init__(self, model: LanguageModel) -> None:
        super().__init__(model)
        self.forwards: list[tuple[int, int]] = []

    def _forward(self, forward: Callable[[], Rows], length: int, rows: int) -> Rows:
        self.forwards.append((length, rows))
        return forward()


ALL = replace(Abilities.of_logits(ScriptedModel(1).vocab_size), trees=True, generates=True, shares=True, spares=True)


@given(ABILITIES)
def test_it_has_exactly_the_abilities_of_the_other(abilities: Abilities) -> None:
    bare = Bare(abilities)
    model = Counting(Counting(bare))
    assert model.abilities == abilities
    assert (has_trees(model), generates(model)) == (abilities.trees, abilities.generates)
    assert tells_hidden(model) == (abilities.hidden > 0)
    leave(model, 2)
    with aside(model, [5], 3):
        pass
    if tells_hidden(model):
        model.tell_hidden()
    if has_layers(model):
        assert model.part([0, 2]).abilities.layers == model.part_bytes([0, 2]) == 2
    said = [*([2] * abilities.shares), *(["in", "out"] * abilities.spares), *(["tells"] * tells_hidden(model))]
    said += [[0, 2]] * has_layers(model)
    assert bare.said == said


def test_each_call_reaches_the_other_and_each_forward_passes_by() -> None:
    bare = Bare(ALL)
    model = Counting(bare)
    leave(model, 2)
    with aside(model, [5], 3):
        assert model.forward([5, 6, 7], 2)[1].argmax() == ScriptedModel(1).forward([5, 6, 7])[0].argmax()
        model.forward_tree([5, 6], [7, 8, 9], [-1, 0, 0])
    assert list(itertools.islice(model.generate([5], 4), 9)) == [0, 1, 2, 3]
    model.close()
    assert bare.said == [2, "in", "out"]
    assert model.forwards == [(3, 2), (5, 4)]
    assert (model.vocab_size, model.context_size) == (bare.vocab_size, bare.context_size)
    model.forget(1)
    before = model.counters.tokens
    bare.forward([5, 6, 7])
    assert model.counters.tokens == before + 2


def test_what_the_other_raises_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    bare = Bare(ALL)

    def halted(tokens: Sequence[int], last: int = 1) -> Rows:
        raise Preempted

    monkeypatch.setattr(bare, "forward", halted)
    with pytest.raises(Preempted):
        Counting(bare).forward([5])
