"""Playback: in order, exact to the sample when stopped, silent when empty."""

from __future__ import annotations

import numpy as np
import pytest

from predtui.audio.playback import Loudspeaker, NullLoudspeaker
from predtui.audio.resample import to_pcm
from predtui.clock import VirtualClock
from predtui.errors import PredtuiError
from tests.audio.fake_sounddevice import FakeSound
from tests.audio.sounds import tone

RATE = 22050
SECOND = to_pcm(tone(300, 1.0, RATE))


def test_order_and_underrun(sound: FakeSound) -> None:
    loudspeaker = Loudspeaker()
    loudspeaker.write(SECOND[:1000], RATE)
    loudspeaker.write(SECOND[1000:2000], RATE)
    device = sound.streams[0]
    assert not loudspeaker.started
    assert device.take(400) == SECOND[:800]
    assert loudspeaker.started
    assert device.take(1000) == SECOND[800:2000] + bytes(800)
    assert loudspeaker.played == 1000 / RATE, "silence in between does not count"
    assert loudspeaker.waiting == 0
    loudspeaker.write(SECOND[:10], RATE)
    assert device.take(5) == SECOND[:10]


@pytest.mark.parametrize("taken", [1, 777, 22050 - 3])
def test_stop_is_exact(sound: FakeSound, taken: int) -> None:
    loudspeaker = Loudspeaker()
    loudspeaker.write(SECOND, RATE)
    device = sound.streams[0]
    device.take(taken)
    seconds = loudspeaker.stop()
    fade = min(110, RATE - taken)
    assert seconds == (taken + fade) / RATE
    tail = np.frombuffer(device.take(1000), dtype="<i2")
    before = np.frombuffer(SECOND, dtype="<i2")[taken : taken + fade]
    assert np.all(np.abs(tail[:fade]) <= np.abs(before))
    assert np.all(np.abs(np.diff(np.concatenate([before[:1], tail]).astype(int))) < 1500), "no click"
    assert not tail[fade:].any()
    assert loudspeaker.played == seconds


def test_a_new_reply_counts_from_its_first_sample(sound: FakeSound) -> None:
    loudspeaker = Loudspeaker()
    loudspeaker.write(SECOND, RATE)
    device = sound.streams[0]
    device.take(500)
    loudspeaker.stop()
    loudspeaker.reset()
    loudspeaker.write(SECOND, RATE)
    device.take(110)
    assert not loudspeaker.started
    assert loudspeaker.played == 0
    assert device.take(10) == SECOND[:20]
    assert loudspeaker.played == 10 / RATE


def test_device_rate(sound: FakeSound) -> None:
    sound.rates = (48000,)
    loudspeaker = Loudspeaker()
    loudspeaker.write(SECOND, RATE)
    loudspeaker.finish()
    assert sound.streams[0].options["samplerate"] == 48000
    assert loudspeaker.waiting == pytest.approx(1.0, abs=0.001)


def test_two_rates_in_a_row(sound: FakeSound) -> None:
    loudspeaker = Loudspeaker()
    loudspeaker.write(SECOND, RATE)
    loudspeaker.write(to_pcm(tone(300, 1.0, 16000)), 16000)
    loudspeaker.finish()
    assert loudspeaker.waiting == pytest.approx(2.0, abs=0.001)


def test_a_pulled_device(sound: FakeSound) -> None:
    loudspeaker = Loudspeaker()
    loudspeaker.write(SECOND, RATE)
    sound.streams[0].active = False
    assert not loudspeaker.alive
    with pytest.raises(PredtuiError, match="has gone"):
        loudspeaker.write(SECOND, RATE)


def test_null_loudspeaker_takes_its_time() -> None:
    clock = VirtualClock(3.0)
    loudspeaker = NullLoudspeaker(clock)
    clock.advance(5)
    assert not loudspeaker.started
    loudspeaker.write(SECOND, RATE)
    assert loudspeaker.started
    clock.advance(0.25)
    assert (loudspeaker.played, loudspeaker.waiting) == pytest.approx((0.25, 0.75))
    loudspeaker.write(SECOND, RATE)
    clock.advance(1.0)
    assert loudspeaker.stop() == pytest.approx(1.25)
    clock.advance(1.0)
    assert (loudspeaker.played, loudspeaker.waiting) == pytest.approx((1.25, 0.0))
    loudspeaker.reset()
    assert (loudspeaker.played, loudspeaker.started) == (0.0, False)


def test_a_device_that_ran_dry_keeps_more_from_the_next_reply_on(sound: FakeSound) -> None:
    loudspeaker, asked = Loudspeaker(), []
    for _ in range(5):
        loudspeaker.write(SECOND, RATE)
        asked.append(sound.streams[-1].options["latency"])
        sound.streams[-1].take(100, dry=True)
        assert loudspeaker.gaps == 1
        loudspeaker.reset()
    assert asked == pytest.approx([0.025, 0.05, 0.1, 0.2, 0.2])
    loudspeaker.write(SECOND, RATE)
    sound.streams[-1].take(100)
    loudspeaker.reset()
    loudspeaker.write(SECOND, RATE)
    assert loudspeaker.gaps == 0
    assert len(sound.streams) == 4


def test_silence_between_replies_is_no_gap(sound: FakeSound) -> None:
    loudspeaker = Loudspeaker()
    loudspeaker.open()
    sound.streams[0].take(100, dry=True)
    assert loudspeaker.gaps == 0


def test_a_reply_that_is_held_goes_on_at_its_next_sample(sound: FakeSound) -> None:
    loudspeaker = Loudspeaker()
    loudspeaker.write(SECOND, RATE)
    device = sound.streams[0]
    device.take(500)
    loudspeaker.play("held")
    device.take(100)  # fades out
    assert device.take(1000) == bytes(2000)
    assert loudspeaker.played == 600 / RATE
    loudspeaker.play("full")
    device.take(100)  # fades in
    assert device.take(100) == SECOND[2 * 700 : 2 * 800]
    loudspeaker.play("held")
    device.take(50)
    assert loudspeaker.stop() == 850 / RATE, "what is not heard does not count"
    loudspeaker.reset()
    loudspeaker.write(SECOND, RATE)
    device.take(10)
    assert device.take(50) == SECOND[20:120]


def test_a_soft_reply_is_twelve_decibels_softer(sound: FakeSound) -> None:
    loudspeaker = Loudspeaker()
    loudspeaker.write(SECOND, RATE)
    loudspeaker.play("soft")
    device = sound.streams[0]
    device.take(100)
    soft = np.frombuffer(device.take(2000), "<i2").astype(float)
    full = np.frombuffer(SECOND, "<i2")[100:2100].astype(float)
    assert 20 * np.log10(np.std(soft) / np.std(full)) == pytest.approx(-12, abs=0.1)
