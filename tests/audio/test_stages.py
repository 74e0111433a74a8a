"""The two stages on a virtual clock: frames, activity and ends of turns; playback, interruption and late chunks."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from predtui.audio.stages import MicrophoneStage, PlayerStage, microphone, player
from predtui.clock import VirtualClock
from predtui.settings import AudioSettings
from predtui.state import events as ev
from predtui.state.stage import StageContext
from tests.audio.fake_sounddevice import FakeSound
from tests.audio.sounds import speech, write_wav

NONE = AudioSettings(input="none", output="none")


def opened(stage: MicrophoneStage | PlayerStage, stale: Callable[[], bool] = lambda: False) -> VirtualClock:
    clock = VirtualClock()
    said = list(stage.open(StageContext(clock, stale, logging.getLogger("test"))))
    assert all(isinstance(event, ev.StageStatus) and "switched off" in event.message for event in said)
    return clock


def of(kind: type[ev.Event], events: list[ev.Event]) -> list[ev.Event]:
    return [event for event in events if isinstance(event, kind)]


@pytest.fixture
def said(tmp_path: Path) -> Path:
    return write_wav(tmp_path / "said.wav", speech("hello my dear friend", before=1.0, after=1.5), 16000, 1, 16)


def test_a_file_becomes_a_turn(said: Path) -> None:
    stage = microphone(NONE)
    opened(stage)
    events = list(stage.handle(ev.Listen(path=str(said))))
    frames = [event for event in events if isinstance(event, ev.AudioFrame)]
    assert [frame.position for frame in frames] == list(range(0, 320 * len(frames), 320))
    assert b"".join(frame.pcm for frame in frames)[: said.stat().st_size - 44] == said.read_bytes()[44:]
    assert of(ev.SpeechActivity, events) == [ev.SpeechActivity(active=True), ev.SpeechActivity(active=False)]
    assert events[-1] == ev.Endpoint(reason="end of file")
    voiced = [frame.voiced for frame in frames]
    first_sound = next(i for i, frame in enumerate(frames) if np.abs(np.frombuffer(frame.pcm, "<i2")).max() > 1000)
    assert 0 <= first_sound - voiced.index(True) <= 12, "the beginning of the first word is marked as well"
    assert not voiced[30]
    assert not voiced[-20]


def test_silence_ends_a_hands_free_turn(said: Path) -> None:
    stage = microphone(AudioSettings(input="none", silence_ms=500))
    clock = opened(stage)
    events = list(stage.handle(ev.Listen(path=str(said), hands_free=True)))
    assert events[-1] == ev.Endpoint(reason="silence")
    assert clock.now() < (said.stat().st_size - 44) / 32000 - 0.5


def test_a_stale_listen_stops_without_an_end_of_its_own() -> None:
    reads = iter([False] * 100)
    stage = microphone(NONE)
    clock = opened(stage, lambda: next(reads, True))
    events = list(stage.handle(ev.Listen(hands_free=True)))
    assert clock.now() == pytest.approx(2.0)
    assert not of(ev.Endpoint, events)
    assert not list(stage.handle(ev.Endpoint()))


def test_live_words_before_the_key_survive(sound: FakeSound) -> None:
    reads = iter([False] * 60)
    stage = microphone(AudioSettings())
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


def reply(turn: int, index: int, seconds: float, last: bool = False, rate: int = 16000) -> ev.SpeechChunk:
    return ev.SpeechChunk(turn=turn, index=index, pcm=b"\x10\x00" * int(seconds * rate), rate=rate, last=last)


def test_a_reply_from_start_to_end() -> None:
    stage = player(NONE)
    clock = opened(stage)
    assert list(stage.handle(reply(1, 0, 0.5))) == [ev.Playback(state="started", index=0, seconds=0.0)]
    assert not list(stage.handle(reply(1, 1, 0.5)))
    clock.advance(0.25)
    assert list(stage.idle()) == [ev.Playback(state="playing", index=0, seconds=0.25)]
    clock.advance(0.5)
    assert list(stage.idle()) == [ev.Playback(state="playing", index=1, seconds=0.75)]
    assert not list(stage.handle(ev.SpeechEnd(turn=1)))
    clock.advance(0.5)
    assert list(stage.idle()) == [ev.Playback(state="finished", index=1, seconds=1.0)]
    assert not list(stage.idle())


def test_a_gap_between_sentences_is_no_end() -> None:
    stage = player(NONE)
    clock = opened(stage)
    list(stage.handle(reply(1, 0, 0.5)))
    clock.advance(1.0)
    assert not list(stage.idle())
    assert not list(stage.handle(reply(1, 1, 0.5)))
    clock.advance(0.1)
    (playing,) = stage.idle()
    assert isinstance(playing, ev.Playback)
    assert playing.seconds == pytest.approx(0.6)


def test_interruption_and_late_chunks() -> None:
    stage = player(NONE)
    clock = opened(stage)
    list(stage.handle(reply(1, 0, 1.0)))
    clock.advance(0.5)
    assert list(stage.handle(ev.Interrupt(turn=1))) == [ev.Playback(state="stopped", index=0, seconds=0.5)]
    assert not list(stage.handle(ev.Interrupt(turn=1))), "claimed once"
    assert not list(stage.handle(reply(1, 1, 1.0)))
    assert not list(stage.handle(ev.SpeechEnd(turn=1)))
    assert not list(stage.idle())
    assert list(stage.handle(reply(2, 0, 1.0))) == [ev.Playback(state="started", index=0, seconds=0.0)]


def test_an_interrupt_stamped_with_the_next_turn_leaves_its_reply_alone() -> None:
    stage = player(NONE)
    opened(stage)
    list(stage.handle(ev.SpeechChunk(turn=1, revision=4, pcm=bytes(3200), rate=16000)))
    list(stage.handle(ev.Interrupt(turn=2)))
    assert not list(stage.handle(ev.SpeechChunk(turn=1, revision=5, pcm=bytes(3200), rate=16000)))
    assert list(stage.handle(ev.SpeechChunk(turn=2, revision=3, pcm=bytes(3200), rate=16000)))


def test_an_interrupt_before_the_first_chunk() -> None:
    stage = player(NONE)
    opened(stage)
    assert not list(stage.handle(ev.Interrupt(turn=1, revision=3)))
    assert not list(stage.handle(reply(1, 0, 1.0)))


def test_a_reply_without_sound_ends_too() -> None:
    stage = player(NONE)
    opened(stage)
    assert not list(stage.handle(ev.SpeechChunk(turn=1, last=True)))
    assert list(stage.handle(ev.SpeechEnd(turn=1))) == [ev.Playback(state="finished")]


def test_a_new_reply_stops_the_old_one() -> None:
    stage = player(NONE)
    clock = opened(stage)
    list(stage.handle(reply(1, 0, 1.0)))
    clock.advance(0.4)
    events = list(stage.handle(reply(2, 0, 1.0)))
    assert [event.state for event in events if isinstance(event, ev.Playback)] == ["stopped", "started"]


def test_started_waits_for_the_device(sound: FakeSound) -> None:
    """ "Started" is not said before PortAudio has taken a sample, which the clock's sleep stands for here."""
    stage = player(AudioSettings())

    class Clock(VirtualClock):
        def sleep(self, seconds: float) -> None:
            super().sleep(seconds)
            if self.now() > 0.01:
                sound.streams[0].take(64)

    clock = Clock()
    assert not list(stage.open(StageContext(clock, lambda: False, logging.getLogger("test"))))
    events: Iterator[ev.Event] = stage.handle(reply(1, 0, 0.5))
    assert isinstance(next(events), ev.Playback)
    assert 0.01 < clock.now() < 0.02


