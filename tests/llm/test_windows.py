"""A window holds no more than its cells, says what a model says that sees these alone, and drafts for long contexts."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import LlamaConfig, LlamaForCausalLM

from predtui.clock import VirtualClock
from predtui.decoding.accept import ExactMatch
from predtui.decoding.assembly import make_decoder, make_drafter
from predtui.decoding.autoregressive import generate
from predtui.decoding.base import Sampler
from predtui.decoding.costs.instrument import Instrument
from predtui.decoding.drafters.recycling import TokenRecycling
from predtui.decoding.drafters.specmquant import Settled
from predtui.decoding.parts import Parts
from predtui.decoding.sampler import Greedy, Seeded
from predtui.decoding.speculative import Speculative
from predtui.errors import PredtuiError
from predtui.llm.base import LoadedModel, Preempted
from predtui.llm.load import load
from predtui.llm.scripted import ScriptedModel
from predtui.llm.torch.fixed import FixedModel
from predtui.llm.torch.tree import TorchTreeModel
from predtui.llm.windows import CELLS, SINKS, Window
from tests.laws.test_lossless import differs_by_near_tie
from tests.tiny_gguf import write

LONG, SMALL = 32_768, 64


def no_end(token: int) -> bool:
    return False


def network(context: int) -> Any:
    """In the published layout of Llama, of random weights."""
    torch.manual_seed(1)
    sizes = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 2}
    return LlamaForCausalLM(LlamaConfig(vocab_size=64, max_position_embeddings=context, initializer_range=0.5, **sizes))


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LoadedModel]:
    loaded = load(str(write(tmp_path_factory.mktemp("window") / "model.gguf")), threads=1)
    yield loaded
    loaded.model.close()


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(1, 90), st.integers(0, 3)), max_size=12), st.integers(1, 9))
def test_what_is_seen_is_the_first_and_the_latest_tokens(steps: list[tuple[int, int, int]], last: int) -> None:
    """After any contexts, each of which goes back and on, or is another one."""
    model, context = ScriptedModel(1, context=4096), [7] * 10
    window = model.window(SMALL)
    for back, on, kind in steps:
        rng = random.Random(on)
        kept = [] if kind == 0 else context[: max(0, len(context) - back)]
        context = [*kept, *rng.choices(range(4, 60), k=on + 10)]
        rows = window.forward(context, last)
        held = window._held
        assert SINKS + last <= len(held) <= SMALL or len(held) == len(context)
        assert held == [*context[:SINKS], *context[len(context) - len(held) + SINKS :]]
        assert np.array_equal(rows.logits, model.looked_at(held, last))


@given(st.integers(0, 99), st.integers(1, 6))
@settings(max_examples=8, deadline=None)
def test_a_window_that_is_not_full_says_what_the_model_says(seed: int, last: int) -> None:
    model = TorchTreeModel(network(256).eval(), 256)
    window = model.window(SMALL)
    tokens = random.Random(seed).choices(range(64), k=SMALL)
    window.forward(tokens[: SMALL // 2])
    assert np.allclose(window.forward(tokens, last).logits, model.forward(tokens, last).logits, atol=1e-3)


def test_memory_is_constant_over_a_context_of_32k_tokens() -> None:
    model = TorchTreeModel(network(LONG + 256).eval(), LONG + 256)
    window = model.window()
    token = 2 * 2 * 32 * 4  # bytes: keys and values of two layers, 32 wide
    context: list[int] = []
    taken = []
    for length in (100, CELLS, 3_000, LONG // 2, LONG):
        context += random.Random(length).choices(range(64), k=length - len(context))
        window.forward(context)
        taken.append(window.cells.bytes)
    for _ in range(200):
        context.append(int(window.forward(context)[-1].argmax()))
        taken.append(window.cells.bytes)
    assert taken[0] == 100 * token
    assert max(taken) <= CELLS * token
    assert min(taken[1:]) >= CELLS // 2 * token
    assert window.counters.tokens < 5 * CELLS


def test_llama_cpp_moves_its_window_and_holds_no_more(tiny: LoadedModel) -> None:
    window = tiny.model.window(SMALL)  # type: ignore[attr-defined]
    context = random.Random(1).choices(range(256), k=40)
    taken = []
    for _ in range(200):
        context.append(int(window.forward(context)[-1].argmax()))
        taken.append(window.cells.bytes)
    assert max(taken) <= taken[SMALL - 41] * 1.1
    assert window.counters.tokens <= 240


@pytest.mark.parametrize("opened", ["llama.cpp", "torch"])
def test_equals_plain_decoding_far_beyond_the_window(opened: str, tiny: LoadedModel) -> None:
    target = tiny if opened == "llama.cpp" else replace(tiny, model=TorchTreeModel(network(1024).eval(), 1024))
    window: Window = target.model.window(SMALL)  # type: ignore[attr-defined]
    drafter = Settled(window, Greedy(), no_end, TokenRecycling(window.vocab_size, branching=False), "triforce")
    decoder = Speculative(target.model, drafter, ExactMatch(Greedy()), Instrument(VirtualClock()))
    near_ties = 0
    for seed in range(3):
        context = random.Random(seed).choices(range(64), k=400)
        plain = list(generate(target.model, context, Greedy(), 60, no_end))
        near_ties += differs_by_near_tie(target, Greedy(), context, plain, list(decoder.generate(context, 60, no_end)))
        assert len(window._held) <= SMALL
    assert window.counters.forwards
    assert near_ties <= 1


@pytest.mark.parametrize("sampler", [Greedy(), Seeded(0.8, seed=3)])
def test_the_drafter_equals_plain_decoding_after_32k_tokens(sampler: Sampler) -> None:
    target = load("1", "scripted", context=LONG + 100)
    context = random.Random(5).choices(range(4, target.model.vocab_size), k=LONG)
    decoder = make_decoder("speculative", Parts(target, sampler, instrument=Instrument(VirtualClock())), "triforce")
    assert list(decoder.generate(context, 40, no_end)) == list(generate(target.model, context, sampler, 40, no_end))
    assert decoder.statistics.forwards


def test_what_was_given_up_is_gone_on_with() -> None:
    model = ScriptedModel(1)
    answers = iter([True, False])
    window = Window(model, model.window().cells, CELLS, lambda: next(answers))
    context = random.Random(5).choices(range(4, model.vocab_size), k=500)
    with pytest.raises(Preempted):
        window.forward(context)
    assert np.array_equal(window.forward(context).logits, model.forward(context).logits)
    assert window.counters.tokens == len(context)


def test_an_engine_without_windows_is_refused(tiny: LoadedModel) -> None:
    fixed = replace(tiny, model=FixedModel(network(256).eval(), 256, capture=None))
    with pytest.raises(PredtuiError, match=r"triforce needs an engine that opens another cache.*--drafter"):
        make_drafter("triforce", Parts(fixed, Greedy()))
    with pytest.raises(ValueError, match="at least"):
        ScriptedModel().window(8)
