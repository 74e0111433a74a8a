"""Sounds of a telephone are heard as well as wide ones, and wide ones are left as they are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import save_file

from predtui.asr.whisperflow.band import BAND, CONTEXT, EMPTY, Widening, find, first_band, is_narrow, surroundings
from predtui.audio.files import decode
from predtui.audio.resample import to_float
from predtui.errors import PredtuiError
from predtui.models.shipped import asset
from predtui.settings import AsrSettings
from tests.audio.sounds import encoded

MELS = 80
LOWER = first_band(MELS)


def network(seed: int) -> Widening:
    rng = np.random.default_rng(seed)
    shapes = ((4, LOWER * (2 * CONTEXT + 1)), (4,), (MELS - LOWER, 4), (MELS - LOWER,))
    return Widening(*(rng.standard_normal(shape).astype(np.float32) for shape in shapes))


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 99), st.integers(0, 40), st.floats(0.0, 2.0), st.floats(-2.0, 2.0))
def test_only_what_is_missing_is_made_and_it_is_never_the_loudest(
    seed: int, frames: int, gap: float, level: float
) -> None:
    rng = np.random.default_rng(seed)
    mel = (level + rng.uniform(-0.5, 0.0, (MELS, frames))).astype(np.float32)
    mel[LOWER:] = level - 0.5 - gap if frames else 0.0
    wide = network(seed)(mel)
    assert np.array_equal(wide[:LOWER], mel[:LOWER])
    if not is_narrow(mel):
        assert wide is mel
    else:
        assert gap + 0.5 >= EMPTY - 1e-3
        assert wide.max() == mel.max()
        assert wide.min() >= min(mel.min(), mel.max() - 2.0)


def test_each_frame_is_seen_with_those_around_it() -> None:
    lower = np.arange(20, dtype=np.float32)[None]
    rows = surroundings(lower)
    assert rows[10].tolist() == list(range(10 - CONTEXT, 11 + CONTEXT))
    assert rows[0, : CONTEXT + 1].tolist() == [0.0] * (CONTEXT + 1)


def test_a_file_of_another_form_is_refused_and_none_is_none(tmp_path: Path) -> None:
    assert find(tmp_path, MELS) is None
    save_file({"inner": np.zeros((1, 1), np.float32)}, str(tmp_path / BAND))
    with pytest.raises(PredtuiError, match="cannot be used"):
        find(tmp_path, MELS)
    (tmp_path / BAND).write_bytes(b"nonsense")
    with pytest.raises(PredtuiError, match="cannot be used"):
        find(tmp_path / "inside", MELS)


@pytest.mark.skipif(not asset("whisper", "ctranslate2", "model.bin").is_file(), reason="no pocket Whisper")
def test_telephone_files_are_heard_as_well_as_wide_ones(tmp_path: Path) -> None:
    """8 kHz, as it is and in the two codes of telephones, read as the app reads files."""
    from predtui.asr.whisperflow.load import load
    from predtui.lab.bench.asr_sounds import TUNING_SEED, pocket
    from predtui.lab.wer import word_error_rate

    model, options = load(AsrSettings(engine="whisperflow"))
    sounds = [sound for sound in pocket(16, 0, TUNING_SEED) if sound.seconds < 10]

    def wrong(codec: str, rate: int) -> float:
        pairs = []
        for sound in sounds:
            path = encoded(tmp_path / "a.wav", codec, rate, sound.samples.astype(np.float64))
            samples = to_float(b"".join(decode(path)))
            heard = model.decode(model.encode(samples, options.tail, options.padding(ended=True)), "", ())
            pairs.append((sound.text, " ".join(one.word.text for one in heard.words)))
        return word_error_rate(pairs)

    wide = wrong("pcm_s16le", 16_000)
    for codec in ("pcm_s16le", "pcm_mulaw", "pcm_alaw"):
        assert wrong(codec, 8_000) < wide + 0.15, "what is spoken differs a little by what was spoken before"
    model.widens = False
    assert wrong("pcm_s16le", 8_000) > wide + 0.3, "it is the upper bands that make the difference"
