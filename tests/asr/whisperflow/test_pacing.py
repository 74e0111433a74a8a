"""Under load: at every speed of the machine words come within a bound, and none later than where one round is made at
the end of the sound alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predtui.asr.whisperflow.engine import FlowRecognizer
from predtui.asr.whisperflow.pacing import FAR_SECONDS, LONGEST_SECONDS, SHARE, Pacing
from predtui.asr.whisperflow.rounds import FlowOptions
from predtui.asr.whisperflow.stream import RATE
from predtui.clock import VirtualClock
from tests.asr.whisperflow.test_engine import FRAME, Done, Perfect, Sound, frames, speech

FRAME_SECONDS = FRAME / RATE
STEP, BUFFER, ROUNDS, WORD = 0.16, 10.0, 3, 0.3
ENCODED, WRITTEN = 0.3, 0.7
"""Shares of a round that are spent before its first forward, and in its forwards."""


@dataclass(frozen=True)
class Written(Done):
    """A job whose ten forwards take their time."""

    clock: VirtualClock
    seconds: float
    left: list[int]

    def step(self) -> bool:
        if self.left:
            self.left.pop()
            self.clock.advance(self.seconds)
        return not self.left

    def result(self):
        while not self.step():
            pass
        return self.words


class Machine(Perfect):
    """Hears perfectly, in ``cost(seconds)`` seconds with five hypotheses and 0.6 of that with one."""

    seconds = 15.0

    def __init__(self, clock: VirtualClock, speed: float) -> None:
        self._clock, self._speed = clock, speed

    def cost(self, sound: float) -> float:
        return self._speed * (sound + 1.0)

    def encode(self, samples, tail, pad_to=0) -> Sound:
        self._clock.advance(ENCODED * self.cost(len(samples) / RATE))
        return Sound(samples)

    def decode_job(self, encoded, prompt, reference, beam=5, pruning="forward") -> Written:
        words = super().decode_job(encoded, prompt, reference).words
        forward = WRITTEN * self.cost(len(encoded.samples) / RATE) * (1.0 if beam > 1 else 0.4) / 10
        return Written(words, self._clock, forward, list(range(10)))


@dataclass(frozen=True)
class Heard:
    """The delay of each word, in seconds after its end; of the final text, after the end of the sound."""

    words: list[float]
    text: str
    final: float


def heard(speed: float, count: int, gap: int = 0, known: bool = True) -> Heard:
    """``count`` words, with a pause after every ``gap`` of them, at ``speed`` seconds a second of sound; ``known``: the
    machine was measured before."""
    clock = VirtualClock()
    machine = Machine(clock, speed)
    options = FlowOptions(STEP, BUFFER, ROUNDS, settled=0.4, measured=machine.cost(0.5) if known else 0.0)
    recognizer = FlowRecognizer(machine, options, clock.now)
    now, ends, stable = 0.0, list[float](), list[float]()
    sound = frames(speech(count))
    over = len(sound) * FRAME_SECONDS + (0.5 * ((count - 1) // gap) if gap else 0.0)
    recognizer.overtaken = lambda: clock.now() >= over

    def note(text: str) -> None:
        stable.extend([clock.now()] * (len(text.split()) - len(stable)))

    per_word = round(WORD / FRAME_SECONDS)
    for index, frame in enumerate(sound):
        if gap and index and index % (gap * per_word) == 0:
            clock.advance(max(0.0, now - clock.now()))
            told = recognizer.feed(b"", False)
            note(told.stable if told else "")
            now += 0.5
        now += FRAME_SECONDS
        if (index + 1) % per_word == 0:
            ends.append(now)
        clock.advance(max(0.0, now - clock.now()))
        told = recognizer.feed(frame, True)
        note(told.stable if told else "")
    final = recognizer.finish().stable
    note(final)
    return Heard([at - end for at, end in zip(stable, ends, strict=True)], final, clock.now() - now)


def offline(speed: float, count: int) -> float:
    """Seconds after the end of the sound at which one round over all of it is done."""
    return speed * (count * WORD + 1.0)


speeds = st.floats(-3, 1.5).map(lambda power: 10.0**power)


@settings(max_examples=60, deadline=None)
@given(speed=speeds, count=st.integers(1, 30), gap=st.integers(0, 8))
def test_no_word_is_later_than_by_one_round_at_the_end_at_any_speed(speed: float, count: int, gap: int) -> None:
    """But for what is left of a round that pays, which was begun before the end came."""
    found = heard(speed, count, gap)
    assert found.text.split() == [f"w{number}" for number in range(1, count + 1)]
    assert found.final <= offline(speed, count) + LONGEST_SECONDS + 1e-6


@settings(max_examples=12, deadline=None)
@given(speed=st.floats(-3, -1.05).map(lambda power: 10.0**power), minutes=st.floats(0.2, 0.6))
def test_delays_are_bounded_however_long_one_speaks_where_rounds_keep_up(speed: float, minutes: float) -> None:
    """A machine that hears a full buffer in a second: a word waits for two rounds, each with its step."""
    found = heard(speed, round(minutes * 60 / WORD), gap=20)
    bound = 3 * (STEP + LONGEST_SECONDS + LONGEST_SECONDS / SHARE) + 0.4
    assert max(found.words) <= bound


@settings(max_examples=30, deadline=None)
@given(speed=st.floats(-1, -0.5).map(lambda power: 10.0**power), minutes=st.floats(0.2, 1.0))
def test_delays_are_bounded_by_the_buffer_where_they_do_not(speed: float, minutes: float) -> None:
    """It is full at the latest after its length, and then takes one round."""
    found = heard(speed, round(minutes * 60 / WORD))
    assert max(found.words) <= 2 * (BUFFER + speed * (BUFFER + 2.0)) + 1.0
    assert len(found.text.split()) == round(minutes * 60 / WORD)


@pytest.mark.parametrize("speed", [0.003, 0.03, 0.3, 3.0])
def test_a_machine_that_was_never_measured_is_known_after_two_rounds(speed: float) -> None:
    found = heard(speed, 20, known=False)
    assert found.final <= 2 * offline(speed, 20) + LONGEST_SECONDS


@given(st.lists(st.tuples(st.floats(0.1, 15.0), st.floats(0.0, 60.0)), max_size=20), st.floats(0.01, 2.0))
def test_rounds_take_half_of_the_time_at_most(taken: list[tuple[float, float]], step: float) -> None:
    pacing = Pacing(step, 5, 3)
    for sound, seconds in taken:
        pacing.took(sound, seconds)
        assert pacing.step >= max(step, seconds / SHARE)
        assert pacing.beam == 1 or seconds <= FAR_SECONDS
    pacing.start()
    assert (pacing.step, pacing.beam) == (step, 5)


def test_one_moment_of_load_does_not_end_the_rounds_and_two_do() -> None:
    pacing = Pacing(0.16, 5, 3, measured=0.02)
    pacing.took(2.0, 5.0)
    assert pacing.pays(5.0)
    pacing.took(2.5, 5.0)
    assert not pacing.pays(5.0)
    assert pacing.agreeing(5.0, full=True) == 1
    assert pacing.agreeing(5.0, full=False) == 2
    pacing.took(3.0, 0.03)
    assert pacing.pays(5.0)
    assert pacing.agreeing(5.0, full=True) == 3


def test_rounds_far_apart_agree_sooner() -> None:
    pacing = Pacing(0.16, 5, 3)
    pacing.took(2.0, FAR_SECONDS)
    assert pacing.agreeing(2.0, full=False) == 2
    assert Pacing(FAR_SECONDS, 5, 3).agreeing(1.0, full=True) == 2
    assert np.isclose(pacing.step, FAR_SECONDS / SHARE)


@given(st.floats(0.1, 30.0), st.floats(0.01, 10.0))
def test_a_round_over_a_padded_sound_takes_as_long_whatever_its_length(sound: float, seconds: float) -> None:
    pacing = Pacing(0.16, 5, 3, measured=seconds, padded=30.0)
    assert pacing.pays(sound) == (seconds <= LONGEST_SECONDS)
    pacing.took(0.2, seconds)
    assert pacing.pays(sound) == (seconds <= LONGEST_SECONDS)
