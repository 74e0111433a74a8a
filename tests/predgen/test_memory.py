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


@given(st.integers(1, 4), st.integers(0, 20))
def test_what_is_asked_for_again_and_again_stays(size: int, others: int) -> None:
    memory = Memory(size + 1)
    memory.keep([0], Held((7,)))
    for number in range(1, others + 1):
        memory.keep([number], Held((number,)))
        if number % size == 0:
            assert memory.get([0]) == Held((7,))
    assert len(memory.candidates()) == min(size, others) + 1
