"""Every decoder with every drafter yields what autoregressive decoding yields, greedy and sampled, wherever it stops.

Speculative sampling, which when sampled yields another reply of the same distribution, is tested for that.
"""

from __future__ import annotations

import atexit
import itertools
import random
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predtui.decoding import datastore
from predtui.decoding.accept import RejectionSampling
from predtui.decoding.assembly import make_decoder
from predtui.decoding.autoregressive import generate
from predtui.decoding.base import Decoder, Probabilities, Sampler
from predtui.decoding.draft import Draft
from predtui.decoding.parts import Parts
from predtui.decoding.sampler import Greedy, Seeded
from predtui.llm.base import LoadedModel
from predtui.llm.load import load
from predtui.llm.rows import ArrayRow, ArrayRows, Logits
from predtui.llm.scripted import ScriptedModel
from predtui.registry import DECODERS, DRAFTERS
from tests.heads import heads_of
from tests.laws.test_lossless import differs_by_near_tie
from tests.tiny_gguf import write

LOSSLESS = sorted(name for name, entry in DECODERS.items() if entry.lossless)
EXACT = sorted(name for name, entry in DECODERS.items() if not entry.alters)
VOCABULARY = ScriptedModel().vocab_size

contexts = st.lists(st.integers(4, VOCABULARY - 1), min_size=1, max_size=30)
samplers = st.just(Greedy()) | st.builds(Seeded, temperature=st.floats(0.3, 2.0), seed=st.integers(0, 99))


def decoder_of(name: str, drafter: str, target: LoadedModel, draft: LoadedModel, sampler: Sampler) -> Decoder:
    return make_decoder(name, Parts(target, sampler, draft, store_of(target), heads_of(target)), drafter)


def store_of(target: LoadedModel, memo: dict[str, Path] = {}) -> Path:  # noqa: B006
    """A datastore of a few of the target's own replies, for the drafter that retrieves."""
    vocabulary = datastore.fingerprint(target)
    if vocabulary not in memo:
        prompts = [random.Random(seed).choices(range(4, target.model.vocab_size), k=5) for seed in range(8)]
        replies = [[*prompt, *generate(target.model, prompt, Greedy(), 30, no_end)] for prompt in prompts]
        memo[vocabulary] = Path(mkdtemp(prefix="predtui-datastore"))
        atexit.register(shutil.rmtree, memo[vocabulary], ignore_errors=True)
        datastore.write(datastore.build(replies, vocabulary), memo[vocabulary])
    return memo[vocabulary]


def no_end(token: int) -> bool:
    return False


@pytest.mark.parametrize("drafter", sorted(DRAFTERS))
@pytest.mark.parametrize("name", LOSSLESS)
@given(data=st.data())
@settings(max_examples=25, deadline=None)
def test_yields_what_autoregressive_decoding_yields(name: str, drafter: str, data: st.DataObject) -> None:
    sampler = data.draw(samplers)
    target = load("1", engine="scripted", context=60)
    decoder = decoder_of(name, drafter, target, load(data.draw(st.sampled_from("12")), engine="scripted"), sampler)
    for _ in range(3):
        context, limit = data.draw(contexts), data.draw(st.integers(0, 50))
        position = data.draw(st.integers(0, len(context) - 1))
        plain = list(generate(target.model, context, sampler, limit, no_end, position=position))
        guess = data.draw(st.just([]) | st.just(plain) | st.just(plain[1:]) | contexts)
        end = data.draw(st.sampled_from([-1, *plain]))
        expected = list(generate(target.model, context, sampler, limit, end.__eq__, position=position))
        tokens = decoder.generate(context, limit, end.__eq__, position=position, guesses=[guess])
        wanted = data.draw(st.integers(0, 60))
        assert list(itertools.islice(tokens, wanted)) == expected[:wanted]
    decoder.close()


@pytest.mark.parametrize("name", EXACT)
def test_what_is_stale_stops_and_what_came_before_is_right(name: str) -> None:
    target = load("1", engine="scripted")
    decoder = decoder_of(name, "model", target, load("1", engine="scripted"), Greedy())
    plain = list(generate(target.model, [9, 8], Greedy(), 40, no_end))
    for questions in range(12):
        left = iter([False] * questions)
        tokens = list(decoder.generate([9, 8], 40, no_end, stale=lambda left=left: next(left, True)))  # type: ignore[misc]
        assert tokens == plain[: len(tokens)]
        assert len(tokens) >= min(questions, 1)
    decoder.close()


