"""DuoDecoding: its draft and its sequences; and a draft thread that dies or stalls."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predtui.clock import RealClock
from predtui.decoding.assembly import make_decoder
from predtui.decoding.autoregressive import generate
from predtui.decoding.base import Sampler
from predtui.decoding.costs.instrument import Instrument
from predtui.decoding.costs.iterations import Iteration
from predtui.decoding.duo import Duo, DuoOptions
from predtui.decoding.duo_draft import Request, draft, tokens_in
from predtui.decoding.parts import Parts
from predtui.decoding.sampler import Greedy, Seeded
from predtui.errors import PredtuiError
from predtui.llm.abilities import Abilities
from predtui.llm.load import load
from predtui.llm.rows import ArrayRows, Rows
from predtui.llm.scripted import ScriptedModel
from predtui.llm.sequences import SEQUENCES, OneByOne
from tests.tiny_gguf import write

PROMPT = [5, 9, 14]
samplers = st.just(Greedy()) | st.builds(Seeded, temperature=st.floats(0.3, 2.0), seed=st.integers(0, 99))


def no_end(token: int) -> bool:
    return False


def plain(seed: int, sampler: Sampler, limit: int) -> list[int]:
    return list(generate(ScriptedModel(seed), PROMPT, sampler, limit, no_end))


@given(samplers, st.integers(1, 20), st.integers(0, 5))
@settings(deadline=None)
def test_a_draft_spends_its_budget_on_sequences_that_begin_differently(
    sampler: Sampler, budget: int, count: int
) -> None:
    drafted = draft(OneByOne(ScriptedModel(2)), sampler, Request(PROMPT, budget, 0), count)
    assert tokens_in(drafted) == budget
    assert len({sequence[0] for sequence in drafted}) == len(drafted) <= SEQUENCES
    if count:
        assert len(drafted) == min(count, budget)
    for sequence in drafted:
        following = [*PROMPT, *sequence[:1]]
        rest = generate(ScriptedModel(2), following, sampler, len(sequence) - 1, no_end, position=1)
        assert sequence[1:] == list(rest)
    assert drafted[0] == plain(2, sampler, len(drafted[0]))


def test_doubt_opens_sequences_and_certainty_none() -> None:
    class Sure:
        def __init__(self, margin: float) -> None:
            self._margin = margin

        def forward_each(self, contexts: Sequence[Sequence[int]]) -> Rows:
            rows = np.zeros((len(contexts), 6), np.float32)
            rows[:, 3] = self._margin
            return ArrayRows(rows)

        def close(self) -> None:
            pass

    assert [s[0] for s in draft(Sure(9.0), Greedy(), Request([1], 6, 0))] == [3]
    assert [s[0] for s in draft(Sure(0.1), Greedy(), Request([1], 6, 0))] == [3, 0, 1, 2, 4]


@given(samplers, st.integers(0, 9), st.integers(0, 4), st.sampled_from([1, 2, 3]))
@settings(max_examples=30, deadline=None)
def test_any_budget_and_any_number_of_sequences_give_the_same_reply(
    sampler: Sampler, budget: int, count: int, draft_seed: int
) -> None:
    seen: list[Iteration] = []
    decoder = Duo(
        ScriptedModel(1),
        ScriptedModel(draft_seed),
        sampler,
        Instrument(RealClock()),
        DuoOptions(budget, count),
        seen.append,
    )
    for _ in range(2):
        assert list(decoder.generate(PROMPT, 40, no_end)) == plain(1, sampler, 40)
    assert "lost" not in decoder.statistics.note
    assert decoder.statistics.tokens == 80
    if draft_seed == 1:
        assert decoder.statistics.acceptance_rate == 1.0
        assert all(iteration.first for iteration in seen)
    decoder.close()


class Faulty(ScriptedModel):
    """A draft that, from its nth forward on, fails, or hangs until it is let go."""

    def __init__(self, after: int, stalls: bool) -> None:
        super().__init__(1)
        self.let_go = threading.Event()
        self._after, self._stalls = after, stalls

    def forward(self, tokens: Sequence[int], last: int = 1) -> Rows:
        self._after -= 1
        if self._after < 0 and self._stalls:
            self.let_go.wait(60)
        elif self._after < 0:
            raise RuntimeError("killed")
        return super().forward(tokens, last)


@pytest.mark.parametrize("after", [0, 1, 7, 20])
@pytest.mark.parametrize("stalls", [False, True])
def test_without_its_draft_a_reply_goes_on_and_the_statistics_say_so(after: int, stalls: bool) -> None:
    faulty = Faulty(after, stalls)
    decoder = Duo(ScriptedModel(1), faulty, Greedy(), Instrument(RealClock()), DuoOptions(budget=4, patience=0.2))
    assert list(decoder.generate(PROMPT, 40, no_end)) == plain(1, Greedy(), 40)
    assert "the draft is lost" in decoder.statistics.note
    faulty.let_go.set()
    assert list(decoder.generate(PROMPT, 40, no_end)) == plain(1, Greedy(), 40)
    decoder.close()


class Sharing(ScriptedModel):
    """Notes how many cores are left to others at each of its forwards."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.left, self.seen = 0, list[int]()

    @property
    def abilities(self) -> Abilities:
        return replace(super().abilities, shares=True)

    def forward(self, tokens: Sequence[int], last: int = 1) -> Rows:
        self.seen.append(self.left)
        return super().forward(tokens, last)

    def leave(self, cores: int) -> None:
        self.left += cores


def test_a_core_is_left_to_the_draft_while_it_is_at_work() -> None:
    target = Sharing(1)
    decoder = Duo(target, ScriptedModel(1), Greedy(), Instrument(RealClock()), DuoOptions(budget=4))
    assert list(decoder.generate(PROMPT, 20, no_end)) == plain(1, Greedy(), 20)
    assert set(target.seen) == {1}
    assert target.left == 0
    decoder.close()


def test_other_tokens_are_refused(tmp_path: Path) -> None:
    target, other = load("1", engine="scripted"), load(str(write(tmp_path / "tiny.gguf")), threads=1)
    with pytest.raises(PredtuiError, match="vocabularies differ"):
        make_decoder("duo", Parts(target, Greedy(), draft=other))
    with pytest.raises(PredtuiError, match="needs a draft model"):
        make_decoder("duo", Parts(target, Greedy()))
    other.model.close()
