"""Lossy rules: strict enough they are plain decoding, what they take is what their definitions say, in trees as in
chains, and a reply that is not plain decoding's says so."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predtui.clock import VirtualClock
from predtui.decoding import heads
from predtui.decoding.accept import Acceptance, ExactMatch, verify
from predtui.decoding.assembly import DecodingOptions, assemble, make_decoder
from predtui.decoding.autoregressive import generate
from predtui.decoding.base import Sampler
from predtui.decoding.costs.instrument import Instrument
from predtui.decoding.draft import Draft, Verification
from predtui.decoding.lossy import Judge, Judged, Typical, judge_of, make_judge, make_typical
from predtui.decoding.parts import Parts
from predtui.decoding.sampler import Greedy, Seeded
from predtui.errors import PredtuiError
from predtui.llm.base import LoadedModel
from predtui.llm.load import load
from predtui.llm.rows import ArrayRows
from predtui.llm.scripted import ScriptedModel
from predtui.predgen.algorithm import Prompt, Speculator
from predtui.predgen.verifiers import make_verifier
from predtui.registry import DECODERS
from tests.decoding.test_accept import CONTEXT, never_ends, plausible
from tests.decoding.test_draft import drafts
from tests.heads import heads_of, random_heads

samplers = st.sampled_from([Greedy(), Seeded(seed=4), Seeded(temperature=0.4, seed=9)])
epsilons = st.floats(0.01, 1.0)


@pytest.fixture(scope="module")
def target() -> LoadedModel:
    loaded = load("3", "scripted")
    loaded.model.tell_hidden()  # type: ignore[attr-defined]
    return loaded


def judge(target: LoadedModel, threshold: float = 0.5) -> Judge:
    return replace(judge_of(random_heads("judge", target)), threshold=threshold)


def judged(target: LoadedModel, draft: Draft, rule: Acceptance) -> Verification:
    return verify(target.model, CONTEXT, draft, rule, 0, never_ends)


class Second:
    """Proposes the target's own choice, then the second likeliest."""

    def propose(self, context: Sequence[int], budget: int, position: int = 0) -> Draft:
        model, tokens = ScriptedModel(3), list[int]()
        for rank in range(2):
            tokens.append(model.forward([*context, *tokens])[-1].top(2)[rank])
        return Draft(tuple(tokens)).first(budget)

    def observe(self, verification: Verification) -> None: ...

    def reset(self) -> None: ...


def free(target: LoadedModel) -> Parts:
    """Where a draft costs nothing."""
    clock = Instrument(VirtualClock())
    return Parts(target, Greedy(), heads=heads_of(target), drafter=Second(), instrument=clock)


def chain(draft: Draft, path: Sequence[int]) -> Draft:
    """That path of a tree alone."""
    return Draft(tuple([draft.tokens[node] for node in path]), tail=sum(node >= draft.evaluated for node in path))


@given(draft=drafts(), sampler=samplers)
@settings(max_examples=30, deadline=None)
def test_a_judge_that_takes_nothing_is_an_exact_match(target: LoadedModel, draft: Draft, sampler: Sampler) -> None:
    draft = plausible(draft, sampler, 0)
    one = judged(target, draft, Judged(sampler, judge(target, threshold=1.5)))
    exact = judged(target, draft, ExactMatch(sampler))
    assert (one.path, one.next_token, one.lossless) == (exact.path, exact.next_token, True)


@given(draft=drafts(), epsilon=epsilons, sampler=samplers)
@settings(max_examples=30, deadline=None)
def test_what_is_typical_is_what_the_paper_says(
    target: LoadedModel, draft: Draft, epsilon: float, sampler: Sampler
) -> None:
    found = judged(target, draft, Typical(sampler, epsilon))
    for place, node in enumerate(found.path):
        row = found.rows[draft.parent(node) + 1]
        p = np.exp([row.logprob(token) for token in range(target.model.vocab_size)])
        least = min(epsilon, math.sqrt(epsilon) * math.exp((p * np.log(p)).sum()))
        assert p[draft.tokens[node]] > least - 1e-6 or draft.tokens[node] == sampler.choose(row, place)
    chosen = [sampler.choose(found.rows[draft.parent(n) + 1], i) for i, n in enumerate(found.path)]
    assert found.lossless == (chosen == list(found.accepted))


