"""The model's own probability that the user's turn is over: known at no forward more, and nothing else changes."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui.llm.base import LoadedModel, TreeModel
from predtui.llm.load import load
from predtui.predgen.end_of_turn import EndOfTurn
from predtui.state.events import Message

texts = st.lists(st.sampled_from(["what", "is", "the", "sun", "no"]), min_size=1, max_size=6).map(" ".join)


def models() -> list[LoadedModel]:
    return [load("5", engine="scripted"), load("pocket", engine="numpy")]


LOADED = models()


def prompt_of(loaded: LoadedModel, text: str) -> list[int]:
    return loaded.prompt_tokens([Message("system", "sys"), Message("user", text)])


@pytest.mark.parametrize("loaded", LOADED, ids=["scripted", "pocket"])
@given(texts, st.lists(st.integers(5, 30), max_size=5))
def test_it_is_told_in_the_forward_of_a_candidate_whose_rows_stay_as_they_are(
    loaded: LoadedModel, text: str, candidate: list[int]
) -> None:
    ends, prompt = EndOfTurn(loaded), prompt_of(loaded, text)
    ends.begin(True)
    ends.watch(prompt)
    before = loaded.model.counters.forwards
    rows = ends.forward([*prompt, *candidate], 1 + len(candidate))
    assert loaded.model.counters.forwards == before + 1
    likely = ends.probability(prompt)
    wanted = loaded.model.forward([*prompt, *candidate], 1 + len(candidate))
    assert len(rows) == len(wanted)
    assert np.allclose(rows.logits, wanted.logits, atol=1e-3)
    words = len(prompt) - len(ends._tail)
    behind = loaded.model.forward(prompt[:words])[0]
    assert likely == pytest.approx(min(1, sum(math.exp(behind.logprob(end)) for end in ends._ends)), abs=1e-3)


@given(texts, st.lists(st.tuples(st.integers(5, 30), st.integers(-1, 8)), min_size=1, max_size=8))
def test_a_tree_of_candidates_tells_it_too(text: str, nodes: list[tuple[int, int]]) -> None:
    loaded = LOADED[0]
    ends, prompt = EndOfTurn(loaded), prompt_of(loaded, text)
    tree, parents = [token for token, _ in nodes], [min(parent, at - 1) for at, (_, parent) in enumerate(nodes)]
    ends.begin(True)
    ends.watch(prompt)
    rows = ends.forward_tree(prompt, tree, parents)
    model: TreeModel = loaded.model  # type: ignore[assignment]
    assert np.allclose(rows.logits, model.forward_tree(prompt, tree, parents).logits)
    ends.begin(True)
    likely = ends.probability(prompt)
    assert likely is None
    ends.watch(prompt)
    ends.forward(prompt)
    assert ends.probability(prompt) is not None


def test_a_whole_question_ends_a_turn_likelier_than_its_beginning() -> None:
    loaded = LOADED[1]
    ends = EndOfTurn(loaded)
    ends.begin(True)

    def over(text: str) -> float:
        prompt = prompt_of(loaded, text)
        ends.watch(prompt)
        ends.forward(prompt)
        likely = ends.probability(prompt)
        assert likely is not None
        return likely

    assert over("what is the capital of") < 0.05 < 0.2 < over("what is the capital of france")


def test_nobody_is_asked_where_nobody_wants_to_know_or_rows_do_not_tell() -> None:
    loaded = LOADED[0]
    prompt = prompt_of(loaded, "what")
    for ends, asks in ((EndOfTurn(loaded), False), (EndOfTurn(_blind(loaded)), True)):
        ends.begin(asks)
        ends.watch(prompt)
        assert len(ends.forward(prompt)) == 1
        assert ends.probability(prompt) is None


def _blind(loaded: LoadedModel) -> LoadedModel:
    class Blind(type(loaded.model)):  # type: ignore[misc]
        @property
        def abilities(self) -> object:
            return replace(loaded.abilities, whole=False)

    return replace(loaded, model=Blind(5))
