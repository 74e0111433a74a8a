from __future__ import annotations

import pytest

from predtui.decoding.autoregressive import generate
from predtui.decoding.sampler import Greedy, Seeded
from predtui.errors import PredtuiError
from predtui.llm.load import load
from predtui.predgen.verifiers import VERIFIERS, make_verifier

PROMPT = [5, 9, 14, 30]


@pytest.mark.parametrize("chooser", [Greedy(), Seeded(seed=4)])
def test_accepts_what_the_sampler_would_have_chosen_in_one_forward(chooser: Greedy | Seeded) -> None:
    loaded = load("3", engine="scripted")
    plain = list(generate(loaded.model, PROMPT, chooser, 10, lambda token: False))
    verifier = make_verifier("greedy", loaded, chooser)
    for wrong in range(10):
        candidate = [*plain[:wrong], (plain[wrong] + 1) % 50 + 4, *plain[wrong + 1 :]]
        before = loaded.model.counters.forwards
        result = verifier.verify(PROMPT, candidate)
        assert loaded.model.counters.forwards == before + 1
        assert (result.accepted, result.next_token, result.lossless) == (tuple(plain[:wrong]), plain[wrong], True)


def test_nothing_to_verify_costs_the_forward_of_the_first_token() -> None:
    loaded = load("3", engine="scripted")
    result = make_verifier("greedy", loaded, Greedy()).verify(PROMPT, [])
    assert result.accepted == ()
    assert result.next_token == next(generate(loaded.model, PROMPT, Greedy(), 1, lambda t: False))


def test_nothing_follows_the_end_token() -> None:
    loaded = load("1", engine="scripted")
    reply = list(generate(loaded.model, PROMPT, Greedy(), 500, loaded.tokenizer.is_end))
    assert loaded.tokenizer.is_end(reply[-1])
    result = make_verifier("greedy", loaded, Greedy()).verify(PROMPT, reply)
    assert (result.accepted, result.next_token) == (tuple(reply), None)


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(PredtuiError, match="greedy"):
        make_verifier("psychic", load("1", engine="scripted"), Greedy())
    assert "greedy" in VERIFIERS
