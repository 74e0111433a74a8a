"""Candidates by prompt: the newest are kept, taken once, and a memory of none keeps none."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from predtui.predgen.memory import Held, Memory

prompts = st.lists(st.integers(0, 5), max_size=12)


@given(prompts, st.integers(-1, 4))
def test_the_newest_candidates_are_kept(said: list[int], size: int) -> None:
    memory = Memory(size)
    for number, prompt in enumerate(said):
        memory.keep([prompt], Held((number,)))
    newest = list(dict.fromkeys(reversed(said)))[: max(0, size)]
    last = {prompt: number for number, prompt in enumerate(said)}
    assert memory.candidates() == [(last[prompt],) for prompt in newest]
    for prompt in newest:
        assert memory.get([prompt]) == memory.take([prompt]) == Held((last[prompt],))
        assert memory.take([prompt]) is None
