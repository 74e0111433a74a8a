"""The cap on what drafting holds: no grant goes beyond it, and what is granted is kept, by measure."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predtui.decoding.assembly import DecodingOptions, assemble, make_drafter
from predtui.decoding.autoregressive import generate
from predtui.decoding.base import Drafter
from predtui.decoding.draft import Draft, Verification
from predtui.decoding.drafters import auto, copyspec, recycling, stand, suffix
from predtui.decoding.drafters.auto import Auto
from predtui.decoding.memory import MB, Allowance, newest
from predtui.decoding.parts import Parts
from predtui.decoding.sampler import Greedy
from predtui.errors import PredtuiError
from predtui.llm.load import load
from predtui.llm.rows import ArrayRows
from tests.tiny_gguf import write

VOCABULARY = 4_000
TABLES: dict[str, Callable[[Parts], Drafter]] = {
    "suffix": suffix.make,
    "copyspec": copyspec.make,
    "recycling": recycling.make,
    "stand": stand.make,
}


@given(st.integers(0, 10**6), st.lists(st.tuples(st.booleans(), st.integers(0, 10**5), st.integers(1, 20))))
def test_never_more_is_granted_than_there_is(cap: int, asked: list[tuple[bool, int, int]]) -> None:
    memory, granted = Allowance(cap), 0
    for fixed, size, sharing in asked:
        memory.sharing = sharing
        left = cap - granted
        try:
            if fixed:
                memory.fixed("it", size)
                granted += size
            else:
                got = memory.table("it", size, size // 2)
                assert size // 2 <= got <= min(size, left // sharing)
                granted += got
        except PredtuiError:
            assert size > left if fixed else size // 2 > left // sharing
        assert memory.left == cap - granted >= 0


def test_without_a_cap_everything_is_granted() -> None:
    memory = Allowance()
    memory.fixed("it", 10**15)
    assert memory.table("it", 10**15, 10**15) == 10**15


@given(st.dictionaries(st.integers(), st.integers()), st.integers(0, 9))
def test_what_came_last_stays(table: dict[int, int], count: int) -> None:
    assert list(newest(table, count).items()) == (list(table.items())[-count:] if count else [])


def told(drafter: Drafter, context: list[int], rng: np.random.Generator) -> None:
    """A reply of 40 tokens to ``context``, token by token, of which the last few rows of logits are seen."""
    drafter.reset()
    for count in range(40, 0, -4):
        known = context[: len(context) - count]
        drafter.propose(known, 8, 40 - count)
        rows = ArrayRows(rng.random((5, VOCABULARY), np.float32))
        drafted = Draft(tuple(context[-count : len(context) - count + 4]))
        drafter.observe(Verification(tuple(known), drafted, (0, 1, 2, 3), 1, True, rows))


@pytest.mark.parametrize("name", TABLES)
@given(st.integers(300, 1_500), st.integers(0, 99))
@settings(max_examples=5, deadline=None)
def test_what_is_granted_is_kept(name: str, cap_kb: int, seed: int) -> None:
    """Whatever is told: random tokens, of which no n-gram comes twice, are the worst there is."""
    rng, cap = np.random.default_rng(seed), 1_000 * cap_kb
    target = load("1", engine="scripted", context=8_000)
    told_before = [rng.integers(300, VOCABULARY, 6_000).tolist() for _ in range(2)]
    tracemalloc.start()
    try:
        drafter = TABLES[name](Parts(target, Greedy(), memory=Allowance(cap)))
        before = tracemalloc.get_traced_memory()[0]
        highest = before
        for context in told_before:
            for end in range(500, len(context), 900):
                told(drafter, context[:end], rng)
                highest = max(highest, tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    assert highest - before <= cap


@given(st.integers(256, 2_000), st.lists(st.integers(0, 3), min_size=30, max_size=3_000))
@settings(max_examples=20, deadline=None)
def test_a_conversation_that_is_too_long_is_looked_up_at_its_end(most: int, said: list[int]) -> None:
    """What is found in the latest tokens, within a half of what is remembered, is found as if all were."""
    short, whole = copyspec.CopySpec(most=most), copyspec.CopySpec()
    for end in range(1, len(said), 7):
        found, best = short.propose(said[:end], 5).tokens, whole.propose(said[:end], 5).tokens
        assert len(short._tokens) <= most
        seen = end if end <= most else most // 2
        if best in {tuple(said[at : at + 5][: len(best)]) for at in range(end - seen + copyspec.GAMMA, end)}:
            assert found == best


def test_a_draft_model_that_is_too_large_is_refused_before_it_is_loaded(tmp_path: Path) -> None:
    path, target = str(write(tmp_path / "tiny.gguf")), load(str(write(tmp_path / "target.gguf")))
    with pytest.raises(PredtuiError, match="MB is left for it") as refused:
        assemble(DecodingOptions("speculative", "model", path, memory=1), target, Greedy())
    assert "--draft-memory" in refused.value.remedy
    assemble(DecodingOptions("speculative", "model", path, memory=500), target, Greedy()).close()


@pytest.mark.parametrize("megabytes", [1, 4, 64])
def test_auto_does_with_what_fits(megabytes: int) -> None:
    """All of its arms together hold no more than the cap, and the reply is plain decoding's."""
    target = load()
    options = DecodingOptions("speculative", "auto", memory=megabytes)
    prompt = target.tokenizer.encode("what is the capital of france and what is the capital of spain")
    plain = list(generate(target.model, prompt, Greedy(), 40, target.tokenizer.is_end))
    assembly = assemble(options, target, Greedy())
    try:
        assert (assembly.draft is None) == (megabytes < 9)
        assert list(assembly.decoder.generate(prompt, 40, target.tokenizer.is_end)) == plain
    finally:
        assembly.close()
        target.model.close()


@pytest.mark.parametrize("megabytes", [1, 3, 30])
def test_the_arms_of_auto_share_the_cap(megabytes: int) -> None:
    target = load("1", engine="scripted")
    memory = Allowance(megabytes * MB)
    made = make_drafter(auto.NAME, Parts(target, Greedy(), memory=memory))
    assert isinstance(made, Auto)
    learning = {arm.name for arm in made.arms} & TABLES.keys()
    assert learning >= ({"copyspec", "recycling"} if megabytes == 1 else TABLES.keys())
    assert memory.left is not None
    assert memory.left >= 0
