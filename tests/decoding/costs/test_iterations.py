"""Duo's iterations: what is measured of them, and what is told."""

from __future__ import annotations

import numpy as np

from predtui.clock import VirtualClock
from predtui.decoding.costs.budget import Budget
from predtui.decoding.costs.constants import DUO_ALONE
from predtui.decoding.costs.instrument import Instrument
from predtui.decoding.costs.iterations import Iteration, Iterations
from predtui.decoding.costs.spans import DRAFT
from predtui.decoding.draft import Draft, Verification
from predtui.decoding.duo_draft import Drafted
from predtui.llm.rows import ArrayRows


def verification(tokens: tuple[int, ...], accepted: int, following: int) -> Verification:
    rows = ArrayRows(np.zeros((len(tokens) + 1, 9), np.float32))
    return Verification((5,), Draft(tokens), tuple(range(accepted)), following, True, rows)


def test_an_iteration_is_told_with_all_its_times() -> None:
    told: list[Iteration] = []
    instrument = Instrument(VirtualClock())
    iterations = Iterations(instrument, Budget(4), told.append)
    iterations.begin()
    instrument.seconds = 2.0
    one = verification((7, 8), 2, 9)
    iterations.verified(one, beside=True)
    iterations.followed(one, Drafted([[6, 1], [9, 2, 3]], 1.0, 4.0, waited=0.5))
    assert told == [Iteration(2.5, 2.0, 3.0, 3, 2, False)]
    assert [(span.worker, span.start, span.end) for span in instrument.spans.take(over=True)] == [(DRAFT, 1.0, 4.0)]


def test_the_first_of_a_reply_reads_the_prompt_and_says_nothing_of_the_target() -> None:
    """Were its hundred seconds taken for the target's, drafts would be thought to be worth it."""
    instrument = Instrument(VirtualClock())
    iterations = Iterations(instrument, Budget(), lambda iteration: None)
    for _ in range(DUO_ALONE + 40):
        iterations.begin()
        for number in range(3):
            beside = iterations.budget() > 0
            one = verification((), 0, 9)
            instrument.seconds = 1.0 if number else 100.0
            iterations.verified(one, beside)
            if beside:
                iterations.followed(one, Drafted([[4] * 8], 0.0, 8.0))
    assert iterations.note == "drafting is off: the target alone is as fast here"
