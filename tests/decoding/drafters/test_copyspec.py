from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui.clock import VirtualClock
from predtui.decoding.accept import ExactMatch
from predtui.decoding.costs.instrument import Instrument
from predtui.decoding.drafters.copyspec import CopySpec
from predtui.decoding.sampler import Greedy
from predtui.decoding.speculative import Speculative
from predtui.llm.rows import ArrayRows, Rows
from predtui.llm.scripted import ScriptedModel

contexts = st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=40), min_size=1, max_size=4)


def copied(context: list[int], gamma: int, budget: int) -> list[int]:
    """By search: what follows the latest earlier place where the last ``gamma`` tokens stood."""
    for place in range(len(context) - 1, gamma - 1, -1):
        if context[place - gamma : place] == context[-gamma:]:
            return context[place : place + budget]
    return []


@given(contexts, st.integers(1, 4), st.integers(0, 8), st.integers(1, 40))
def test_what_followed_the_last_tokens_in_this_conversation_is_copied(
    said: list[list[int]], gamma: int, budget: int, at_once: int
) -> None:
    """However much of it comes at once, and whatever other conversations came before."""
    drafter = CopySpec(gamma)
    for context in said:
        drafter.reset()
        for end in (*range(1, len(context), at_once), len(context)):
            assert list(drafter.propose(context[:end], budget).tokens) == copied(context[:end], gamma, budget)


class Counting(CopySpec):
    steps = 0

    def _learn(self, token: int) -> None:
        self.steps += 1
        super()._learn(token)

    def _unlearn(self) -> None:
        self.steps += 1
        super()._unlearn()


@given(contexts, st.integers(1, 30))
def test_a_token_is_read_once_and_taken_back_at_most_once(said: list[list[int]], shared: int) -> None:
    """Work does not grow with what was said before: one step a token that is new, one for each that is left."""
    drafter, beginning = Counting(), list(range(shared))
    for context in said:
        drafter.reset()
        for end in range(shared, shared + len(context) + 1):
            drafter.propose([*beginning, *context][:end], 4)
    assert drafter.steps <= shared + 2 * sum(map(len, said))


class Reciting(ScriptedModel):
    """Goes on with a conversation as it is written down."""

    def __init__(self, conversation: list[int]) -> None:
        super().__init__()
        self._conversation = conversation

    def forward(self, tokens: Sequence[int], last: int = 1) -> Rows:
        self.counters.forwards += 1
        self.counters.tokens += last
        known = [*self._conversation, 0]
        says = [known[min(end, len(known) - 1)] for end in range(len(tokens) - last + 1, len(tokens) + 1)]
        return ArrayRows(9 * np.eye(256, dtype=np.float32)[says])


def test_a_reply_that_is_edited_takes_fewer_forwards_the_second_time() -> None:
    text = np.random.default_rng(0).permutation(200).tolist()
    edited = [*text[:60], 251, 252, *text[61:]]
    conversation = [253, *text, 254, *edited]
    model = Reciting(conversation)
    decoder = Speculative(model, CopySpec(), ExactMatch(Greedy()), Instrument(VirtualClock()))
    forwards = []
    for start, reply in ((1, text), (len(text) + 2, edited)):
        before = model.counters.forwards
        assert list(decoder.generate(conversation[:start], len(reply), lambda _: False)) == reply
        forwards.append(model.counters.forwards - before)
    assert forwards[0] == len(text)
    assert forwards[1] < forwards[0] / 3


def test_a_gamma_out_of_range_is_refused() -> None:
    with pytest.raises(ValueError, match="gamma"):
        CopySpec(0)
