from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui.decoding import datastore
from predtui.decoding.assembly import DecodingOptions, assemble, make_decoder, make_drafter
from predtui.decoding.autoregressive import generate
from predtui.decoding.costs.curve import Curve
from predtui.decoding.drafters.bridge import BridgedDrafter, same_tokens
from predtui.decoding.drafters.model import ModelDrafter
from predtui.decoding.parts import Parts
from predtui.decoding.sampler import Greedy, Seeded
from predtui.errors import PredtuiError
from predtui.llm.abilities import Abilities
from predtui.llm.base import LanguageModel, LoadedModel, ModelRequest
from predtui.llm.gguf import read_header
from predtui.llm.llamacpp.planning import planned
from predtui.llm.load import load
from predtui.llm.memory import Memory
from predtui.llm.scripted import CharacterTokenizer
from predtui.registry import DECODERS, DRAFTERS, NEEDS, Registry
from tests.heads import heads_of
from tests.tiny_gguf import write


class Rotated(CharacterTokenizer):
    """The same alphabet under other numbers."""

    def encode(self, text: str, special: bool = False) -> list[int]:
        return [token + 7 for token in super().encode(text, special)]

    def decode(self, tokens: Sequence[int]) -> str:
        return super().decode([token - 7 for token in tokens])


def scripted(seed: str = "1") -> LoadedModel:
    return load(seed, engine="scripted")


def test_names_decide_what_is_loaded() -> None:
    assert DecodingOptions("ar", "model").needs == set()
    assert DecodingOptions("speculative", "model").needs == {"drafter", "draft", "given"}
    assert DecodingOptions("speculative", "lookup").needs == {"drafter", "given"}
    assembly = assemble(DecodingOptions("speculative", "lookup"), scripted(), Greedy())
    assert assembly.draft is None
    assembly.close()


def test_a_draft_that_is_not_there_is_named() -> None:
    with pytest.raises(PredtuiError, match=r"The draft model: .*none\.gguf.*--draft"):
        assemble(DecodingOptions("speculative", "model", "none.gguf"), scripted(), Greedy())
    with pytest.raises(PredtuiError, match="draft model"):
        make_drafter("model", Parts(scripted(), Greedy()))


def test_retrieval_reads_the_datastore_that_is_named(tmp_path: Path) -> None:
    target = scripted()
    with pytest.raises(PredtuiError, match=r"no datastore in .*nowhere"):
        assemble(DecodingOptions("speculative", "rest", datastore=str(tmp_path / "nowhere")), target, Greedy())
    datastore.write(datastore.build([[5, 6, 7]], datastore.fingerprint(target)), tmp_path)
    assemble(DecodingOptions("speculative", "rest", datastore=str(tmp_path)), target, Greedy()).close()


def test_a_cascade_is_refused_where_tokens_differ() -> None:
    target = scripted()
    with pytest.raises(PredtuiError, match="vocabularies differ"):
        make_drafter("cascade", Parts(target, Greedy(), replace(scripted(), tokenizer=Rotated())))


def test_other_tokens_are_detected() -> None:
    target, other = scripted(), replace(scripted(), tokenizer=Rotated())
    assert same_tokens(target, scripted("2"))
    assert not same_tokens(target, other)
    assert isinstance(make_drafter("model", Parts(target, Greedy(), other)), BridgedDrafter)


@pytest.mark.parametrize("engine", ["torch", "numpy"])
def test_a_vocabulary_is_the_same_whatever_engine_tells_it(engine: str) -> None:
    """Each writes a token that is but a part of a character in its own way."""
    target, here = load("pocket", engine, 1), load("pocket", "llamacpp", 1)
    spelt = [[one.tokenizer.decode([token]) for token in range(256)] for one in (target, here)]
    assert spelt[0] != spelt[1]
    assert datastore.fingerprint(target) == datastore.fingerprint(here)
    draft = load("pocket-draft", "llamacpp", 1)
    assert same_tokens(target, draft)
    for one in (target, here, draft):
        one.model.close()


@given(st.text("etaoin .", min_size=1, max_size=20), st.integers(1, 8))
def test_a_bridge_says_in_the_targets_tokens_what_the_draft_says(text: str, budget: int) -> None:
    target, draft = scripted(), replace(scripted("2"), tokenizer=Rotated())
    inner = ModelDrafter(draft.model, Greedy(), draft.tokenizer.is_end)
    bridged = BridgedDrafter(target.tokenizer, draft.tokenizer, inner)
    proposed = bridged.propose(target.tokenizer.encode(text), budget)
    context = draft.tokenizer.encode(text)
    said = list(generate(draft.model, context, Greedy(), budget, lambda token: False))
    assert draft.tokenizer.decode(said).startswith(target.tokenizer.decode(proposed.tokens))
    assert len(proposed.tokens) <= budget