def opening(stage: MicrophoneStage | PlayerStage) -> list[ev.Event]:
    return list(stage.open(StageContext(VirtualClock(), lambda: False, logging.getLogger("test"))))


def lacking(events: list[ev.Event]) -> list[str]:
    return [event.lacks for event in events if isinstance(event, ev.StageStatus)]


@pytest.mark.parametrize(("make", "device"), [(microphone, "microphone"), (player, "loudspeaker")])
def test_a_device_that_is_missing_or_switched_off_is_told(
    sound: FakeSound, make: Callable[[AudioSettings], MicrophoneStage | PlayerStage], device: str
) -> None:
    assert opening(make(AudioSettings())) == []
    assert lacking(opening(make(NONE))) == [device]
    sound.rows = []
    (status,) = of(ev.StageStatus, opening(make(AudioSettings())))
    assert isinstance(status, ev.StageStatus)
    assert status.lacks == device
    assert "Plug one in" in status.message
    assert status.progress == 1.0, "the host repeats it"


def test_a_microphone_is_found_again_when_asked_to_look(sound: FakeSound) -> None:
    rows, sound.rows = sound.rows, []
    stage = microphone(AudioSettings())
    opening(stage)
    assert lacking(list(stage.handle(ev.LookForDevice()))) == ["microphone"]
    sound.rows = rows
    assert lacking(list(stage.handle(ev.LookForDevice()))) == [""]
    assert sound.streams[0].active


def test_one_that_is_switched_off_stays_off(sound: FakeSound) -> None:
    stage = microphone(NONE)
    opening(stage)
    assert lacking(list(stage.handle(ev.LookForDevice()))) == ["microphone"]
    assert not sound.streams


def test_a_microphone_that_goes_is_told(sound: FakeSound) -> None:
    stage = microphone(AudioSettings())
    opening(stage)
    events = stage.handle(ev.Listen())
    sound.streams[0].active = False
    assert lacking(list(events)) == ["microphone"]
