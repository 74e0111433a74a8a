"""The stage "mic" on a virtual clock: frames, activity and ends of turns."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from predtui.audio import mic
from predtui.audio.sources import Microphone
from predtui.clock import VirtualClock
from predtui.errors import PredtuiError
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


class NoEcho:
    """A canceller where there is nothing to cancel."""

    def clean(self, near: bytes, far: bytes) -> bytes:
        return near


def talked_over(sound: FakeSound, stale: Callable[[], bool] = lambda: False) -> tuple[mic.MicrophoneStage, list[bytes]]:
    """A stage in a reply over which somebody has begun to talk, and the frames that it told of."""
    stage = mic.MicrophoneStage(500, lambda clock: Microphone(""), make_canceller=NoEcho)
    opened(stage, stale)
    assert stage.tick
    list(stage.handle(ev.Overhear(turn=1)))
    assert stage.tick == 0.0
    pcm = speech("hello my dear friend", before=0.3)[: 2 * 16000]
    sound.streams[0].feed(pcm)
    told = [event for _ in range(50) for event in stage.idle()]
    assert all(isinstance(event, ev.Overheard) for event in told)
    return stage, [bytes(event.pcm) for event in told if isinstance(event, ev.Overheard)]


def test_a_turn_begins_with_what_was_said_over_the_reply(sound: FakeSound) -> None:
    reads = iter([False] * 20)
    stage, over = talked_over(sound, lambda: next(reads, True))
    list(stage.handle(ev.Interrupt(turn=1)))
    list(stage.handle(ev.TurnStarted(turn=2, source="voice")))
    sound.streams[0].feed(bytes(2 * 320 * 20))
    events = stage.handle(ev.Listen(turn=2, hands_free=True, anew=True, overheard=True))
    frames = [bytes(event.pcm) for event in events if isinstance(event, ev.AudioFrame)]
    assert len(over) > 10
    assert frames[: len(over)] == over
    assert stage.tick


@pytest.mark.parametrize("end", [ev.Interrupt(turn=1), ev.TurnStarted(turn=2), ev.Endpoint(turn=1)])
def test_nobody_is_listened_to_once_the_reply_has_ended_otherwise(sound: FakeSound, end: ev.Event) -> None:
    stage, _ = talked_over(sound)
    list(stage.handle(end))
    assert stage.tick
    assert not list(stage.idle())
    sound.streams[0].feed(speech("hello my dear friend"))
    assert not list(stage.idle())


def test_what_was_said_over_a_reply_is_not_the_users_where_they_press_the_key(sound: FakeSound) -> None:
    reads = iter([False] * 40)
    stage, over = talked_over(sound, lambda: next(reads, True))
    list(stage.handle(ev.Interrupt(turn=1)))
    sound.streams[0].feed(bytes(2 * 320 * 40))
    events = list(stage.handle(ev.Listen(turn=2, anew=True)))
    assert over[0] not in [bytes(event.pcm) for event in of(ev.AudioFrame, events)]  # type: ignore[attr-defined]


def test_without_a_canceller_the_microphone_is_closed_while_a_reply_plays(sound: FakeSound) -> None:
    def missing() -> NoEcho:
        raise PredtuiError("no echo canceller.")

    stage = mic.MicrophoneStage(500, lambda clock: Microphone(""), make_canceller=missing)
    assert "no echo canceller" in str(opening(stage))
    list(stage.handle(ev.Overhear(turn=1)))
    assert stage.tick


def test_a_microphone_that_goes_while_a_reply_plays_is_told(sound: FakeSound) -> None:
    stage, _ = talked_over(sound)
    sound.streams[0].active = False
    assert lacking([event for _ in range(3) for event in stage.idle()]) == ["microphone"]
    assert stage.tick
