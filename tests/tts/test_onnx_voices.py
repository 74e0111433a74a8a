"""Kokoro, Piper and Supertonic on tiny networks in their published layouts; what is missing is a line with a remedy."""

from __future__ import annotations

import importlib.util
import json
import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

from predtui.clock import RealClock
from predtui.errors import PredtuiError
from predtui.registry import SYNTHESISERS
from predtui.runtime.hosts.process import ProcessHost
from predtui.runtime.needs import needs
from predtui.runtime.shares import share
from predtui.settings import TtsSettings
from predtui.state import events as ev
from predtui.state.stage import StageSpec
from predtui.tts.base import NeuralSynthesizer, Speaker
from predtui.tts.kokoro import KokoroVoice
from predtui.tts.stage import spare_of, synthesizer
from tests.models.homes import alone
from tests.runtime.hosts.collector import Collector
from tests.tts import onnx_voices

LAYOUTS = {
    "kokoro": (onnx_voices.kokoro, 24000), "piper": (onnx_voices.piper, 16000),
    "supertonic": (onnx_voices.supertonic, 44100),
}  # fmt: skip
SENTENCE = "Hello there, my friend; how are you?"


def made(engine: str, folder: Path) -> TtsSettings:
    write: Callable[[Path], Path] = LAYOUTS[engine][0]
    return TtsSettings(engine=engine, model=str(write(folder)))


def sound(options: TtsSettings, text: str = SENTENCE) -> np.ndarray:
    return np.frombuffer(b"".join(synthesizer(options).synthesize(text)), dtype="<i2")


@pytest.mark.parametrize("engine", LAYOUTS)
def test_a_voice_in_the_published_layout_speaks(engine: str, tmp_path: Path) -> None:
    options = made(engine, tmp_path)
    check = SYNTHESISERS.check(engine)
    assert check is not None
    assert str(tmp_path) in check(options)
    voice = synthesizer(options)
    assert isinstance(voice, NeuralSynthesizer)
    assert isinstance(voice, Speaker)
    assert voice.language.split("-")[0] == "en"
    assert voice.rate == LAYOUTS[engine][1]
    chunks = list(voice.synthesize(SENTENCE))
    assert len(b"".join(chunks)) > voice.rate / 5
    assert max(map(len, chunks)) <= 2 * round(voice.rate * 0.06)
    assert not list(voice.synthesize("  "))
    list(voice.synthesize("… 😀 日本 ⟦a⟧"))


@pytest.mark.parametrize("engine", LAYOUTS)
def test_it_speaks_in_a_process_that_is_confined(engine: str, tmp_path: Path) -> None:
    out = Collector()
    spec = StageSpec("tts", "predtui.tts.stage:create", made(engine, tmp_path), needs=needs()["tts"], threads=1)
    host = ProcessHost(spec, out.append, RealClock())
    host.start()
    host.send(ev.SentenceAhead(turn=1, revision=1, text=SENTENCE))
    ready = out.wait(lambda event: isinstance(event, ev.SpeechReady) and event.chunks > 1)
    host.stop()
    assert isinstance(ready, ev.SpeechReady)
    assert ready.seconds > 0.2
    assert not [event for event in out if isinstance(event, ev.Notice)], "another speaks in its place"


