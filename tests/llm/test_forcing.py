"""A thought ends where it must, whoever asks for the rows, and however many are asked for at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predtui.decoding.autoregressive import generate
from predtui.decoding.sampler import Greedy, Seeded
from predtui.llm.abilities import Abilities
from predtui.llm.base import LanguageModel, LoadedModel, generates, has_trees
from predtui.llm.forcing import Ending, Forced, with_forced_endings
from predtui.llm.rows import ArrayRows, PartialRow, RowList, Rows
from predtui.llm.scripted import ScriptedModel
from predtui.llm.thinking import with_thinking
from predtui.llm.thoughts import Thinking
from predtui.state.events import Message
from tests import thinkers
from tests.thinkers import MARKS, Babbler, MarkTokenizer, Reciter, loaded

KINDS = {
    "think": thinkers.DISTILLED,
    "spelled": thinkers.DISTILLED,
    "harmony": thinkers.HARMONY,
    "magistral": thinkers.MAGISTRAL,
}
BUDGET = 5
kinds = st.sampled_from(sorted(KINDS))


@cache
def thinker(kind: str, mode: str = "on", budget: int = BUDGET, seed: int = 0) -> LoadedModel:
    """A model that says anything, in the mode, with forced endings."""
    tokenizer = MarkTokenizer(MARKS[kind])
    found = with_thinking(loaded(KINDS[kind], tokenizer, Babbler(tokenizer, seed)), mode, budget)
    return replace(found, model=with_forced_endings(found))


def of(found: LoadedModel) -> Thinking:
    assert found.thinking is not None
    return found.thinking


def spelled(found: LoadedModel, tokens: Sequence[int]) -> str:
    assert isinstance(found.tokenizer, MarkTokenizer)
    return MarkTokenizer(list(found.tokenizer._marks), defined=True).decode(tokens)


@given(kinds, st.integers(0, 9), st.booleans())
@settings(max_examples=40, deadline=None)
def test_no_thought_is_longer_than_its_budget(kind: str, seed: int, random: bool) -> None:
    found = thinker(kind, seed=seed)
    form = of(found).form
    prompt = [*found.prompt_tokens([Message("user", "Why?")]), *found.tokenizer.encode(form.opens[0], special=True)]
    sampler = Seeded(2.0, seed=seed) if random else Greedy()
    reply = [*generate(found.model, prompt, sampler, 400, found.tokenizer.is_end)]
    thought, close, _ = spelled(found, reply).partition(form.close)
    assert close or found.tokenizer.is_end(reply[-1]), "it ends, unless the reply does before"
    if close and not form.channels:
        longest = BUDGET + len(found.tokenizer.encode(form.ending.partition(form.close)[0], special=True))
        last = form.pattern.split(thought)[-1]
        assert len(found.tokenizer.encode(last, special=True)) <= longest


@given(kinds, st.integers(0, 3), st.lists(st.integers(0, 261), max_size=40), st.integers(1, 12))
@settings(max_examples=40, deadline=None)
def test_rows_depend_on_nothing_but_the_tokens_before(kind: str, seed: int, said: list[int], last: int) -> None:
    found = thinker(kind, seed=seed)
    said = [token for token in said if token < found.model.vocab_size]
    opened = found.tokenizer.encode(of(found).form.opens[0], special=True)
    tokens = [*found.prompt_tokens([Message("user", "Why?")]), *opened, *said]
    last = min(last, len(tokens))
    rows = found.model.forward(tokens, last).logits
    for row in range(last):
        end = len(tokens) - last + 1 + row
        assert (found.model.forward(tokens[:end]).logits[0] == rows[row]).all()


@given(kinds, st.lists(st.tuples(st.integers(0, 261), st.integers(-1, 30)), max_size=20), st.integers(0, 9))
@settings(max_examples=40, deadline=None)
def test_a_tree_has_the_rows_of_its_branches(kind: str, nodes: list[tuple[int, int]], head: int) -> None:
    found = thinker(kind)
    assert has_trees(found.model)
    opened = found.tokenizer.encode(of(found).form.opens[0], special=True)
    tokens = [*found.prompt_tokens([Message("user", "Why?")]), *opened, *([97] * head)]
    tree = [token % found.model.vocab_size for token, _ in nodes]
    parents = [min(parent, index - 1) for index, (_, parent) in enumerate(nodes)]
    rows = found.model.forward_tree(tokens, tree, parents).logits
    for node in range(-1, len(tree)):
        path, at = [], node
        while at >= 0:
            path.insert(0, tree[at])
            at = parents[at]
        assert (found.model.forward([*tokens, *path]).logits[0] == rows[node + 1]).all()


def test_what_a_model_is_to_say_next_is_certain_and_the_rest_is_its_own() -> None:
    found = thinker("think")
    raw = loaded(KINDS["think"], MarkTokenizer(MARKS["think"])).model
    tokens = [*found.prompt_tokens([Message("user", "Why?")]), *map(ord, "aaa")]
    assert (found.model.forward(tokens).logits == raw.forward(tokens).logits).all()
    forced = found.model.forward([*tokens, ord("a")])
    assert forced.logits[0].argmax() == ord("\n")
    assert forced[0].logprob(ord("\n")) == pytest.approx(0.0, abs=1e-3)
    assert found.model.forward([*tokens, ord("a"), ord("\n")]).logits[0].argmax() == 256 + 3, "</think>"


def test_states_stand_behind_what_is_certain_too() -> None:
    whole, some = np.zeros((2, 300), np.float32), [PartialRow([(5, -0.1)]), PartialRow([(6, -0.2)])]
    for model, kind in ((thinker("think").model, ArrayRows), (Partial(ScriptedModel()), RowList)):
        states = np.ones((2, 3), np.float32)
        forced = Forced(model, cast(Forced, thinker("think").model)._ending)
        rows = forced._with(ArrayRows(whole, states) if kind is ArrayRows else RowList(some, states), {1: 4})
        assert isinstance(rows, kind)
        assert rows[1].argmax() == 4
        assert rows.hidden is states


def test_with_thinking_off_a_thought_that_is_begun_all_the_same_ends_at_once() -> None:
    tokenizer = MarkTokenizer(MARKS["think"])
    model = Reciter(tokenizer, lambda _: "<think>Hm, hm.</think>Paris.", "</think>\n\n", "</think>")
    found = with_thinking(loaded(thinkers.QWEN3, tokenizer, model), "off", 99)
    prompt = found.prompt_tokens([Message("user", "Why?")])
    reply = [*generate(with_forced_endings(found), prompt, Greedy(), 40, tokenizer.is_end)]
    assert spelled(found, reply) == "<think>\n</think>Paris."


class Partial:
    """A model that tells the two likeliest tokens alone, and generates."""

    def __init__(self, model: LanguageModel) -> None:
        self._model, self.counters, self.requests = model, model.counters, list[int]()
        self.vocab_size, self.context_size = model.vocab_size, model.context_size
        self.abilities = Abilities(verifies="exact", rollback="none", top=2, generates=True)

    def forward(self, tokens: Sequence[int], last: int = 1) -> Rows:
        rows = self._model.forward(tokens, last)
        return RowList([PartialRow([(token, row.logprob(token)) for token in row.top(2)]) for row in rows])

    def generate(self, tokens: Sequence[int], limit: int) -> Iterator[int]:
        self.requests.append(len(tokens))
        yield from generate(self._model, tokens, Greedy(), limit, lambda token: token == thinkers.END)

    def forget(self, keep: int = 0) -> None: ...

    def close(self) -> None: ...


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", sorted(KINDS))
def test_behind_a_network_it_is_the_same_reply(kind: str, seed: int) -> None:
    whole = thinker(kind, seed=seed)
    tokenizer = MarkTokenizer(MARKS[kind])
    partial = Partial(Babbler(tokenizer, seed))
    model = with_forced_endings(replace(whole, model=partial))
    assert generates(model)
    prompt = whole.prompt_tokens([Message("user", "Why?")])
    plain = [*generate(whole.model, prompt, Greedy(), 60, tokenizer.is_end)]
    assert [*generate(model, prompt, Greedy(), 60, tokenizer.is_end)] == plain
    one_by_one = list(prompt)
    while len(one_by_one) < len(prompt) + len(plain):
        one_by_one.append(model.forward(one_by_one)[-1].argmax())
    assert one_by_one == [*prompt, *plain]


def test_an_ending_is_looked_for_no_further_back_than_a_thought_may_reach() -> None:
    found = thinker("think")
    ending = Ending(found, of(found))
    opened = found.prompt_tokens([Message("user", "Why?")])
    assert ending.forced([*opened, *([97] * BUDGET)]) == {0: ord("\n")}
    assert ending.forced([*opened, *([97] * 4000)]) == {}
