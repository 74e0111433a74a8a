"""Resampling: pitch and length survive, what the target cannot carry does not alias, pieces join without a seam."""

from __future__ import annotations

import numpy as np
import pytest

from predtui.audio.resample import Resampler, to_float, to_pcm
from tests.audio.sounds import tone


def resample(pcm: bytes, source: int, target: int, piece: int) -> bytes:
    resampler = Resampler(source, target)
    out = [resampler.process(pcm[at : at + piece]) for at in range(0, len(pcm), piece)]
    return b"".join(out) + resampler.flush()


@pytest.mark.parametrize(("source", "target"), [(44100, 16000), (48000, 16000), (8000, 16000), (22050, 48000)])
def test_tone_keeps_pitch_length_and_level(source: int, target: int) -> None:
    heard = to_float(resample(to_pcm(tone(440, 1.0, source)), source, target, 882))
    assert abs(len(heard) - target) <= 2
    spectrum = np.abs(np.fft.rfft(heard))
    assert abs(np.argmax(spectrum) * target / len(heard) - 440) < 2
    assert np.sqrt(np.mean(heard**2)) == pytest.approx(0.3 / np.sqrt(2), rel=0.02)


def test_no_aliasing() -> None:
    heard = to_float(resample(to_pcm(tone(12000, 1.0, 48000)), 48000, 16000, 960))
    assert np.sqrt(np.mean(heard[100:-100] ** 2)) < 0.002


def test_pieces_equal_the_whole() -> None:
    pcm = to_pcm(tone(300, 0.5, 44100))
    assert resample(pcm, 44100, 16000, 882) == resample(pcm, 44100, 16000, len(pcm))


def test_equal_rates_pass_untouched() -> None:
    resampler = Resampler(16000, 16000)
    assert resampler.process(b"ab") + resampler.flush() == b"ab"


def test_rates_are_positive() -> None:
    with pytest.raises(ValueError, match="positive"):
        Resampler(0, 16000)


def test_pcm_is_clean() -> None:
    assert (
        to_pcm(np.array([np.nan, np.inf, -np.inf, 2.0, -2.0]))
        == np.array([0, 0, 0, 32767, -32767], dtype="<i2").tobytes()
    )
