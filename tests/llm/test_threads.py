"""Threads for a forward: all cores that nobody else works on."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui.llm import threads
from predtui.llm.llamacpp.opening import open_model
from predtui.llm.threads import Cores, default_threads


class Machine:
    """So many cores, on which ``others`` work so much of the time."""

    def __init__(self, cores: int) -> None:
        self.cores, self.others, self.now, self.ours = cores, 0.0, 0.0, 0.0

    def passes(self, seconds: float) -> None:
        self.now += seconds
        self.ours += seconds * max(0.0, self.cores - self.others)


@given(st.integers(1, 16), st.integers(1, 16), st.floats(0.0, 20.0), st.floats(0.1, 60.0))
def test_a_core_is_left_to_whoever_works_on_it(cores: int, most: int, others: float, seconds: float) -> None:
    machine = Machine(cores)
    asked = Cores(most, lambda: machine.now, lambda: machine.ours)
    assert asked.threads == most, "nothing is known yet"
    machine.others = others
    machine.passes(seconds)
    assert 1 <= asked.threads <= most
    left = cores - asked.threads
    assert asked.threads in (1, most) or left - 0.6 <= others <= left + 0.4001
    machine.others = 0.0
    machine.passes(seconds)
    assert asked.threads == min(most, cores)


def test_what_is_measured_for_too_short_says_nothing() -> None:
    machine = Machine(2)
    asked = Cores(2, lambda: machine.now, lambda: machine.ours)
    machine.others = 2.0
    machine.passes(0.05)
    assert asked.threads == 2
    machine.passes(0.06)
    assert asked.threads == 1


def test_cores_for_other_work_of_the_process_are_left_at_once() -> None:
    machine = Machine(4)
    asked = Cores(4, lambda: machine.now, lambda: machine.ours)
    asked.leave(1)
    assert asked.threads == 3
    asked.leave(8)
    assert asked.threads == 1
    asked.leave(-9)
    assert asked.threads == 4


def test_what_has_ended_is_not_reckoned_with() -> None:
    machine = Machine(2)
    asked = Cores(2, lambda: machine.now, lambda: machine.ours)
    asked.leave(1)
    machine.others = 1.0
    machine.passes(1.0)
    assert asked.threads == 1
    asked.leave(-1)
    assert asked.threads == 2


def test_the_work_of_this_process_is_no_work_of_others() -> None:
    before, began = threads._idle_or_ours(), time.monotonic()
    while time.monotonic() - began < 0.3:
        pass
    had = threads._idle_or_ours() - before
    assert 0.0 < had <= (time.monotonic() - began + 0.05) * len(threads._allowed())


def test_threads_that_give_way_may_have_every_core(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "_allowed", lambda: {0, 1})
    monkeypatch.setattr("psutil.cpu_count", lambda logical: 2)
    assert (default_threads(10**9), default_threads(10**9, gives_way=True)) == (1, 2)
    assert default_threads(10**6, gives_way=True) == 1


def test_a_model_follows_the_machine_unless_threads_were_asked_for(
    tiny_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("predtui.llm.llamacpp.threads.llama_threads", lambda parameters: 3)
    for asked, follows in ((None, True), (3, False), (1, False)):
        model = open_model(tiny_path, asked)  # type: ignore[arg-type]
        first = model.forward([5, 6, 7]).logits
        model.leave(2)
        model.forget()
        np.testing.assert_array_equal(first, model.forward([5, 6, 7]).logits)
        assert model._working == (1 if follows else asked or 3)
        model.close()
