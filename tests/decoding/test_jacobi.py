"""Jacobi decoding yields what autoregressive decoding yields, in no more forwards."""

from __future__ import annotations

from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predtui.decoding.autoregressive import generate
from predtui.decoding.base import Sampler
from predtui.decoding.jacobi import Jacobi
from predtui.decoding.sampler import Greedy, Seeded
from predtui.lab.training.corpus.compose import heldout
from predtui.llm.load import load
from predtui.llm.scripted import ScriptedModel

PROMPT = [5, 9, 14]

samplers = st.just(Greedy()) | st.builds(Seeded, temperature=st.floats(0.3, 2.0), seed=st.integers(0, 99))
guesses = st.lists(st.integers(4, 40), max_size=40)


def no_end(token: int) -> bool:
    return False


def ends(token: int) -> bool:
    return token == 0


@given(st.integers(0, 9), samplers, guesses, st.integers(1, 20), st.integers(0, 40), st.integers(0, 9))
@settings(max_examples=75, deadline=None)
def test_yields_what_autoregressive_decoding_yields(
    seed: int, sampler: Sampler, guess: list[int], block: int, limit: int, position: int
) -> None:
    decoder = Jacobi(ScriptedModel(seed, context=30), sampler, block)
    tokens = list(decoder.generate(PROMPT, limit, ends, position=position, guesses=[guess]))
    plain = ScriptedModel(seed, context=30)
    assert tokens == list(generate(plain, PROMPT, sampler, limit, ends, position=position))
    assert decoder.statistics.tokens == len(tokens)
    assert decoder.statistics.forwards <= plain.counters.forwards


@given(samplers, st.integers(1, 20), st.integers(0, 12))
@settings(max_examples=50, deadline=None)
def test_a_right_guess_is_taken_a_block_at_a_time(sampler: Sampler, block: int, wrong: int) -> None:
    plain = list(generate(ScriptedModel(), PROMPT, sampler, 40, no_end))
    guess = [*plain[:wrong], 41 if plain[wrong] != 41 else 40]
    decoder = Jacobi(ScriptedModel(), sampler, block)
    assert list(islice(decoder.generate(PROMPT, 40, no_end, guesses=[guess]), wrong + 1)) == plain[: wrong + 1]
    assert decoder.statistics.forwards <= wrong // block + 1


def test_pays_for_guesses_alone() -> None:
    model = ScriptedModel()
    decoder = Jacobi(model, Greedy(), block=8)
    list(decoder.generate(PROMPT, 24, no_end))
    assert model.counters.forwards == decoder.statistics.forwards
    assert model.counters.tokens <= len(PROMPT) + 8 * decoder.statistics.forwards


def test_a_block_of_one_is_autoregressive() -> None:
    decoder = Jacobi(ScriptedModel(), Greedy(), block=1)
    tokens = list(decoder.generate(PROMPT, 12, no_end, guesses=[[7, 7, 7]]))
    assert (decoder.statistics.forwards, decoder.statistics.proposed, len(tokens)) == (12, 0, 12)


def test_stops_when_stale_and_asks_for_nothing_unasked() -> None:
    asked = iter([False, False, True])
    decoder = Jacobi(ScriptedModel(), Greedy(), block=4)
    assert len(list(decoder.generate(PROMPT, 30, no_end, stale=lambda: next(asked)))) >= 2
    assert decoder.statistics.forwards == 2
    model = ScriptedModel()
    stream = Jacobi(model, Greedy()).generate(PROMPT, 30, no_end)
    assert model.counters.forwards == 0
    next(stream)
    assert model.counters.forwards == 1


def test_a_block_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="block of 0"):
        Jacobi(ScriptedModel(), Greedy(), block=0)


def test_the_pocket_cllm_says_two_tokens_a_forward_and_what_it_says_one_by_one() -> None:
    loaded = load("pocket-cllm", threads=1)
    decoder = Jacobi(loaded.model, Greedy(), block=8, fill=loaded.pad)
    for example in heldout("slots", 12, seed=3):
        prompt = loaded.prompt_tokens(example.messages[:-1])
        at_once = list(decoder.generate(prompt, 96, loaded.tokenizer.is_end))
        assert at_once == list(generate(loaded.model, prompt, Greedy(), 96, loaded.tokenizer.is_end))
    assert decoder.statistics.tokens_per_forward > 1.7
