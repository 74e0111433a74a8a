"""The heads that ship draft for the pocket model: what they say is short, small and often right."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from predtui.clock import VirtualClock
from predtui.decoding.assembly import make_decoder
from predtui.decoding.autoregressive import generate
from predtui.decoding.costs.instrument import Instrument
from predtui.decoding.heads import WEIGHTS
from predtui.decoding.parts import Parts
from predtui.decoding.sampler import Greedy, Seeded
from predtui.llm.base import LoadedModel
from predtui.llm.load import load
from predtui.models.shipped import asset
from predtui.registry import DRAFTERS
from predtui.state.events import Message

ASKED = ("what is the capital of france", "how many days are in a week", "add milk to my shopping list", "thank you")
LEAST = {"medusa": 1.2, "hydra": 1.6, "eagle": 2.0, "clover": 1.6, "falcon": 1.6, "chimera": 1.6, "kangaroo": 1.5}
LEAST |= {"ppd": 1.1, "hidden-transfer": 1.1}
"""Tokens a forward in these few short replies, of which the first forward brings one."""
LARGEST = 3_000_000


@pytest.fixture(scope="module")
def pockets() -> Iterator[dict[str, LoadedModel]]:
    pytest.importorskip("transformers")
    loaded = {engine: load("pocket", engine, 1) for engine in ("llamacpp", "torch")}
    yield loaded
    for one in loaded.values():
        one.model.close()


@pytest.fixture
def pocket(method: str, pockets: dict[str, LoadedModel]) -> LoadedModel:
    return pockets["torch" if "soft" in DRAFTERS[method].needs else "llamacpp"]


@pytest.mark.parametrize("method", sorted(LEAST))
def test_they_bring_several_tokens_a_forward(method: str, pocket: LoadedModel) -> None:
    assert (asset("heads", method) / WEIGHTS).stat().st_size < LARGEST
    parts = Parts(pocket, Greedy(), instrument=Instrument(VirtualClock()))
    decoder = make_decoder("speculative", parts, method)
    for text in ASKED:
        prompt = pocket.prompt_tokens([Message("user", text)])
        plain = list(generate(pocket.model, prompt, Greedy(), 60, pocket.tokenizer.is_end))
        pocket.model.forget()
        assert list(decoder.generate(prompt, 60, pocket.tokenizer.is_end)) == plain
    assert decoder.statistics.tokens_per_forward >= LEAST[method]


@pytest.mark.parametrize("method", sorted(LEAST))
def test_at_a_temperature_the_reply_is_that_of_plain_decoding(method: str, pocket: LoadedModel) -> None:
    sampler = Seeded(0.8, seed=4)
    decoder = make_decoder("speculative", Parts(pocket, sampler, instrument=Instrument(VirtualClock())), method)
    prompt = pocket.prompt_tokens([Message("user", ASKED[0])])
    plain = list(generate(pocket.model, prompt, sampler, 40, pocket.tokenizer.is_end))
    assert list(decoder.generate(prompt, 40, pocket.tokenizer.is_end)) == plain
    assert decoder.statistics.accepted > 0