@given(draft=drafts())
@settings(max_examples=30, deadline=None)
def test_of_siblings_the_likeliest_alone_is_judged(target: LoadedModel, draft: Draft) -> None:
    found = judged(target, plausible(draft, Greedy(), 0), Judged(Greedy(), judge(target, threshold=0.0)))
    for node in found.path:
        parent = found.draft.parent(node)
        choice = found.rows[parent + 1].argmax()
        assert found.draft.tokens[node] == choice or found.draft.children(parent)[0] == node


@given(draft=drafts(), epsilon=epsilons, judges=st.booleans())
@settings(max_examples=40, deadline=None)
def test_along_its_path_a_tree_is_accepted_as_a_chain_is(
    target: LoadedModel, draft: Draft, epsilon: float, judges: bool
) -> None:
    rule = Judged(Greedy(), judge(target, epsilon)) if judges else Typical(Greedy(), epsilon)
    found = judged(target, draft, rule)
    alone = judged(target, chain(draft, found.path), rule)
    assert (alone.accepted, alone.next_token, alone.lossless) == (found.accepted, found.next_token, found.lossless)


@pytest.mark.parametrize("strict", ["judge", "typical"])
def test_one_that_takes_the_choice_alone_decodes_as_plain_decoding_does(target: LoadedModel, strict: str) -> None:
    parts = free(target)
    decoder = make_judge(parts, 1.5) if strict == "judge" else make_typical(parts, 1e9)
    plain = list(generate(target.model, CONTEXT, Greedy(), 40, never_ends))
    assert list(decoder.generate(CONTEXT, 40, never_ends)) == plain
    assert decoder.statistics.proposed > 0
    assert not decoder.statistics.lossy
    assert not DECODERS[strict].lossless


@pytest.mark.parametrize("name", ["judge", "typical"])
def test_a_reply_that_is_another_one_says_so(target: LoadedModel, name: str) -> None:
    parts = free(target)
    plain = list(generate(target.model, CONTEXT, Greedy(), 60, never_ends))
    decoder = make_decoder(name, parts)
    said = list(decoder.generate(CONTEXT, 60, never_ends))
    assert said != plain
    assert decoder.statistics.lossy > 0
    marked = 0
    for context in ([token, 9, 14] for token in range(4, 16)):
        speculator = Speculator(target, decoder, make_verifier("greedy", target, Greedy()), 60)
        *_, last = speculator.advance(Prompt(context))
        plain = list(generate(target.model, context, Greedy(), 60, target.tokenizer.is_end))
        assert not last.lossless or list(last.tokens) == plain
        marked += not last.lossless
    assert marked


def test_a_head_for_another_model_is_refused(target: LoadedModel, tmp_path: Path) -> None:
    made = random_heads("judge", target, width=target.abilities.hidden + 2)
    heads.write(made, tmp_path / "judge")
    with pytest.raises(PredtuiError, match="not for") as caught:
        assemble(DecodingOptions("judge", "suffix", heads=str(tmp_path)), target, Greedy())
    assert "predtui train judge" in caught.value.remedy
    heads.write(replace(random_heads("judge", target), tensors={"tokens": np.array([0])}), tmp_path / "judge")
    with pytest.raises(PredtuiError, match="cannot be read"):
        assemble(DecodingOptions("judge", "suffix", heads=str(tmp_path)), target, Greedy())


def test_a_token_that_cannot_come_says_nothing_of_how_unsure_the_target_is() -> None:
    """Two of three tokens, as likely as each other: either is typical."""
    rows = ArrayRows(np.array([[1.0, 1.0, -np.inf], [0.0, 0.0, 0.0]], np.float32))
    rule = Typical(Greedy(), 0.9)
    assert rule.takes(Draft((1,)), rows, 0)
    assert not rule.takes(Draft((2,)), rows, 0)
