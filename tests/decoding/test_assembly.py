from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui.decoding import datastore
from predtui.decoding.assembly import DecodingOptions, assemble
from predtui.decoding.autoregressive import generate
from predtui.decoding.drafters import DrafterParts, make_drafter
from predtui.decoding.drafters.bridge import BridgedDrafter, same_tokens
from predtui.decoding.sampler import Greedy
from predtui.errors import PredtuiError
from predtui.llm.base import LoadedModel
from predtui.llm.load import load
from predtui.llm.scripted import CharacterTokenizer


class Rotated(CharacterTokenizer):
    """The same alphabet under other numbers."""

    def encode(self, text: str, special: bool = False) -> list[int]:
        return [token + 7 for token in super().encode(text, special)]

    def decode(self, tokens: Sequence[int]) -> str:
        return super().decode([token - 7 for token in tokens])


def scripted(seed: str = "1") -> LoadedModel:
    return load(seed, engine="scripted")


def test_names_decide_what_is_loaded() -> None:
    assert not DecodingOptions("ar", "model").needs_draft
    assert DecodingOptions("speculative", "model").needs_draft
    assert not DecodingOptions("speculative", "lookup").needs_draft
    assembly = assemble(DecodingOptions("speculative", "lookup"), scripted(), Greedy())
    assert assembly.draft is None
    assembly.close()


def test_a_draft_that_is_not_there_is_named() -> None:
    with pytest.raises(PredtuiError, match=r"The draft model: .*none\.gguf.*--draft"):
        assemble(DecodingOptions("speculative", "model", "none.gguf"), scripted(), Greedy())
    with pytest.raises(PredtuiError, match="draft model"):
        make_drafter("model", DrafterParts(scripted(), Greedy()))


def test_retrieval_reads_the_datastore_that_is_named(tmp_path: Path) -> None:
    target = scripted()
    with pytest.raises(PredtuiError, match=r"no datastore in .*nowhere"):
        assemble(DecodingOptions("speculative", "rest", datastore=str(tmp_path / "nowhere")), target, Greedy())
    datastore.write(datastore.build([[5, 6, 7]], datastore.fingerprint(target)), tmp_path)
    assemble(DecodingOptions("speculative", "rest", datastore=str(tmp_path)), target, Greedy()).close()


def test_a_cascade_is_refused_where_tokens_differ() -> None:
    target = scripted()
    with pytest.raises(PredtuiError, match="vocabularies differ"):
        make_drafter("cascade", DrafterParts(target, Greedy(), replace(scripted(), tokenizer=Rotated())))


def test_other_tokens_are_detected() -> None:
    target, other = scripted(), replace(scripted(), tokenizer=Rotated())
    assert same_tokens(target, scripted("2"))
    assert not same_tokens(target, other)
    assert isinstance(make_drafter("model", DrafterParts(target, Greedy(), other)), BridgedDrafter)


@given(st.text("etaoin .", min_size=1, max_size=20), st.integers(1, 8))
def test_a_bridge_says_in_the_targets_tokens_what_the_draft_says(text: str, budget: int) -> None:
    target, draft = scripted(), replace(scripted("2"), tokenizer=Rotated())
    proposed = BridgedDrafter(target, draft, Greedy()).propose(target.tokenizer.encode(text), budget)
    context = draft.tokenizer.encode(text)
    said = list(generate(draft.model, context, Greedy(), budget, lambda token: False))
    assert draft.tokenizer.decode(said).startswith(target.tokenizer.decode(proposed.tokens))
    assert len(proposed.tokens) <= budget


def test_auto_drafts_where_a_forward_is_dear_and_leaves_a_choice_alone() -> None:
    auto = DecodingOptions("auto", "model")
    assert auto.for_model(10_000_000).title == "ar"
    assert auto.for_model(10**9).title == "speculative + suffix"
    assert not auto.for_model(10**9).needs_draft
    assert DecodingOptions("jacobi").for_model(10**9) == DecodingOptions("jacobi")