@pytest.mark.parametrize("engine", LAYOUTS)
def test_its_threads_are_those_of_the_settings(engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[int] = []

    class Session(onnxruntime.InferenceSession):  # type: ignore[misc]
        def __init__(self, *given: object, sess_options: onnxruntime.SessionOptions, **more: object) -> None:
            told.append(sess_options.intra_op_num_threads)
            super().__init__(*given, sess_options=sess_options, **more)

    monkeypatch.setattr(onnxruntime, "InferenceSession", Session)
    options = replace(made(engine, tmp_path), threads=3)
    synthesizer(options)
    assert set(told) == {3}
    assert share(options) == 3


@pytest.mark.parametrize("engine", LAYOUTS)
def test_one_that_is_not_here_is_a_line_with_how_to_get_it(
    engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone(monkeypatch, tmp_path)
    with pytest.raises(PredtuiError) as told:
        synthesizer(TtsSettings(engine=engine))
    assert "predtui models pull " in told.value.remedy
    with pytest.raises(PredtuiError, match=r"nowhere is not on this machine. Which voices there are: predtui models"):
        synthesizer(TtsSettings(engine=engine, model="nowhere"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(PredtuiError, match=r"holds (no|0 voices)"):
        synthesizer(TtsSettings(engine=engine, model=str(tmp_path / "empty")))


@pytest.mark.parametrize("engine", ["piper", "supertonic"])
def test_a_missing_package_is_a_line_with_what_to_install(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(PredtuiError) as told:
        synthesizer(TtsSettings(engine=engine))
    assert told.value.remedy == f"Install it: pip install 'predtui[{engine}]'"


@pytest.mark.parametrize("engine", LAYOUTS)
def test_a_network_that_is_none_is_a_line(engine: str, tmp_path: Path) -> None:
    options = made(engine, tmp_path)
    for path in tmp_path.rglob("*.onnx"):
        path.write_bytes(pickle.dumps({"weights": [1.0]}))
    with pytest.raises(PredtuiError, match=r"is damaged or no network"):
        synthesizer(options)


def test_kokoro_speaks_in_the_voice_or_the_language_that_is_asked_for(tmp_path: Path) -> None:
    options = made("kokoro", tmp_path)
    voices = {"am_adam": "am_adam", "en-us": "af_heart", "en-gb": "bf_emma", "fr": "ff_siwis"}
    for asked, name in voices.items():
        assert synthesizer(replace(options, voice=asked)).title == f"Kokoro · {name}"
    assert not np.array_equal(sound(options), sound(replace(options, voice="am_adam")))
    with pytest.raises(PredtuiError, match=r"no voice 'xy' in .* Give --tts-voice one of: af_heart, am_adam"):
        synthesizer(replace(options, voice="xy"))


def test_kokoros_voice_is_a_style_for_each_count_of_phonemes(tmp_path: Path) -> None:
    """The row before the count; zeros around the phonemes; marks stay."""

    class Network:
        def __init__(self) -> None:
            self.asked: list[dict[str, np.ndarray]] = []

        def get_inputs(self) -> list[object]:
            return []

        def run(self, _: None, inputs: dict[str, np.ndarray]) -> list[np.ndarray]:
            self.asked.append(inputs)
            return [np.zeros((1, 5), dtype=np.float32)]

    network, vocabulary = Network(), {phoneme: token for token, phoneme in enumerate(onnx_voices.PHONEMES)}
    styles = np.repeat(np.arange(510, dtype=np.float32)[:, None], 256, axis=1)
    voice = KokoroVoice(network, vocabulary, styles, "en-us", 9.0, "Kokoro")
    tokens = voice.tokens("Yes, of course!")
    assert [onnx_voices.PHONEMES[token] for token in tokens if onnx_voices.PHONEMES[token] in ",!"] == [",", "!"]
    voice.say("Yes, of course!")
    asked = network.asked[0]
    assert asked["tokens"].tolist() == [[0, *tokens, 0]]
    assert asked["style"].tolist() == [[float(len(tokens) - 1)] * 256]
    assert asked["speed"] == 2
    voice.say("banana " * 150)
    assert max(one["tokens"].shape[1] for one in network.asked) == 512


def test_kokoros_voices_are_numbers_and_never_pickles(tmp_path: Path) -> None:
    options = made("kokoro", tmp_path)
    expected = sound(replace(options, voice="am_adam"))
    styles = np.fromfile(tmp_path / "voices" / "am_adam.bin", dtype="<f4").reshape(510, 1, 256)
    for path in (tmp_path / "voices").iterdir():
        path.unlink()
    archive = tmp_path / "voices-v1.0.bin"
    with archive.open("wb") as file:
        np.savez(file, am_adam=styles)
    assert np.array_equal(sound(replace(options, voice="am_adam")), expected)
    with archive.open("wb") as file:
        np.savez(file, am_adam=np.array([{"evil": 1}], dtype=object))
    with pytest.raises(PredtuiError, match="damaged, or a pickle"):
        synthesizer(replace(options, voice="am_adam"))
    archive.write_bytes(pickle.dumps({"am_adam": [1.0]}))
    with pytest.raises(PredtuiError, match="damaged, or a pickle"):
        synthesizer(replace(options, voice="am_adam"))


def test_a_speaking_rate_makes_piper_and_supertonic_shorter_or_longer(tmp_path: Path) -> None:
    options = made("supertonic", tmp_path)
    assert len(sound(replace(options, rate=120))) > len(sound(replace(options, rate=300)))


def test_of_several_voices_of_piper_one_must_be_named(tmp_path: Path) -> None:
    one = onnx_voices.piper(tmp_path / "en")
    onnx_voices.piper(tmp_path / "de", "de_DE-tiny-low")
    with pytest.raises(PredtuiError, match="holds 2 voices"):
        synthesizer(TtsSettings(engine="piper", model=str(tmp_path)))
    assert sound(TtsSettings(engine="piper", model=str(one.parent))).any()
    onnx_voices.piper(tmp_path / "en", phoneme_type="pinyin")
    with pytest.raises(PredtuiError, match="transcribes with models of its own"):
        synthesizer(TtsSettings(engine="piper", model=str(one)))
    Path(f"{one}.json").write_text(json.dumps({"audio": {}}))
    with pytest.raises(PredtuiError, match="describes no voice"):
        synthesizer(TtsSettings(engine="piper", model=str(one)))


def test_supertonic_speaks_languages_and_styles_that_it_has(tmp_path: Path) -> None:
    options = made("supertonic", tmp_path)
    assert synthesizer(replace(options, voice="M1", language="de")).title == "Supertonic · M1"
    with pytest.raises(PredtuiError, match="does not speak 'xx'"):
        synthesizer(replace(options, language="xx"))
    with pytest.raises(PredtuiError, match=r"no voice 'M9' .* one of: F1, M1"):
        synthesizer(replace(options, voice="M9"))


def test_the_spare_voice_knows_nothing_of_the_others() -> None:
    spare = spare_of(TtsSettings(engine="kokoro", voice="af_heart", language="de"))
    assert (spare.engine, spare.voice) == ("espeak", "de")
    assert spare_of(TtsSettings(voice="fr-fr")).voice == "fr-fr"
    assert spare_of(TtsSettings(engine="supertonic", voice="M1", language="no such")).voice == TtsSettings().voice
    assert spare_of(TtsSettings(engine="zonos", voice="fr-fr", language="de")).voice == "fr-fr"