class Noisy:
    """Another distribution than the target's: a draft of few tokens, drawn and told honestly, or as a tree."""

    def __init__(self, sampler: Seeded, tree: bool) -> None:
        self._sampler, self._tree = sampler, tree

    def propose(self, context: Sequence[int], budget: int, position: int = 0) -> Draft:
        rows = [ArrayRow(np.sin(np.arange(6) * (position + i) + 1).astype(np.float32)) for i in range(3)]
        q = [self._sampler.probabilities(row) for row in rows]
        tokens = [self._sampler.choose(row, position + i) for i, row in enumerate(rows)]
        if not self._tree:
            return Draft(tuple(tokens), (), np.stack(q))
        rest: Probabilities = q[0].copy()
        rest[tokens[0]] = 0
        rest /= rest.sum()
        other = int(np.random.default_rng(self._sampler.seed).choice(6, p=rest))
        return Draft((tokens[0], other, tokens[1]), (-1, -1, 0), np.stack([q[0], rest, q[1]]))


@pytest.mark.parametrize("tree", [False, True])
@pytest.mark.parametrize("certain", [False, True])
def test_speculative_sampling_is_exact_in_distribution(tree: bool, certain: bool) -> None:
    """Chi-square over the pairs of first tokens of replies, vocabulary of six."""
    rng = np.random.default_rng(3)
    first, second = rng.normal(size=6).astype(np.float32), rng.normal(size=(6, 6)).astype(np.float32)
    draws = 12_000
    counts: Counter[tuple[int, int]] = Counter()
    for seed in range(draws):
        sampler = Seeded(1.3, seed=seed)
        counts[two_tokens(RejectionSampling(sampler), Noisy(sampler, tree), certain, first, second)] += 1
    chance = Seeded(1.3).probabilities
    p, after = chance(ArrayRow(first)), [chance(row) for row in ArrayRows(second)]
    expected = np.array([p[a] * after[a][b] * draws for a in range(6) for b in range(6)])
    seen = np.array([counts[a, b] for a in range(6) for b in range(6)])
    assert ((seen - expected) ** 2 / expected).sum() < 66.7  # 99.9 % of a chi-square of 35 degrees of freedom


def two_tokens(
    rule: RejectionSampling, drafter: Noisy, certain: bool, first: Logits, second: Logits
) -> tuple[int, int]:
    out: list[int] = []
    while len(out) < 2:
        draft = drafter.propose(out, 3, len(out))
        if certain:
            draft = Draft((1, 2, 3), draft.parents)
        row = second[out[0]] if out else first
        rows = ArrayRows(np.stack([row, *(second[token] for token in draft.tokens)]))
        path, token, _ = rule.walk(draft, rows, len(out))
        assert token is not None
        out += [*(draft.tokens[node] for node in path), token]
    return out[0], out[1]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[LoadedModel]]:
    folder: Path = tmp_path_factory.mktemp("decoders")
    models = [load(str(write(folder / f"{seed}.gguf", seed)), threads=1) for seed in (0, 1)]
    yield models
    for loaded in models:
        loaded.model.close()


@pytest.mark.parametrize("drafter", sorted(name for name, entry in DRAFTERS.items() if "soft" not in entry.needs))
@pytest.mark.parametrize("name", EXACT)
def test_greedy_on_llama_cpp(name: str, drafter: str, tiny: list[LoadedModel]) -> None:
    target, draft = tiny
    decoder, near_ties = decoder_of(name, drafter, target, draft, Greedy()), 0
    reply = partial(decoder.generate, limit=30, is_end=target.tokenizer.is_end)
    for trial in range(6):
        prompt = random.Random(trial).choices(range(256), k=20)
        plain = list(generate(target.model, prompt, Greedy(), 30, target.tokenizer.is_end))
        near_ties += differs_by_near_tie(target, Greedy(), prompt, plain, list(reply(prompt)))
    decoder.close()
    assert near_ties <= 1
