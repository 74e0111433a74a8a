"""Supertonic: four small networks from letters to sound, very fast on a CPU, by the package supertonic (MIT).

Its own loader is not used, which would fetch what is missing. Must not know of clauses.

Source: https://github.com/supertone-inc/supertonic
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from predtui.errors import PredtuiError
from predtui.settings import TtsSettings
from predtui.tts.clauses import ClauseSynthesizer, Samples, mono, warmed
from predtui.tts.networks import facts, find, first_line, needs, session, within

USUAL = "supertonic-3"
NORMAL = 175 / 1.05
"""Words a minute of a speed of 1: the usual speed is 1.05."""
STEPS = 5
"""Of the flow from noise to sound: fewer are faster, more are cleaner."""
NETWORKS = ("duration_predictor", "text_encoder", "vector_estimator", "vocoder")
_FILES = tuple(f"onnx/{name}" for name in (*(f"{name}.onnx" for name in NETWORKS), "tts.json", "unicode_indexer.json"))


class SupertonicVoice:
    """A ``clauses.Voice`` over a ``supertonic.core.Supertonic`` with one of its styles; ``speed`` 0.7 to 2."""

    def __init__(self, engine: Any, style: Any, language: str, speed: float, title: str) -> None:
        self.rate, self.title, self.language = int(engine.sample_rate), title, language
        self._engine, self._style = engine, style
        self._speed = min(2.0, max(0.7, speed))

    def say(self, clause: str) -> Samples:
        clause = "".join(character for character in clause if ord(character) < 1 << 16)  # all that its index holds
        try:
            sound, seconds = self._engine([clause], self._style, STEPS, self._speed, self.language)
        except Exception as error:  # of onnxruntime's own types, and Supertonic's
            raise PredtuiError(
                f"{self.title} failed: {first_line(error)}.", "Is it Supertonic's own folder?"
            ) from error
        return mono(sound, self.title)[: round(float(seconds[0]) * self.rate)]


def create(options: TtsSettings) -> ClauseSynthesizer:
    """Raises PredtuiError where the package or a file is missing, or there is no such voice or language."""
    folder, style = _chosen(options)
    from supertonic.config import AVAILABLE_LANGUAGES
    from supertonic.core import Supertonic, UnicodeProcessor
    from supertonic.loader import load_voice_style_from_json_file

    language = options.language.split("-")[0]
    if language not in AVAILABLE_LANGUAGES:
        known = ", ".join(AVAILABLE_LANGUAGES)
        raise PredtuiError(f"Supertonic does not speak {options.language!r}.", f"Set tts.language to one of: {known}.")
    networks = [session(folder / "onnx" / f"{name}.onnx", options.threads) for name in NETWORKS]
    try:
        letters = UnicodeProcessor(str(folder / "onnx" / "unicode_indexer.json"))
        engine = Supertonic(facts(folder / "onnx" / "tts.json"), letters, *networks)
        voice = load_voice_style_from_json_file(style)
    except (KeyError, TypeError, ValueError) as error:
        raise PredtuiError(f"{folder} is no voice of Supertonic's: {first_line(error)}.", "Pull it again.") from error
    return warmed(SupertonicVoice(engine, voice, language, options.rate / NORMAL, f"Supertonic · {style.stem}"))


def check(options: TtsSettings) -> str:
    """The folder and the voice. Raises PredtuiError where something is missing."""
    folder, style = _chosen(options)
    return f"{folder}, voice {style.stem}"


def voices(options: TtsSettings) -> list[str]:
    """By name. Raises PredtuiError where the model is not here."""
    return sorted(_styles(find(options.model or USUAL)))


def _styles(folder: Path) -> dict[str, Path]:
    return {path.stem: path for path in sorted(folder.glob("voice_styles/*.json"))}


def _chosen(options: TtsSettings) -> tuple[Path, Path]:
    """The folder, and the style in it that ``tts.voice`` names; the first where that is a language."""
    needs("supertonic", "supertonic", "supertonic")
    folder = find(options.model or USUAL)
    within(folder, *_FILES)
    styles = _styles(folder)
    if options.voice in styles:
        return folder, styles[options.voice]
    if not styles or options.voice not in (TtsSettings().voice, options.language):
        some = ", ".join(styles) or "none"
        raise PredtuiError(
            f"Supertonic has no voice {options.voice!r} in {folder}.", f"Give --tts-voice one of: {some}."
        )
    return folder, next(iter(styles.values()))
