"""Streaming zipformers: on random weights in the published layout, through sherpa-onnx itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predtui.asr.sherpa import SherpaRecognizer, check, create
from predtui.asr.stage import recognizer
from predtui.errors import PredtuiError
from predtui.settings import AsrSettings
from tests.asr import tiny_zipformer

FRAME = 640
"""Bytes of 20 ms."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_zipformer.write(tmp_path_factory.mktemp("zipformer"))


@pytest.fixture(scope="module")
def engine(folder: Path) -> SherpaRecognizer:
    made = recognizer(AsrSettings(engine="sherpa", model=str(folder)))
    assert isinstance(made, SherpaRecognizer)
    return made


def sound(seed: int, seconds: float) -> bytes:
    """Notes of 0.2 s, of any height and loudness."""
    random, parts = np.random.default_rng(seed), []
    for _ in range(max(1, round(seconds * 5))):
        wave = np.sin(2 * np.pi * random.uniform(100, 3000) * np.arange(3200) / 16000)
        parts.append(wave * random.uniform(0.05, 0.8) * 32767)
    return np.concatenate(parts).astype("<i2").tobytes()


def heard(engine: SherpaRecognizer, pcm: bytes, size: int, pauses: bool = False) -> tuple[list[str], str]:
    """The stable words after each piece, and all in the end."""
    engine.start()
    stable = []
    for begin in range(0, len(pcm), size):
        if hypothesis := engine.feed(pcm[begin : begin + size], voiced=True):
            stable.append(hypothesis.stable)
    if pauses:
        engine.feed(b"", voiced=False)
    return stable, engine.finish().stable


@given(st.integers(0, 1000), st.floats(0.2, 3), st.sampled_from([FRAME, 5 * FRAME, 50 * FRAME]), st.booleans())
@settings(max_examples=25, deadline=None)
def test_words_do_not_depend_on_how_sound_comes_and_stable_ones_stay(
    engine: SherpaRecognizer, seed: int, seconds: float, size: int, pauses: bool
) -> None:
    pcm = sound(seed, seconds)
    stable, said = heard(engine, pcm, size, pauses)
    assert said == heard(engine, pcm, FRAME)[1]
    for words in stable:
        assert said.startswith(words)


def test_it_says_something_in_small_letters(engine: SherpaRecognizer) -> None:
    said = [heard(engine, sound(seed, 2), FRAME)[1] for seed in range(6)]
    assert len(set(said)) > 1
    assert all(words == words.lower() for words in said)
    assert {word for words in said for word in words.split()} & {"the", "cat", "sat", "on", "mat"}


def test_a_pause_completes_the_last_word_and_the_end_adds_nothing_to_it(engine: SherpaRecognizer) -> None:
    engine.start()
    engine.feed(sound(3, 2), voiced=True)
    paused = engine.feed(b"", voiced=False)
    assert paused is not None
    assert not paused.unfinished
    hearing = engine._hearing
    engine._hearing = None  # type: ignore[assignment]
    assert engine.finish().stable == f"{paused.stable} {paused.tentative}".strip()
    engine._hearing = hearing


def test_nobody_spoke(engine: SherpaRecognizer) -> None:
    engine.start()
    assert engine.feed(b"", voiced=False) is None
    assert engine.finish().stable == ""


def test_of_two_forms_that_of_8_bits_is_taken(tmp_path: Path) -> None:
    tiny_zipformer.write(tmp_path)
    tiny_zipformer.write(tmp_path, seed=4, ends="-epoch-99-avg-1.int8.onnx")
    tiny_zipformer.write(only := tmp_path / "only", seed=4)
    one, other = (create(AsrSettings(engine="sherpa", model=str(place))) for place in (tmp_path, only))
    assert heard(one, sound(1, 2), FRAME) == heard(other, sound(1, 2), FRAME)


@pytest.mark.parametrize(
    ("broken", "told"),
    [
        ("gone", "There is no folder"),
        ("joiner", "has no joiner"),
        ("tokens", "has no tokens.txt"),
        ("damaged", "is no ONNX file, or is damaged"),
        ("offline", "does not stream"),
        ("words", "is no streaming transducer"),
    ],
)
def test_what_cannot_be_loaded_is_told_in_a_line(tmp_path: Path, broken: str, told: str) -> None:
    folder = tiny_zipformer.write(tmp_path / "model", streams=broken != "offline")
    if broken == "gone":
        folder = tmp_path / "nowhere"
    elif broken == "joiner":
        next(folder.glob("joiner*")).unlink()
    elif broken == "tokens":
        (folder / "tokens.txt").unlink()
    elif broken == "damaged":
        next(folder.glob("encoder*")).write_bytes(b"\\x08\\x07 nothing")
    elif broken == "words":
        next(folder.glob("joiner*")).write_bytes(b"nothing")
    with pytest.raises(PredtuiError, match=told) as raised:
        create(AsrSettings(engine="sherpa", model=str(folder)))
    assert "\\n" not in raised.value.message


def test_the_doctor_names_the_folder_and_a_whisper_is_none(folder: Path) -> None:
    assert check(AsrSettings(engine="sherpa", model=str(folder))) == str(folder)
    with pytest.raises(PredtuiError, match="none of the Whispers"):
        check(AsrSettings(engine="sherpa", model="pocket"))
