"""Drafts of soft tokens: replies are plain decoding's, chains share a forward's room, and nobody sees them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predtui.clock import VirtualClock
from predtui.decoding import heads
from predtui.decoding.accept import ExactMatch, RejectionSampling, TopK, verify
from predtui.decoding.assembly import make_decoder, make_drafter
from predtui.decoding.autoregressive import generate
from predtui.decoding.base import WIDEST, Sampler
from predtui.decoding.costs.instrument import Instrument
from predtui.decoding.draft import Draft, merged
from predtui.decoding.parts import Parts
from predtui.decoding.sampler import Greedy, Seeded
from predtui.decoding.soft_draft import SoftDrafter, shared
from predtui.errors import PredtuiError
from predtui.llm.base import LoadedModel
from predtui.llm.load import load
from tests import tiny_folder
from tests.heads import SOFT, heads_of, random_heads

METHODS = sorted(SOFT)


def no_end(_token: int) -> bool:
    return False


@pytest.fixture(scope="module")
def target() -> LoadedModel:
    loaded = load("5", "scripted")
    loaded.model.soften(np.zeros((3, loaded.model.vocab_size), np.float32))  # type: ignore[attr-defined]
    return loaded


@pytest.mark.parametrize("method", METHODS)
def test_a_reply_of_torch_is_that_of_plain_decoding(method: str, tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    torch = load(str(tiny_folder.write(tmp_path / "it")), "torch", threads=1)
    size, accepted = torch.model.vocab_size, 0
    for seed, sampler in enumerate((Greedy(), Greedy(), Seeded(0.9, seed=2), Seeded(1.4, seed=3))):
        heads.write(random_heads(method, torch, seed), tmp_path / str(seed))
        parts = Parts(torch, sampler, heads=tmp_path / str(seed), instrument=Instrument(VirtualClock()))
        decoder = make_decoder("speculative", parts, method)
        for prompt in ([3, 4, 5], [size - 1, 9, 3, 3, 60]):
            torch.model.forget()
            plain = list(generate(torch.model, prompt, sampler, 40, no_end))
            torch.model.forget()
            assert list(decoder.generate(prompt, 40, no_end)) == plain
        accepted += decoder.statistics.accepted
        assert decoder.statistics.proposed > 0
    assert accepted > 0
    torch.model.close()


trees = st.lists(st.tuples(st.integers(-1, 99), st.integers(4, 40)), max_size=8)


def tree_of(some: list[tuple[int, int]], soft: tuple[tuple[int, int], ...] = ()) -> Draft:
    parents = tuple(min(parent, node - 1) for node, (parent, _) in enumerate(some))
    chances = tuple(0.8 ** (node + 1) for node in range(len(some)))
    return Draft(tuple(token for _, token in some), parents, chances=chances, soft=soft)


@given(some=trees, soft=st.lists(st.tuples(st.integers(-1, 7), st.integers(1, 3)), max_size=3), context=trees)
@settings(deadline=None)
def test_no_rule_sees_them(
    some: list[tuple[int, int]], soft: list[tuple[int, int]], context: list[tuple[int, int]], target: LoadedModel
) -> None:
    tokens, model = [4, *(token for _, token in context)], target.model
    chains = tuple((min(node, len(some) - 1), length) for node, length in soft)
    samplers: list[Sampler] = [Greedy(), Seeded(1.0, seed=4)]
    for rule in (ExactMatch(samplers[1]), RejectionSampling(samplers[1]), TopK(samplers[0], 3)):
        plain = verify(model, tokens, tree_of(some), rule, 0, no_end)
        softly = verify(model, tokens, tree_of(some, chains), rule, 0, no_end)
        assert softly.tokens == plain.tokens
        assert len(softly.rows) == len(plain.rows) == len(softly.evaluated)
        assert len(softly.ahead or []) == sum(length for _, length in chains)


@given(some=trees, length=st.integers(1, 4), end=st.integers(4, 40))
def test_candidates_and_chains_share_the_room(some: list[tuple[int, int]], length: int, end: int) -> None:
    draft = tree_of(some)
    found = shared(draft, length, end.__eq__)
    assert all(node < 0 or found.tokens[node] != end for node, _ in found.soft), "nothing follows an end"
    assert found.tokens == draft.tokens[: len(found.tokens)]
    assert len(found.tokens) + sum(count for _, count in found.soft) <= WIDEST
    assert all(-1 <= node < len(found.tokens) and 1 <= count <= length for node, count in found.soft)
    assert len({node for node, _ in found.soft}) == len(found.soft)
    assert found.soft or end in found.tokens
    cut = found.first(len(found.tokens) // 2)
    assert all(node < len(cut.tokens) for node, _ in cut.soft)
    assert not found.best_path().soft or not found.parents


def test_chains_stay_below_their_tokens_in_a_merged_draft() -> None:
    first, second = Draft((5, 6)), Draft((5, 7), (-1, -1), soft=((-1, 2), (0, 1), (1, 3)))
    both = merged(first, second)
    assert (both.tokens, both.soft) == ((5, 6, 7), ((-1, 2), (0, 1), (2, 3)))
    assert both.with_soft(100) == ([5, 6, 7, 100, 101, 100, 100, 101, 102], [-1, 0, -1, -1, 3, 0, 2, 6, 7])


def test_the_rows_behind_the_accepted_end_are_the_next_guesses(target: LoadedModel) -> None:
    model, drafter = target.model, SoftDrafter("it", 3, Greedy(), no_end)
    context = [9, 8, 7]
    first = drafter.propose(context, 8)
    assert (first.tokens, first.soft) == ((), ((-1, 3),))
    drafter.observe(verified := verify(model, context, first, ExactMatch(Greedy()), 0, no_end))
    assert verified.ahead is not None
    context = [*context, *verified.tokens]
    assert drafter.propose([*context, 5], 8).tokens == ()
    draft = drafter.propose(context, 8)
    likeliest = [row.argmax() for row in verified.ahead]
    assert list(draft.best_path().tokens) == likeliest[: len(draft.best_path().tokens)]
    assert draft.tokens
    drafter.observe(verify(model, context, Draft((1,)), ExactMatch(Greedy()), 0, no_end))
    assert drafter.propose(context, 8).tokens == (), "no chain stood there"


def test_two_drafters_of_one_model_each_have_their_soft_tokens(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    torch = load(str(tiny_folder.write(tmp_path / "it")), "torch", threads=1)
    told = []
    for others in ((), METHODS):
        parts = Parts(torch, Greedy(), heads=heads_of(torch), instrument=Instrument(VirtualClock()))
        decoder = make_decoder("speculative", parts, "ppd")
        for method in others:
            make_decoder("speculative", parts, method)
        torch.model.forget()
        list(decoder.generate([3, 4, 5], 40, no_end))
        told.append(decoder.statistics)
    assert told[0] == told[1]
    torch.model.close()


def test_where_the_context_is_full_there_are_none() -> None:
    small = load("5", "scripted", context=6)
    small.model.soften(np.zeros((3, small.model.vocab_size), np.float32))  # type: ignore[attr-defined]
    told = verify(small.model, [4, 5, 6, 7], Draft((8,), soft=((-1, 3),)), ExactMatch(Greedy()), 0, no_end)
    assert (told.ahead, told.draft.soft, len(told.rows)) == (None, (), 2)


@pytest.mark.parametrize("method", METHODS)
def test_weights_that_do_not_fit_are_refused(method: str, target: LoadedModel, tmp_path: Path) -> None:
    made = random_heads(method, target)
    heads.write(replace(made, tensors={**made.tensors, "layer": np.array([99])}), tmp_path)
    with pytest.raises(PredtuiError, match="enter layer 99, and scripted has 4"):
        make_drafter(method, Parts(target, Greedy(), heads=tmp_path))
    heads.write(replace(made, tensors={**made.tensors, "soft": np.zeros((3, 5))}), tmp_path)
    with pytest.raises(PredtuiError, match="cannot be read"):
        make_drafter(method, Parts(target, Greedy(), heads=tmp_path))
    assert make_drafter(method, Parts(target, Greedy(), heads=heads_of(target)))
