"""PEARL: the draft works while the target does, on a clock that counts its forwards; the reply is plain decoding's."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace

import pytest

from predtui.clock import RealClock
from predtui.decoding.autoregressive import generate
from predtui.decoding.base import Sampler
from predtui.decoding.costs.instrument import Instrument
from predtui.decoding.duo import Duo
from predtui.decoding.pearl import OPTIONS
from predtui.decoding.sampler import Greedy, Seeded
from predtui.llm.rows import Rows
from predtui.llm.scripted import ScriptedModel

PROMPT, LENGTH, LIMIT = [5, 9, 14], 4, 40
LONG = 20.0
"""Seconds after which a forward no longer waits for the other model's: only where they do not overlap."""


class Meeting:
    """A forward of the target ends when the draft has done ``LENGTH``, and these begin once that has begun."""

    def __init__(self) -> None:
        self.ticks = 0
        """The clock: forwards of the draft."""
        self.spans: list[tuple[int, int]] = []
        """Of each forward of the target, by that clock."""
        self.changed, self.inside = threading.Condition(), False

    def target(self) -> None:
        with self.changed:
            start, self.inside = self.ticks, True
            self.changed.notify_all()
            self.changed.wait_for(lambda: self.ticks >= start + LENGTH, LONG)
            self.inside = False
            self.spans.append((start, self.ticks))

    def draft(self) -> None:
        with self.changed:
            self.changed.wait_for(lambda: self.inside, LONG)
            self.ticks += 1
            self.changed.notify_all()


class Target(ScriptedModel):
    def __init__(self, meeting: Meeting) -> None:
        super().__init__(1)
        self._meeting = meeting

    def forward(self, tokens: Sequence[int], last: int = 1) -> Rows:
        self._meeting.target()
        return super().forward(tokens, last)


class Draft(ScriptedModel):
    def __init__(self, seed: int, meeting: Meeting) -> None:
        super().__init__(seed)
        self._meeting = meeting

    def forward(self, tokens: Sequence[int], last: int = 1) -> Rows:
        self._meeting.draft()
        return super().forward(tokens, last)


@pytest.mark.parametrize("sampler", [Greedy(), Seeded(0.9, seed=4)])
@pytest.mark.parametrize("seed", [1, 2])
def test_every_token_is_drafted_within_a_forward_of_the_target(seed: int, sampler: Sampler) -> None:
    meeting = Meeting()
    options = replace(OPTIONS, budget=LENGTH, patience=LONG)
    pearl = Duo(Target(meeting), Draft(seed, meeting), sampler, Instrument(RealClock()), options)
    reply = list(pearl.generate(PROMPT, LIMIT, lambda token: False))
    pearl.close()
    assert reply == list(generate(ScriptedModel(1), PROMPT, sampler, LIMIT, lambda token: False))
    assert meeting.spans == [(LENGTH * n, LENGTH * (n + 1)) for n in range(len(meeting.spans))]
    assert meeting.ticks == LENGTH * pearl.statistics.forwards
    if seed == 1:  # all is accepted: after the first token, which pre-verify judges, a forward brings a whole draft
        assert len(meeting.spans) <= 1 + -(-LIMIT // LENGTH)
