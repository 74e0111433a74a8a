"""The ranking of a beam search, against all sequences there are."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui.asr.whisperflow.selection import BeamRanker, SuppressTokens, TokenSequence

VOCAB, END, LONGEST = 4, 3, 3


def table(seed: int) -> dict[tuple[int, ...], np.ndarray]:
    """Log-probabilities of what follows each beginning."""
    rng = np.random.default_rng(seed)
    beginnings = [tokens for length in range(LONGEST) for tokens in product(range(END), repeat=length)]
    rows = rng.standard_normal((len(beginnings), VOCAB)).astype(np.float32) * 2
    return dict(zip(beginnings, SuppressTokens(()).logprobs(rows), strict=True))


def searched(follows: dict[tuple[int, ...], np.ndarray], width: int) -> TokenSequence:
    ranker = BeamRanker(width, END, TokenSequence())
    for _ in range(LONGEST):
        sources = ranker.update(np.stack([follows[beam.tokens] for beam in ranker.beams]))
        assert len(sources) == len(ranker.beams) <= width
        sums = [beam.sum_logprob for beam in ranker.beams]
        assert sums == sorted(sums, reverse=True)
        if ranker.finished:
            break
    return ranker.best()


def total(follows: dict[tuple[int, ...], np.ndarray], tokens: tuple[int, ...]) -> float:
    return sum(float(follows[tokens[:place]][token]) for place, token in enumerate(tokens))


@given(st.integers(0, 2000))
def test_wide_enough_it_ends_when_nothing_likelier_can_come_and_takes_the_best_mean(seed: int) -> None:
    follows = table(seed)
    ended: dict[tuple[int, ...], float] = {}
    for length in range(LONGEST):
        ended |= {t: total(follows, (*t, END)) for t in follows if len(t) == length}
        if max(ended.values()) >= max(total(follows, t) for t in product(range(END), repeat=length + 1)):
            break
    found = searched(follows, 64)
    assert found.tokens == max(ended, key=lambda tokens: ended[tokens] / (len(tokens) + 1))
    assert found.sum_logprob == pytest.approx(ended[found.tokens], abs=1e-4)


@given(st.integers(0, 2000))
def test_one_beam_is_greedy(seed: int) -> None:
    follows, tokens = table(seed), ()
    while len(tokens) < LONGEST and int(follows[tokens].argmax()) != END:
        tokens = (*tokens, int(follows[tokens].argmax()))
    found = searched(follows, 1)
    assert found.tokens == tokens


@given(st.sets(st.integers(0, VOCAB - 1), max_size=VOCAB - 1), st.integers(0, 99))
def test_what_is_suppressed_is_never_likely_and_the_rest_stays(suppressed: set[int], seed: int) -> None:
    logits = np.random.default_rng(seed).standard_normal((2, VOCAB)).astype(np.float32)
    scores, plain = SuppressTokens(sorted(suppressed)).logprobs(logits), SuppressTokens(()).logprobs(logits)
    for token in range(VOCAB):
        expected = np.full(2, -np.inf) if token in suppressed else plain[:, token]
        assert np.array_equal(scores[:, token], expected)
    assert np.exp(plain).sum(-1) == pytest.approx(np.ones(2), abs=1e-5)
