"""Kokoro: 82 million weights, a network from phonemes to sound, in the layout of onnx-community/Kokoro-82M-v1.0-ONNX.

Asks for no package but those of every install: eSpeak NG transcribes. (kokoro-onnx would bring phonemizer, which is
GPL, for that.) Voices are plain numbers, or numpy's archives of them read without pickles. Must not know of clauses.

Source: https://huggingface.co/hexgrad/Kokoro-82M
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

from predtui.errors import PredtuiError
from predtui.settings import TtsSettings
from predtui.tts.clauses import ClauseSynthesizer, Samples, mono, warmed
from predtui.tts.espeak import transcribe
from predtui.tts.networks import facts, find, run, session, within

USUAL = "kokoro-82m"
RATE = 24000
STYLE = 256
"""Numbers of a style; a voice has one for each count of phonemes."""
MOST = 510
"""Phonemes that the network takes at once."""
NORMAL = 175
"""Words a minute of a speed of 1."""
LANGUAGES = {
    "a": "en-us", "b": "en-gb", "e": "es", "f": "fr-fr", "h": "hi", "i": "it", "j": "ja", "p": "pt-br", "z": "cmn",
}  # fmt: skip
"""By the first letter of a voice's name, as eSpeak NG names them."""
_FAVOURITES = ("af_heart", "bf_emma")
_ENGLISH = str.maketrans({"ʲ": "j", "r": "ɹ", "x": "k", "ɬ": "l"})
"""What eSpeak NG writes and Kokoro's English has not heard."""
_MARKS = re.compile(r"([;:,.!?…—]+)(?=\s|$)")
_SWITCH = re.compile(r"\([a-z-]+\)")
"""Where eSpeak NG says a word in another language."""


class KokoroVoice:
    """A ``clauses.Voice``. ``vocabulary``: phoneme → token; ``styles`` [phonemes, 256]; ``speed`` 0.5 to 2."""

    rate = RATE

    def __init__(
        self, network: Any, vocabulary: dict[str, int], styles: Samples, language: str, speed: float, title: str
    ) -> None:
        self.title, self.language = title, language
        self._network, self._vocabulary, self._styles = network, vocabulary, styles
        self._speed = np.array([min(2.0, max(0.5, speed))], dtype=np.float32)
        names = {put.name for put in network.get_inputs()}
        self._input = "input_ids" if "input_ids" in names else "tokens"

    def say(self, clause: str) -> Samples:
        tokens = self.tokens(clause)
        parts = [self._said(tokens[start : start + MOST]) for start in range(0, len(tokens), MOST)]
        return np.concatenate([np.zeros(0, dtype=np.float32), *parts])

    def tokens(self, clause: str) -> list[int]:
        """Its phonemes and marks, as far as the network knows them."""
        *pairs, rest = _MARKS.split(clause)
        texts, marks = [*pairs[::2], rest], [*pairs[1::2], ""]
        phonemes = zip(transcribe(texts, self.language), marks, strict=True)
        line = _SWITCH.sub("", " ".join(said + mark for said, mark in phonemes)).strip()
        line = line.translate(_ENGLISH) if self.language.startswith("en") else line
        return [self._vocabulary[phoneme] for phoneme in line if phoneme in self._vocabulary]

    def _said(self, tokens: list[int]) -> Samples:
        style = self._styles[min(len(tokens), len(self._styles)) - 1]
        inputs = {self._input: np.array([[0, *tokens, 0]], dtype=np.int64), "style": style[None], "speed": self._speed}
        return mono(run(self._network, inputs, self.title), self.title)


def create(options: TtsSettings) -> ClauseSynthesizer:
    """Raises PredtuiError where a file is missing or damaged, or there is no such voice."""
    folder, name = _chosen(options)
    vocabulary = _vocabulary(folder)
    voice = KokoroVoice(
        session(_network(folder), options.threads),
        vocabulary,
        _styles(folder, name),
        LANGUAGES.get(name[0], "en-us"),
        options.rate / NORMAL,
        f"Kokoro · {name}",
    )
    return warmed(voice)


