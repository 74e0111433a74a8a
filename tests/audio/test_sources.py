"""Files of every kind become 16 kHz frames in real time; the microphone keeps its first words."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from predtui.audio.resample import FRAME_BYTES, to_float, to_pcm
from predtui.audio.sources import FileSource, Microphone, NullSource, Source
from predtui.clock import VirtualClock
from predtui.errors import PredtuiError
from tests.audio.fake_sounddevice import FakeSound
from tests.audio.sounds import encode, tone, write_wav


def everything(source: Source) -> bytes:
    pieces = []
    source.start()
    while (frame := source.read()) is not None:
        assert len(frame) == FRAME_BYTES
        pieces.append(frame)
    return b"".join(pieces)


def pitch(pcm: bytes) -> float:
    samples = to_float(pcm)
    return float(np.argmax(np.abs(np.fft.rfft(samples))) * 16000 / len(samples))


@pytest.mark.parametrize("kind", ["u8", "s16", "s24", "s32", "f32", "f64"])
@pytest.mark.parametrize(("rate", "channels"), [(8000, 1), (16000, 1), (44100, 2), (48000, 6), (96000, 2)])
def test_any_wav(tmp_path: Path, kind: str, rate: int, channels: int) -> None:
    data = encode([tone(500, 0.5, rate)] * channels, kind)
    path = write_wav(tmp_path / "a.wav", data, rate, channels, int(kind[1:]), floating=kind[0] == "f")
    pcm = everything(FileSource(str(path), VirtualClock()))
    assert abs(len(pcm) - 16000) <= 2 * FRAME_BYTES
    assert abs(pitch(pcm) - 500) < 3
    assert np.sqrt(np.mean(to_float(pcm) ** 2)) == pytest.approx(0.3 / np.sqrt(2), rel=0.05)


def test_what_is_not_finite_is_silent(tmp_path: Path) -> None:
    samples = tone(500, 0.5)
    samples[100], samples[200], samples[300] = np.nan, np.inf, -np.inf
    path = write_wav(tmp_path / "a.wav", encode([samples], "f32"), 16000, 1, 32, floating=True)
    pcm = everything(FileSource(str(path), VirtualClock()))
    heard = to_float(pcm)[:8000]
    clean = to_float(to_pcm(tone(500, 0.5)))
    apart = np.flatnonzero(np.abs(heard - clean) > 0.01)
    assert set(apart) <= {100, 200, 300}
    assert np.all(np.abs(heard[[100, 200, 300]]) < 0.01)


def test_real_time(tmp_path: Path) -> None:
    path = write_wav(tmp_path / "a.wav", encode([tone(500, 1.0)], "s16"), 16000, 1, 16)
    clock = VirtualClock(5.0)
    source = FileSource(str(path), clock)
    source.start()
    source.read()
    assert clock.now() == pytest.approx(5.02)
    clock.advance(0.1)
    for _ in range(5):
        source.read()
    assert clock.now() == pytest.approx(5.12), "a late reader catches up without sleeping"
    while source.read() is not None:
        pass
    assert clock.now() == pytest.approx(6.0)


def test_last_frame_is_padded(tmp_path: Path) -> None:
    path = write_wav(tmp_path / "a.wav", b"\x01\x00" * 330, 16000, 1, 16)
    pcm = everything(FileSource(str(path), VirtualClock()))
    assert pcm[:660] == b"\x01\x00" * 330
    assert pcm[660:] == bytes(2 * FRAME_BYTES - 660)


def test_the_same_file_twice(tmp_path: Path) -> None:
    path = write_wav(tmp_path / "a.wav", encode([tone(500, 0.1)], "s16"), 16000, 1, 16)
    source = FileSource(str(path), VirtualClock())
    assert everything(source) == everything(source) != b""


def test_truncated_plays_what_is_there(tmp_path: Path) -> None:
    path = write_wav(tmp_path / "a.wav", encode([tone(500, 1.0)], "s16"), 16000, 1, 16)
    path.write_bytes(path.read_bytes()[:16044])
    source = FileSource(str(path), VirtualClock())
    assert 15000 < len(everything(source)) < 17000
    assert source.warning == "a.wav is cut short: playing what is there."


def test_null_source_is_silence_in_real_time() -> None:
    clock = VirtualClock()
    source = NullSource(clock)
    source.start()
    assert [source.read() for _ in range(50)] == [bytes(FRAME_BYTES)] * 50
    assert clock.now() == pytest.approx(1.0)


def pcm_of(seconds: float, rate: int = 16000) -> bytes:
    return to_pcm(tone(440, seconds, rate))


def test_preroll_keeps_the_last_300_ms(sound: FakeSound) -> None:
    microphone = Microphone()
    microphone.open()
    before, after = pcm_of(1.0), pcm_of(0.1)[::-1]
    sound.streams[0].feed(before)
    microphone.start()
    sound.streams[0].feed(after)
    heard = b"".join(frame for _ in range(20) if (frame := microphone.read()))
    assert heard == before[-2 * 4800 :] + after


def test_sound_after_an_utterance_is_only_preroll(sound: FakeSound) -> None:
    microphone = Microphone()
    microphone.start()
    sound.streams[0].feed(pcm_of(0.1))
    microphone.stop()
    later = pcm_of(2.0)
    sound.streams[0].feed(later)
    microphone.start()
    heard = b"".join(frame for _ in range(15) if (frame := microphone.read()))
    assert heard == later[-2 * 4800 :]


def test_without_preroll_the_device_is_closed_between(sound: FakeSound) -> None:
    microphone = Microphone(preroll=0)
    microphone.start()
    microphone.stop()
    assert sound.streams[0].closed


def test_a_device_that_refuses_16_khz_is_resampled(sound: FakeSound) -> None:
    sound.rates = (48000,)
    microphone = Microphone("built")
    microphone.start()
    assert sound.streams[0].options["samplerate"] == 48000
    assert sound.streams[0].options["device"] == 0
    sound.streams[0].feed(pcm_of(1.0, 48000))
    heard = b"".join(frame for _ in range(45) if (frame := microphone.read()))
    assert abs(pitch(heard) - 440) < 3


def test_nothing_yet_is_an_empty_frame(sound: FakeSound) -> None:
    microphone = Microphone()
    microphone.start()
    assert microphone.read() == b""


def test_a_busy_device(sound: FakeSound) -> None:
    sound.refuse = True
    with pytest.raises(PredtuiError, match="USB Headset cannot be opened"):
        Microphone().open()
