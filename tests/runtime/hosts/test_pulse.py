"""A stage that hangs is told of, and ended, in time; one that is slow, or whose machine is, is left alone."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui.runtime.hosts.beats import BEAT_S, Beat, Beats, Heart
from predtui.runtime.hosts.pulse import (
    DEAD_S,
    LARGE_S,
    LOADING_S,
    OPENING_S,
    QUIET_S,
    SILENT_S,
    STEP_S,
    TICK_S,
    Health,
    Pulse,
    Vitals,
)

TOLD_S, ENDED_S = 2.0, 8.0
"""Seconds in which a hang is to be told, and ended, so that it is over within ten."""


class Watched:
    """A process that is looked at every ``TICK_S``; by default it beats and is idle."""

    def __init__(self, patience: float = 1.0) -> None:
        self.now = 0.0
        self.pulse = Pulse(self.now, patience)
        self.beat = Beat(1, 1, "idle")
        self.beats = True
        self.vitals = Vitals()
        self.used = self.waited = 0.0
        """Parts of the time that it uses a processor, and waits for one."""
        self.asked = 0

    def look(self, passed: float = TICK_S) -> Health:
        self.now += passed
        if self.beats:
            self.beat = Beat(self.beat.count + 1, self.beat.steps, self.beat.doing, self.beat.allowed)
        seen = self.vitals
        self.vitals = Vitals(seen.state, seen.used + self.used * passed, seen.waited + self.waited * passed)
        return self.pulse.look(self.now, self.beat, self._ask)

    def step(self, doing: str, allowed: float = 0.0) -> None:
        self.beat = Beat(self.beat.count, self.beat.steps + 1, doing, allowed)

    def stay(self, seconds: float) -> list[tuple[float, Health]]:
        """When its health changed, and to what."""
        began, seen, last = self.now, [], "well"
        while self.now - began < seconds:
            health = self.look()
            if health != last:
                seen.append((self.now - began, health))
            last = health
        return seen

    def open(self) -> None:
        self.step("idle")
        self.look()

    def _ask(self) -> Vitals:
        self.asked += 1
        return self.vitals


@pytest.fixture
def watched() -> Watched:
    made = Watched()
    made.open()
    return made


def silent(watched: Watched) -> None:
    watched.beats = False


def stopped(watched: Watched) -> None:
    watched.beats, watched.vitals = False, Vitals("stopped")


def endless(watched: Watched) -> None:
    watched.step("working")
    watched.used = 1.0


def blocked(watched: Watched) -> None:
    watched.step("working")


def seized(watched: Watched) -> None:
    """A C call holds the interpreter, and computes for ever."""
    watched.step("working")
    watched.beats, watched.used = False, 1.0


@pytest.mark.parametrize("hang", [silent, stopped, endless, blocked, seized])
def test_a_hang_is_told_and_then_ended_in_time(watched: Watched, hang: Callable[[Watched], None]) -> None:
    hang(watched)
    (told, first), (ended, last) = watched.stay(20.0)
    assert (first, last) == ("silent", "slow" if hang in (endless, blocked, seized) else "dead")
    assert told <= TOLD_S
    assert SILENT_S < ended <= ENDED_S


def test_one_that_is_stopped_while_it_starts_is_ended_too() -> None:
    watched = Watched()
    watched.beat, watched.beats, watched.vitals = Beat(), False, Vitals("stopped")
    assert [health for _, health in watched.stay(20.0)] == ["silent", "dead"]


@given(st.floats(0.0, DEAD_S - 2 * TICK_S - BEAT_S), st.sampled_from(["idle", "working"]))
def test_one_that_goes_on_is_well_again(seconds: float, doing: str) -> None:
    watched = Watched()
    watched.open()
    watched.step(doing)
    stopped(watched)
    watched.stay(seconds)
    watched.beats, watched.vitals = True, Vitals()
    watched.step("idle")
    assert watched.stay(5.0) == []


@given(st.lists(st.floats(0.0, 10_000.0), max_size=20))
def test_time_in_which_nobody_looked_does_not_count(pauses: list[float]) -> None:
    """The app was stopped, or the laptop slept: its first look comes before the next beat."""
    watched = Watched()
    watched.open()
    for pause in pauses:
        watched.step("working")
        watched.beats = False
        assert watched.look(pause) == "well"
        watched.beats = True
        watched.step("idle")
        assert watched.look() == "well"


@given(st.integers(2, 50), st.booleans())
def test_a_busy_machine_ends_nobody(load: int, beats: bool) -> None:
    """Among ``load`` others it gets its share, and waits for the rest of the time; a step of two seconds takes long."""
    watched = Watched()
    watched.open()
    watched.step("working")
    watched.beats, watched.used, watched.waited = beats, 1 / load, 1 - 1 / load
    assert not {"slow", "dead"} & {health for _, health in watched.stay(2.0 * load)}


@pytest.mark.parametrize("doing", ["opening", "idle", "working"])
def test_what_waits_for_a_disk_or_a_debugger_is_left_alone(doing: str) -> None:
    watched = Watched()
    watched.step(doing)
    watched.look()
    watched.beats, watched.vitals = False, Vitals("held")
    assert not {"slow", "dead"} & {health for _, health in watched.stay(600.0)}


def test_loading_may_take_long_while_it_computes_and_less_long_while_it_does_not() -> None:
    for used, limit in ((1.0, LOADING_S), (0.0, OPENING_S)):
        watched = Watched()
        watched.step("opening")
        watched.used = used
        ((ended, health),) = watched.stay(2 * limit)
        assert health == "slow"
        assert limit <= ended <= limit + 2.0


def test_an_import_that_keeps_the_interpreter_is_no_hang() -> None:
    watched = Watched()
    watched.step("opening")
    watched.look()
    watched.beats, watched.used = False, 0.7
    assert watched.stay(30.0) == []


@given(st.floats(0.0, 60.0), st.floats(1.0, 8.0))
def test_a_step_takes_what_it_may(allowed: float, patience: float) -> None:
    watched = Watched(patience)
    watched.open()
    watched.step("working", allowed)
    watched.used = 1.0
    changes = watched.stay(patience * (STEP_S + allowed + TICK_S) + 2.0)
    assert [health for _, health in changes] == ["silent", "slow"]
    assert changes[1][0] >= patience * (STEP_S + allowed)


def test_a_slow_stage_is_known_by_its_former_steps(watched: Watched) -> None:
    for seconds in (4.0, 8.0, 16.0, 32.0):
        watched.step("working")
        changes = watched.stay(seconds)
        watched.step("idle")
        watched.look()
        assert not {"slow", "dead"} & {health for _, health in changes}
    watched.step("working")
    assert watched.stay(32.0) == []


@given(st.floats(0.0, 500.0))
def test_one_that_took_long_to_open_is_large(loading: float) -> None:
    watched = Watched()
    watched.step("opening")
    watched.used = 1.0
    watched.stay(loading)
    watched.step("working")
    changes = watched.stay(STEP_S + min(loading, LARGE_S) - TICK_S)
    assert not {"slow", "dead"} & {health for _, health in changes}
    watched.stay(loading + 2.0)
    assert watched.look() == "slow"


def test_an_idle_stage_may_be_so_for_ever_and_is_not_looked_at(watched: Watched) -> None:
    assert watched.stay(10_000.0) == []
    assert watched.asked == 0


def test_the_process_is_looked_at_only_while_nothing_is_heard(watched: Watched) -> None:
    for _ in range(100):
        watched.step("working")
        watched.look()
    assert watched.asked == 0
    watched.stay(QUIET_S + 2 * TICK_S)
    assert watched.asked > 0


def test_a_heart_is_read_by_another() -> None:
    beats = Beats()
    heart, other = Heart(Beats(beats.file), beats.place()), beats.place()
    assert beats.read(1) == Beat()
    heart.step()
    heart.turn_to("working")
    heart.allow(2.5)
    assert beats.read(1) == Beat(0, 2, "working", 2.5)
    assert beats.read(other) == Beat()