def test_auto_drafts_where_a_forward_is_dear_and_leaves_a_choice_alone() -> None:
    auto = DecodingOptions("auto", "model")
    can = Abilities.of_logits(99)
    assert auto.for_model(10_000_000, can).title == "ar"
    assert auto.for_model(10**9, can).title == "speculative + suffix"
    assert "draft" not in auto.for_model(10**9, can).needs
    for wide, drafter in ((0.03, "auto"), (0.08, "suffix")):
        costs = Curve()
        costs.add(1, 0.025)
        costs.add(16, wide)
        assert auto.for_model(10**9, replace(can, trees=True), costs).title == f"speculative + {drafter}"
        assert auto.for_model(10**9, can, costs).title == "speculative + suffix"
    assert DecodingOptions("jacobi").for_model(10**9, can) == DecodingOptions("jacobi")


@pytest.mark.parametrize("lacking", [{"verifies": "regenerates"}, {"rollback": "none"}, {"generates": True}], ids=str)
def test_auto_drafts_nothing_where_a_rejected_draft_cannot_be_afforded(lacking: dict[str, Any]) -> None:
    can = replace(Abilities.of_logits(99), **lacking)
    assert DecodingOptions("auto").for_model(10**9, can).title == "ar"


def test_unknown_names_are_refused_with_the_known_ones() -> None:
    parts = Parts(scripted(), Greedy())
    with pytest.raises(PredtuiError, match="warp") as decoder:
        make_decoder("warp", parts)
    with pytest.raises(PredtuiError, match="crystal ball") as drafter:
        make_drafter("crystal ball", parts)
    assert "ar" in decoder.value.remedy
    assert "lookup" in drafter.value.remedy


@pytest.mark.parametrize(
    ("decoder", "drafter", "need"),
    [("speculative", "", "a drafter"), ("duo", "", "a draft model"), ("sps", "fused", "a draft model")],
)
def test_a_need_that_is_not_met_is_told(decoder: str, drafter: str, need: str) -> None:
    with pytest.raises(PredtuiError, match=f"needs {need}"):
        make_decoder(decoder, Parts(scripted(), Greedy()), drafter)


@pytest.mark.parametrize("registry", [DECODERS, DRAFTERS], ids=lambda registry: registry.kind)
def test_every_factory_is_there_and_every_need_has_words(registry: Registry) -> None:
    for name, entry in registry.items():
        assert callable(registry.factory(name))
        assert entry.needs <= NEEDS.keys()
        assert entry.help


class Few:
    """A model of an engine that tells the 20 likeliest tokens, and evaluates no trees."""

    abilities = Abilities(verifies="exact", rollback="any", top=20)
    vocab_size, context_size = 64, 512


def test_what_an_engine_cannot_do_is_refused() -> None:
    target = replace(scripted(), model=cast(LanguageModel, Few()), engine="far away")
    with pytest.raises(PredtuiError, match="needs an engine that evaluates token trees, which far away is not"):
        make_decoder("lookahead", Parts(target, Greedy()))
    with pytest.raises(PredtuiError, match="temperature needs whole rows"):
        assemble(DecodingOptions("ar"), target, Seeded())
    make_decoder("ar", Parts(target, Greedy())).close()


@pytest.mark.parametrize("decoder", [name for name in DECODERS if {"draft", "drafter"} & DECODERS.find(name).needs])
def test_room_is_asked_for_as_many_caches_as_are_opened(
    decoder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a cache is opened that nobody has looked for room for."""
    from predtui.llm.llamacpp import batch, sequences
    from predtui.llm.llamacpp import model as single

    path, opened, asked = str(write(tmp_path / "tiny.gguf")), [0], list[int]()

    def counting(*arguments: Any) -> int:
        opened[0] += 1
        return batch.open_context(*arguments)

    def loader(*request: Any) -> LoadedModel:
        asked.append(request[5])
        return load(*request)

    target = load(path)
    for module in (single, sequences):
        monkeypatch.setattr(module, "open_context", counting)
    options = DecodingOptions(decoder, "model", path, heads=str(heads_of(target)))
    assembly = assemble(options, target, Greedy(), loader=loader)
    assert asked == opened
    assembly.close()
    target.model.close()


def test_a_draft_without_room_for_its_caches_is_refused_before_it_is_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "tiny.gguf")
    one = planned(read_header(path), ModelRequest(str(path))).held
    monkeypatch.setattr("predtui.llm.llamacpp.planning.ram", lambda: Memory("RAM", 8 << 30, one))
    target = load(str(path))
    assemble(DecodingOptions("speculative", "model", str(path)), target, Greedy()).close()
    with pytest.raises(
        PredtuiError, match=r"of 2 caches.*Choose a smaller draft with --draft, or another --decoder\.$"
    ):
        assemble(DecodingOptions("duo", "model", str(path)), target, Greedy())
    target.model.close()