def check(options: TtsSettings) -> str:
    """The folder and the voice. Raises PredtuiError where something is missing."""
    folder, name = _chosen(options)
    return f"{_network(folder)}, voice {name}"


def voices(options: TtsSettings) -> list[str]:
    """By name. Raises PredtuiError where the model is not here."""
    folder = find(options.model or USUAL)
    return _voices(folder if folder.is_dir() else folder.parent)


def _chosen(options: TtsSettings) -> tuple[Path, str]:
    """The folder, and the voice in it that ``tts.voice`` names, or one of the language that it names."""
    folder = find(options.model or USUAL)
    folder = folder if folder.is_dir() else folder.parent
    _network(folder)
    there, asked = _voices(folder), options.voice
    if asked in there:
        return folder, asked
    fitting = [name for name in there if LANGUAGES.get(name[0], "").split("-")[0] == asked.split("-")[0]]
    exact = [name for name in fitting if LANGUAGES[name[0]] == asked] or fitting
    if not exact:
        some = ", ".join(there[:8]) or "none"
        raise PredtuiError(f"Kokoro has no voice {asked!r} in {folder}.", f"Give --tts-voice one of: {some}.")
    return folder, next((name for name in _FAVOURITES if name in exact), exact[0])


def _network(folder: Path) -> Path:
    found = [*sorted(folder.glob("onnx/*.onnx")), *sorted(folder.glob("*.onnx"))]
    if not found:
        raise PredtuiError(f"{folder} holds no onnx/model.onnx.", "Give --tts-model Kokoro's folder, or pull it again.")
    return next((path for path in found if path.name == "model.onnx"), found[0])


def _vocabulary(folder: Path) -> dict[str, int]:
    """Out of tokenizer.json of the hub's layout, or config.json of Kokoro's own. Raises PredtuiError."""
    own = folder / "tokenizer.json"
    told = facts(own).get("model") if own.is_file() else facts(*within(folder, "config.json"))
    vocabulary = told.get("vocab") if isinstance(told, dict) else None
    if not isinstance(vocabulary, dict) or not all(isinstance(token, int) for token in vocabulary.values()):
        raise PredtuiError(f"{folder} tells no phonemes.", "It wants Kokoro's tokenizer.json or config.json.")
    return vocabulary


def _archives(folder: Path) -> list[Path]:
    return [*sorted(folder.glob("voices*.bin")), *sorted(folder.glob("voices*.npz"))]


def _voices(folder: Path) -> list[str]:
    """Their names: those of the files in voices/, or of the arrays in voices*.bin."""
    names = [path.stem for path in folder.glob("voices/*.bin")]
    for archive in _archives(folder):
        try:
            with np.load(archive, allow_pickle=False) as arrays:
                names += list(arrays)
        except (OSError, ValueError, AttributeError, EOFError) as error:
            raise _no_voice(archive) from error
    return sorted(name for name in names if name)


def _styles(folder: Path, name: str) -> Samples:
    """[phonemes, 256]. Raises PredtuiError."""
    path = folder / "voices" / f"{name}.bin"
    try:
        if path.is_file():
            numbers = np.fromfile(path, dtype="<f4")
        else:
            path = next(path for path in _archives(folder) if name in np.load(path, allow_pickle=False))
            numbers = np.load(path, allow_pickle=False)[name]
        styles = np.asarray(numbers, dtype=np.float32).reshape(-1, STYLE)
    except (OSError, ValueError) as error:
        raise _no_voice(path) from error
    if not len(styles) or not np.isfinite(styles).all():
        raise _no_voice(path)
    return styles


def _no_voice(path: Path) -> PredtuiError:
    return PredtuiError(f"{path} is no voice of Kokoro's: it is damaged, or a pickle.", "Pull the voice again.")
