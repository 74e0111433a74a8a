"""What goes wrong with sound: no library, no device, a device pulled out, files that are not what they say."""

from __future__ import annotations

import contextlib
import itertools
import logging
import os
import random
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import av
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predtui.audio import mic, player
from predtui.audio.mic import MicrophoneStage
from predtui.audio.player import PlayerStage
from predtui.audio.sources import LONGEST_SECONDS, FileSource, Microphone, check_sound
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
    assert events[-1] == ev.Endpoint(reason="lost")


CODECS = {"wav": "pcm_s16le", "mp3": "libmp3lame", "flac": "flac", "ogg": "libopus"}


@cache
def encoded(kind: str, folder: Path) -> bytes:
    """Half a second of a tone, as a file of ``kind``."""
    path = folder / f"whole.{kind}"
    samples = tone(300, 0.5, 48000).astype(np.float32)
    with av.open(str(path), "w") as container:
        stream = container.add_stream(CODECS[kind], rate=48000, layout="mono")
        for start in range(0, len(samples), 960):
            frame = av.AudioFrame.from_ndarray(samples[None, start : start + 960], format="fltp", layout="mono")
            frame.sample_rate, frame.pts = 48000, start
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return path.read_bytes()


def mutated(whole: bytes, rng: random.Random) -> bytes:
    """With bytes changed all over or in its head, cut off, put in, or silenced."""
    data, at = bytearray(whole), rng.randrange(len(whole))
    match rng.choice(["all over", "head", "cut", "more", "zero"]):
        case "all over" | "head" as where:
            reach = len(data) if where == "all over" else 64
            for _ in range(rng.choice([1, 5, 50, 1000])):
                data[rng.randrange(reach)] = rng.choice([0, 1, 127, 128, 255, rng.randrange(256)])
        case "cut":
            del data[at:]
        case "more":
            data[at:at] = rng.randbytes(rng.choice([1, 7, 1000]))
        case _:
            data[at : at + 100] = bytes(len(data[at : at + 100]))
    return bytes(data)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("sounds")


@given(st.sampled_from(list(CODECS)), st.integers(0, 1 << 32))
@settings(max_examples=30, deadline=None)
def test_a_file_that_is_damaged_anyhow_ends_its_turn(folder: Path, kind: str, seed: int) -> None:
    path = folder / f"damaged.{kind}"
    path.write_bytes(mutated(encoded(kind, folder), random.Random(seed)))
    stage = mic.create(AudioSettings(input="none"))
    opened(stage)
    events = list(stage.handle(ev.Listen(path=str(path))))
    assert len(notices(events)) <= 1
    refused = any(isinstance(event, ev.Notice) and event.severity == "error" for event in events)
    assert events[-1] == ev.Endpoint(reason="lost" if refused else "end of file")
    heard = [event for event in events if isinstance(event, ev.AudioFrame)]
    assert heard or notices(events)
    with contextlib.suppress(PredtuiError):
        check_sound(path)


SHAPES = list(itertools.product([0, 1, 100, 16000, 10_000_000, 0x7FFFFFFF], [0, 1, 2, 8, 9, 64, 1000], [0, 3, 16]))


@pytest.mark.parametrize(("rate", "channels", "bits"), SHAPES)
def test_a_header_that_claims_odd_things_is_played_or_refused(
    tmp_path: Path, rate: int, channels: int, bits: int
) -> None:
    path = tmp_path / "a.wav"
    write_wav(path, encode([tone(500, 0.02)], "s16"), 16000, 1, 16)
    head = bytearray(path.read_bytes())
    head[22:24], head[24:28] = channels.to_bytes(2, "little"), rate.to_bytes(4, "little")
    head[32:34], head[34:36] = (channels * bits // 8 & 0xFFFF).to_bytes(2, "little"), bits.to_bytes(2, "little")
    path.write_bytes(head)
    source, frames = FileSource(str(path), VirtualClock()), 0
    with contextlib.suppress(PredtuiError):
        source.start()
        while source.read() is not None:
            frames += 1
    assert frames <= LONGEST_SECONDS * 50


def test_hours_that_are_claimed_and_not_there_are_no_sound(tmp_path: Path) -> None:
    path = write_wav(tmp_path / "a.wav", b"", 16000, 1, 16)
    head = bytearray(path.read_bytes())
    head[40:44] = (0x7FFFFFFF).to_bytes(4, "little")
    path.write_bytes(head)
    with pytest.raises(PredtuiError, match="no sound in it"):
        FileSource(str(path), VirtualClock()).open()


def test_a_sound_longer_than_a_turn_is_ended_with_it(tmp_path: Path) -> None:
    path = write_wav(tmp_path / "a.wav", bytes(1600), 1, 1, 16)
    source = FileSource(str(path), VirtualClock())
    source.start()
    assert sum(1 for _ in iter(source.read, None)) == LONGEST_SECONDS * 50
    assert source.warning == "a.wav is longer than a turn: playing its beginning."


def test_a_pipe_is_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.wav")
    with pytest.raises(PredtuiError, match="is not a file"):
        FileSource(str(tmp_path / "a.wav"), VirtualClock()).open()


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
    sound.streams[0].active = False
    rest = list(events)
    assert sum(isinstance(event, ev.AudioFrame) for event in kept + rest) == 20
    assert notices(rest) == ["the microphone has gone. Plug it in again, or choose another."]
    assert rest[-1] == ev.Endpoint(reason="lost")


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
