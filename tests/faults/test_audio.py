"""What goes wrong with sound: no library, no device, a device pulled out, files that are not what they say."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from predtui.audio import mic, player
from predtui.audio.mic import MicrophoneStage
from predtui.audio.player import PlayerStage
from predtui.audio.sources import FileSource, Microphone
from predtui.clock import VirtualClock
from predtui.errors import PredtuiError
from predtui.settings import AudioSettings
from predtui.state import events as ev
from predtui.state.stage import StageContext
from tests.audio.fake_sounddevice import FakeSound
from tests.audio.sounds import encode, tone, write_wav


@pytest.fixture
def sound(monkeypatch: pytest.MonkeyPatch) -> FakeSound:
    fake = FakeSound()
    monkeypatch.setitem(sys.modules, "sounddevice", fake)
    return fake


def opened(stage: MicrophoneStage | PlayerStage, stale: Callable[[], bool] = lambda: False) -> list[ev.Event]:
    return list(stage.open(StageContext(VirtualClock(), stale, logging.getLogger("test"))))


def notices(events: list[ev.Event]) -> list[str]:
    return [event.text for event in events if isinstance(event, ev.Notice)]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "does not exist"),
        (b"", "is empty"),
        (b"this is a shopping list, not sound\n" * 100, "is not a sound file"),
        (b"RIFF\x24\x00\x00\x00WAVE", "is not a sound file"),
        (bytes(range(256)) * 64, "is not a sound file"),
    ],
)
def test_a_file_that_is_no_sound(tmp_path: Path, content: bytes | None, message: str) -> None:
    path = tmp_path / "a.wav"
    if content is not None:
        path.write_bytes(content)
    stage = mic.create(AudioSettings(input="none"))
    opened(stage)
    events = list(stage.handle(ev.Listen(path=str(path))))
    assert len(notices(events)) == 1
    assert message in notices(events)[0]
    assert events[-1] == ev.Endpoint(reason="end of file")


def test_a_wav_without_samples(tmp_path: Path) -> None:
    path = write_wav(tmp_path / "a.wav", b"", 16000, 1, 16)
    with pytest.raises(PredtuiError, match=r"has no sound in it|is not a sound file"):
        FileSource(str(path), VirtualClock()).open()


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(PredtuiError, match="is not a file"):
        FileSource(str(tmp_path), VirtualClock()).open()


def test_an_address_is_not_fetched() -> None:
    with pytest.raises(PredtuiError, match="does not exist"):
        FileSource("http://127.0.0.1:9/a.wav", VirtualClock()).open()


def test_a_truncated_file_plays_with_a_notice(tmp_path: Path) -> None:
    path = write_wav(tmp_path / "a.wav", encode([tone(500, 1.0)], "s16"), 16000, 1, 16)
    path.write_bytes(path.read_bytes()[:16044])
    stage = mic.create(AudioSettings(input="none"))
    opened(stage)
    events = list(stage.handle(ev.Listen(path=str(path))))
    assert notices(events) == ["a.wav is cut short: playing what is there."]
    assert 24 <= sum(isinstance(event, ev.AudioFrame) for event in events) <= 26


def test_no_library_leaves_files_and_replies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sounddevice", None)
    hearing, speaking = mic.create(AudioSettings()), player.create(AudioSettings())
    assert "pip install sounddevice" in notices(opened(hearing))[0]
    assert "Replies are shown, not heard." in notices(opened(speaking))[0]
    path = write_wav(tmp_path / "a.wav", encode([tone(500, 0.1)], "s16"), 16000, 1, 16)
    assert sum(isinstance(event, ev.AudioFrame) for event in hearing.handle(ev.Listen(path=str(path)))) == 5
    events = list(speaking.handle(ev.SpeechChunk(turn=1, pcm=bytes(3200), rate=16000)))
    assert events == [ev.Playback(state="started")]


def test_no_microphone_ends_the_turn_and_the_next_listen_tries_again(sound: FakeSound) -> None:
    rows, sound.rows = sound.rows, []
    stage = mic.create(AudioSettings())
    assert "no microphone found" in notices(opened(stage))[0]
    assert isinstance(list(stage.handle(ev.Listen()))[-1], ev.Endpoint)
    sound.rows = rows
    ended = iter([False])
    again = stage.handle(ev.Listen())
    stage._context = StageContext(VirtualClock(), lambda: next(ended, True), logging.getLogger("test"))
    assert not notices(list(again))
    assert sound.streams[0].active


def test_a_pulled_microphone_keeps_what_was_said(sound: FakeSound) -> None:
    stage = mic.create(AudioSettings())
    opened(stage)
    events = stage.handle(ev.Listen())
    sound.streams[0].feed(bytes(640 * 15))
    kept = [next(events)]
    sound.streams[0].feed(bytes(640 * 15))
    kept += [next(events) for _ in range(19)]
    assert all(isinstance(event, ev.AudioFrame) for event in kept)
    sound.streams[0].active = False
    rest = list(events)
    assert notices(rest) == ["the microphone has gone. Plug it in again, or choose another."]
    assert rest[-1] == ev.Endpoint(reason="end of file")


def test_a_pulled_loudspeaker_lets_the_reply_end(sound: FakeSound) -> None:
    stage = player.create(AudioSettings())
    opened(stage)
    list(stage.handle(ev.SpeechChunk(turn=1, pcm=bytes(32000), rate=16000)))
    list(stage.handle(ev.SpeechEnd(turn=1)))
    sound.streams[0].active = False
    events = list(stage.idle())
    assert "the loudspeaker has gone" in notices(events)[0]
    assert isinstance(events[-1], ev.Playback)
    assert events[-1].state == "finished"


def test_a_loudspeaker_pulled_between_chunks(sound: FakeSound) -> None:
    stage = player.create(AudioSettings())
    opened(stage)
    list(stage.handle(ev.SpeechChunk(turn=1, pcm=bytes(32000), rate=16000)))
    sound.streams[0].active = False
    events = list(stage.handle(ev.SpeechChunk(turn=1, index=1, pcm=bytes(32000), rate=16000)))
    assert "Replies are shown, not heard." in notices(events)[0]


def test_without_silero_loudness_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise PredtuiError("the voice detector cannot be loaded: no such file.")

    monkeypatch.setattr(mic, "Silero", refuse)
    assert "Loudness decides instead." in notices(opened(mic.create(AudioSettings(input="none"))))[0]


def test_a_lost_microphone_is_looked_for_again(sound: FakeSound) -> None:
    source = Microphone()
    source.start()
    sound.streams[0].active = False
    with pytest.raises(PredtuiError, match="has gone"):
        source.read()
    source.start()
    assert sound.restarts == 1
    assert sound.streams[1].active
