"""Input-time speculation on a model that thinks commits, thoughts included, what plain decoding gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predtui.decoding.autoregressive import generate
from predtui.decoding.base import Sampler
from predtui.llm.base import LoadedModel
from predtui.llm.forcing import with_forced_endings
from predtui.llm.thinking import with_thinking
from predtui.llm.thoughts import divide
from predtui.registry import VERIFIERS
from tests import thinkers
from tests.laws.test_lossless import REPLY_LIMIT, Switches, histories, samplers, speculate, switches, words
from tests.thinkers import MARKS, Babbler, MarkTokenizer

TEMPLATES = {"think": thinkers.DISTILLED, "spelled": thinkers.QWEN3, "harmony": thinkers.HARMONY}
kinds, modes = st.sampled_from(sorted(TEMPLATES)), st.sampled_from(["off", "brief", "on"])


@cache
def thinker(kind: str, mode: str, seed: int) -> LoadedModel:
    tokenizer = MarkTokenizer(MARKS[kind])
    found = with_thinking(thinkers.loaded(TEMPLATES[kind], tokenizer, Babbler(tokenizer, seed)), mode, 12)
    return replace(found, model=with_forced_endings(found))


def answered(loaded: LoadedModel, reply: Sequence[int]) -> int:
    """Tokens of the answer: those behind the thoughts."""
    assert loaded.thinking is not None
    assert isinstance(loaded.tokenizer, MarkTokenizer)
    spell = MarkTokenizer(list(loaded.tokenizer._marks), defined=True).decode
    form, within = loaded.thinking.form, loaded.thinking.within
    parts = [divide(spell(reply[:count]), form, within) for count in range(len(reply) + 1)]
    if parts[-1].thinking:
        return 0
    return len(reply) - next(n for n, part in enumerate(parts) if part.thoughts == parts[-1].thoughts)


def plain_reply(loaded: LoadedModel, prompt: list[int], sampler: Sampler) -> list[int]:
    """As many tokens as a reply may have, of which no more than ``REPLY_LIMIT`` answer."""
    reply: list[int] = []
    for token in generate(loaded.model, prompt, sampler, REPLY_LIMIT + loaded.room_to_think, loaded.tokenizer.is_end):
        reply.append(token)
        if answered(loaded, reply) >= REPLY_LIMIT:
            break
    return reply


@pytest.mark.parametrize("verifier", [entry.choice for entry in VERIFIERS.values() if entry.lossless])
@given(kinds, modes, histories, words.map(" ".join), samplers, st.integers(0, 3), switches)
@settings(max_examples=30, deadline=None)
def test_commits_what_plain_decoding_gives(
    verifier: str,
    kind: str,
    mode: str,
    history: list[tuple[str, int | None, bool]],
    final: str,
    sampler: Sampler,
    seed: int,
    on: Switches,
) -> None:
    loaded = thinker(kind, mode, seed)
    speculator, prompt, steps = speculate(loaded, sampler, history, final, on, verifier)
    plain = plain_reply(loaded, prompt, sampler)
    assert list(steps[-1].tokens) == list(speculator.candidate) == plain
    assert steps[-1].ended
    assert all(step.lossless for step in steps)
    assert steps[-1].before == len(plain) - answered(loaded, plain)
