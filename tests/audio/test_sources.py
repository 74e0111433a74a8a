"""Files of every kind become 16 kHz frames in real time; the microphone keeps its first words."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui.audio.files import mixed
from predtui.audio.resample import FRAME_BYTES, to_float, to_pcm
from predtui.audio.sources import FileSource, Microphone, NullSource, Source
from predtui.clock import VirtualClock
from predtui.errors import PredtuiError
from tests.audio.fake_sounddevice import FakeSound
from tests.audio.sounds import encode, encoded, tone, write_wav


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


@pytest.mark.parametrize(("name", "codec", "rate"), [("a.opus", "libopus", 48000), ("a.webm", "libopus", 48000)])
@pytest.mark.parametrize("share", [0.4, 0.6, 0.8, 0.99])
def test_a_stream_without_its_end_says_so(tmp_path: Path, name: str, codec: str, rate: int, share: float) -> None:
    path = encoded(tmp_path / name, codec, rate, tone(500, 8.0))
    whole = FileSource(str(path), VirtualClock())
    assert abs(len(everything(whole)) - 8 * 32000) < 4000
    assert whole.warning == ""
    path.write_bytes(path.read_bytes()[: round(share * path.stat().st_size)])
    cut = FileSource(str(path), VirtualClock())
    assert len(everything(cut)) < 8 * 32000
    assert cut.warning == f"{name} is cut short: playing what is there."


@pytest.mark.parametrize("other", [-1.0, -0.9, -1.2])
def test_channels_that_cancel_are_heard(tmp_path: Path, other: float) -> None:
    voice = tone(500, 0.5)
    path = write_wav(tmp_path / "a.wav", encode([voice, other * voice], "f32"), 16000, 2, 32, floating=True)
    pcm = everything(FileSource(str(path), VirtualClock()))
    assert abs(pitch(pcm) - 500) < 3
    assert np.sqrt(np.mean(to_float(pcm) ** 2)) == pytest.approx(0.3 / np.sqrt(2), rel=0.25)


@given(st.integers(1, 6), st.integers(0, 5), st.integers(0, 2**32 - 1))
def test_one_voice_on_one_of_many_channels_is_no_cancellation(channels: int, which: int, seed: int) -> None:
    """Nor are channels that have nothing to do with each other."""
    rng = np.random.default_rng(seed)
    one = np.zeros((1000, channels), np.float32)
    one[:, which % channels] = rng.standard_normal(1000)
    several = rng.standard_normal((1000, channels)).astype(np.float32)
    for samples in (one, several, 0 * one):
        assert np.array_equal(mixed(samples), samples.mean(axis=1, dtype=np.float32))


@pytest.mark.parametrize("kind", ["s24", "s32", "f32", "f64"])
@pytest.mark.parametrize("channels", [1, 2])
def test_the_same_samples_are_the_same_however_they_are_stored(tmp_path: Path, kind: str, channels: int) -> None:
    """To the bit, in every form that has room for them."""
    said = np.frombuffer(to_pcm(tone(500, 0.5)), "<i2").astype(np.float64)
    pcm = said.astype("<i2").tobytes()
    wide = {"s24": 8388607 / 8388608, "s32": 2147483647 / 2147483648}.get(kind, 1.0)  # what encode takes for 1
    path = write_wav(
        tmp_path / "a.wav",
        encode([said / 32768 / wide] * channels, kind),
        16000,
        channels,
        int(kind[1:]),
        floating=kind[0] == "f",
    )
    assert everything(FileSource(str(path), VirtualClock())) == pcm.ljust(
        -(-len(pcm) // FRAME_BYTES) * FRAME_BYTES, b"\0"
    )


def test_a_long_file_takes_no_more_memory_than_a_short_one(tmp_path: Path) -> None:
    def peak(seconds: float) -> int:
        path = write_wav(tmp_path / "a.wav", encode([tone(500, seconds)], "s16"), 16000, 1, 16)
        source = FileSource(str(path), VirtualClock())
        source.start()
        tracemalloc.start()
        while source.read() is not None:
            pass
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    peak(1.0)
    assert peak(60.0) < peak(5.0) + 100_000


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


def test_anew_nothing_is_heard_of_what_was_before(sound: FakeSound) -> None:
    microphone = Microphone()
    microphone.open()
    sound.streams[0].feed(b"\x01\x00" * 16000)
    microphone.start(anew=True)
    sound.streams[0].feed(b"\x02\x00" * 320)
    assert microphone.read() == b"\x02\x00" * 320


def test_a_device_that_went_while_nobody_listened_is_opened_anew(
    sound: FakeSound, monkeypatch: pytest.MonkeyPatch
) -> None:
    microphone, now = Microphone(), [100.0]
    monkeypatch.setattr("predtui.audio.sources.time.monotonic", lambda: now[0])
    microphone.open()
    now[0] += 0.3
    microphone.start()
    assert len(sound.streams) == 1
    microphone.stop()
    now[0] += 60.0
    microphone.start()
    assert (len(sound.streams), sound.restarts) == (2, 1)
    sound.streams[1].feed(b"\x02\x00" * 320)
    assert microphone.read() == b"\x02\x00" * 320


def test_sound_that_a_busy_machine_has_lost_is_told_of(sound: FakeSound) -> None:
    microphone = Microphone()
    microphone.start()
    sound.streams[0].feed(b"\x01\x00" * 320)
    assert not microphone.warning
    sound.streams[0].feed(b"\x01\x00" * 320, lacking=True)
    assert "too busy" in microphone.warning
    microphone.stop()
    microphone.start()
    assert not microphone.warning
