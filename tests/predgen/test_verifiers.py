from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predtui.decoding.autoregressive import generate
from predtui.decoding.sampler import Greedy, Seeded
from predtui.errors import PredtuiError
from predtui.llm.base import common_prefix
from predtui.llm.load import load
from predtui.predgen.candidates import MOST_CANDIDATES
from predtui.predgen.verifiers import CandidateVerifier, make_verifier
from predtui.registry import VERIFIERS
from tests.curves import curve

PROMPT = [5, 9, 14, 30]


class Verified(NamedTuple):
    """What all forwards of a verification say together."""

    accepted: tuple[int, ...]
    next_token: int | None
    lossless: bool


def verified(
    verifier: CandidateVerifier, prompt: Sequence[int], candidate: Sequence[int], others: Sequence[Sequence[int]] = ()
) -> Verified:
    *partial, last = verifier.verify(prompt, [tuple(one) for one in (candidate, *others)])
    assert not last.more
    accepted: tuple[int, ...] = ()
    for forward in [*partial, last]:
        assert forward.context == (*prompt, *accepted)
        assert forward is last or (forward.more and forward.next_token is None and forward.accepted)
        accepted += forward.accepted
    return Verified(accepted, last.next_token, all(forward.lossless for forward in [*partial, last]))


@pytest.mark.parametrize("chooser", [Greedy(), Seeded(seed=5)])
def test_accepts_what_the_sampler_would_have_chosen_in_one_forward(chooser: Greedy | Seeded) -> None:
    loaded = load("4", engine="scripted")
    plain = list(generate(loaded.model, PROMPT, chooser, 10, loaded.tokenizer.is_end))
    verifier = make_verifier("greedy", loaded, chooser)
    assert len(plain) > 3
    for wrong in range(len(plain)):
        candidate = [*plain[:wrong], (plain[wrong] + 1) % 50 + 4, *plain[wrong + 1 :]]
        before = loaded.model.counters.forwards
        result = verified(verifier, PROMPT, candidate)
        assert loaded.model.counters.forwards == before + 1
        assert (result.accepted, result.next_token, result.lossless) == (tuple(plain[:wrong]), plain[wrong], True)


def test_nothing_to_verify_costs_the_forward_of_the_first_token() -> None:
    loaded = load("3", engine="scripted")
    result = verified(make_verifier("greedy", loaded, Greedy()), PROMPT, [])
    assert result.accepted == ()
    assert result.next_token == next(generate(loaded.model, PROMPT, Greedy(), 1, lambda t: False))


def test_nothing_follows_the_end_token() -> None:
    loaded = load("1", engine="scripted")
    reply = list(generate(loaded.model, PROMPT, Greedy(), 500, loaded.tokenizer.is_end))
    assert loaded.tokenizer.is_end(reply[-1])
    result = verified(make_verifier("greedy", loaded, Greedy()), PROMPT, reply)
    assert (result.accepted, result.next_token) == (tuple(reply), None)


def test_nothing_follows_the_end_token_of_a_candidate_that_no_tree_had_room_for() -> None:
    loaded = load("1", engine="scripted")
    reply = list(generate(loaded.model, PROMPT, Greedy(), 500, loaded.tokenizer.is_end))
    wrong = [[*reply[:-1], reply[-2] + shift] for shift in range(1, MOST_CANDIDATES + 2)]
    result = verified(make_verifier("greedy", loaded, Greedy()), PROMPT, wrong[0], [*wrong[1:], reply])
    assert (result.accepted, result.next_token) == (tuple(reply), None)


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(PredtuiError, match=", ".join(entry.choice for entry in VERIFIERS.values())):
        make_verifier("psychic", load("1", engine="scripted"), Greedy())


@pytest.mark.parametrize("k", [1, 2, 5])
def test_top_k_accepts_what_is_among_the_k_likeliest_and_says_whether_that_cost_the_guarantee(k: int) -> None:
    loaded = load("3", engine="scripted")
    verifier = make_verifier(f"top{k}", loaded, Greedy())
    for rank in range(7):
        row = loaded.model.forward(PROMPT).logits[-1]
        token = int((-row).argsort(kind="stable")[rank])
        result = verified(verifier, PROMPT, [token])
        assert result.accepted == ((token,) if rank < k else ())
        assert result.lossless == (rank == 0 or rank >= k)


def test_top_1_is_greedy() -> None:
    loaded = load("3", engine="scripted")
    plain = list(generate(loaded.model, PROMPT, Greedy(), 8, lambda token: False))
    for candidate in (plain, plain[:3], [*plain[:3], 40, 41], []):
        wanted = verified(make_verifier("greedy", loaded, Greedy()), PROMPT, candidate)
        assert verified(make_verifier("top1", loaded, Greedy()), PROMPT, candidate) == wanted


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=4), st.sampled_from([None, 0.0, 0.3, 1.0]))
@settings(max_examples=30, deadline=None)
def test_of_several_candidates_the_one_of_which_most_holds_is_kept(
    wrong: list[tuple[int, int]], more: float | None
) -> None:
    """Whatever wide forwards cost, which decides in how many of them it is verified."""
    loaded = load("4", engine="scripted")
    plain = list(generate(loaded.model, PROMPT, Greedy(), 10, lambda token: False))
    many = [[*plain[:at], (plain[at] + shift) % 50 + 4, *plain[at + 1 :]] for at, shift in wrong] or [[]]
    verifier = make_verifier("greedy", loaded, Greedy(), None if more is None else curve(1.0, more))
    before = loaded.model.counters.forwards
    result = verified(verifier, PROMPT, many[0], many[1:])
    held = max(common_prefix(plain, one) for one in many)
    assert plain[: len(result.accepted) + 1] == [*result.accepted, result.next_token]
    assert held - 1 <= len(result.accepted) <= held
    assert loaded.model.counters.forwards - before <= (1 if not more else max(1, held + 1))
