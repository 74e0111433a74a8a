"""The stage "mic" on a virtual clock: frames, activity and ends of turns."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import pytest

from predtui.audio import mic
from predtui.clock import VirtualClock
from predtui.settings import AudioSettings
from predtui.state import events as ev
from predtui.state.stage import StageContext
from tests.audio.fake_sounddevice import FakeSound
from tests.audio.opened import NONE, lacking, of, opened, opening
from tests.audio.sounds import speech, write_wav


@pytest.fixture
def said(tmp_path: Path) -> Path:
    return write_wav(tmp_path / "said.wav", speech("hello my dear friend", before=1.0, after=1.5), 16000, 1, 16)


def test_a_file_becomes_a_turn(said: Path) -> None:
    stage = mic.create(NONE)
    opened(stage)
    events = list(stage.handle(ev.Listen(path=str(said))))
    frames = [event for event in events if isinstance(event, ev.AudioFrame)]
    assert [frame.position for frame in frames] == list(range(0, 320 * len(frames), 320))
    assert b"".join(frame.pcm for frame in frames)[: said.stat().st_size - 44] == said.read_bytes()[44:]
    assert of(ev.SpeechActivity, events) == [ev.SpeechActivity(active=True), ev.SpeechActivity(quiet=0.08)]
    assert events[-1] == ev.Endpoint(reason="end of file")
    voiced = [frame.voiced for frame in frames]
    first_sound = next(i for i, frame in enumerate(frames) if np.abs(np.frombuffer(frame.pcm, "<i2")).max() > 1000)
    assert 0 <= first_sound - voiced.index(True) <= 12, "the beginning of the first word is marked as well"
    assert not voiced[30]
    assert not voiced[-20]


def test_silence_ends_a_hands_free_turn(said: Path) -> None:
    stage = mic.create(AudioSettings(input="none", silence_ms=500))
    clock = opened(stage)
    events = list(stage.handle(ev.Listen(path=str(said), hands_free=True)))
    assert events[-1] == ev.Endpoint(reason="silence")
    assert clock.now() < (said.stat().st_size - 44) / 32000 - 0.5


def test_a_stale_listen_stops_without_an_end_of_its_own() -> None:
    reads = iter([False] * 100)
    stage = mic.create(NONE)
    clock = opened(stage, lambda: next(reads, True))
    events = list(stage.handle(ev.Listen(hands_free=True)))
    assert clock.now() == pytest.approx(2.0)
    assert not of(ev.Endpoint, events)
    assert not list(stage.handle(ev.Endpoint()))


def test_live_words_before_the_key_survive(sound: FakeSound) -> None:
    reads = iter([False] * 60)
    stage = mic.create(AudioSettings())
    opened(stage, lambda: next(reads, True))
    pcm = speech("hello my dear friend", before=0.1)
    device = sound.streams[0]
    device.feed(pcm[: 2 * 4800])
    events = stage.handle(ev.Listen())
    first = next(events)
    device.feed(pcm[2 * 4800 :])
    heard = b"".join(event.pcm for event in (first, *events) if isinstance(event, ev.AudioFrame))
    assert len(heard) > 32000
    assert pcm.startswith(heard)


def test_a_microphone_is_found_again_when_asked_to_look(sound: FakeSound) -> None:
    rows, sound.rows = sound.rows, []
    stage = mic.create(AudioSettings())
    opening(stage)
    assert lacking(list(stage.handle(ev.LookForDevice()))) == ["microphone"]
    sound.rows = rows
    assert lacking(list(stage.handle(ev.LookForDevice()))) == [""]
    assert sound.streams[0].active


def test_one_that_is_switched_off_stays_off(sound: FakeSound) -> None:
    stage = mic.create(NONE)
    opening(stage)
    assert lacking(list(stage.handle(ev.LookForDevice()))) == ["microphone"]
    assert not sound.streams


def test_a_microphone_that_goes_is_told(sound: FakeSound) -> None:
    stage = mic.create(AudioSettings())
    opening(stage)
    events = stage.handle(ev.Listen())
    sound.streams[0].active = False
    assert lacking(list(events)) == ["microphone"]


def test_a_microphone_is_found_again_while_nobody_asks(sound: FakeSound) -> None:
    """And looked for no more often than it has to be."""
    rows, sound.rows = sound.rows, []
    stage, clock = mic.create(AudioSettings()), VirtualClock()
    list(stage.open(StageContext(clock, lambda: False, logging.getLogger("test"))))
    sound.rows = rows
    clock.sleep(mic.LOOK_SECONDS - 0.1)
    assert not list(stage.idle())
    clock.sleep(0.1)
    status, notice = stage.idle()
    assert lacking([status]) == [""]
    assert isinstance(notice, ev.Notice)
    clock.sleep(10 * mic.LOOK_SECONDS)
    assert not list(stage.idle())
