"""Piper: small voices in many languages, each one ONNX file with a JSON beside it, by the package piper-tts.

That package is GPL and an extra of its own. Must not know of clauses.

Source: https://github.com/OHF-Voice/piper1-gpl
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from predtui.errors import PredtuiError
from predtui.settings import TtsSettings
from predtui.tts.clauses import ClauseSynthesizer, Samples, mono, warmed
from predtui.tts.networks import facts, find, first_line, needs, session, within

USUAL = "piper-ljspeech"
NORMAL = 175
"""Words a minute of a length scale of 1."""
_PHONEMES = ("espeak", "text")
"""The others fetch models of their own."""


class PiperVoice:
    """A ``clauses.Voice`` over a ``piper.PiperVoice``, said with its ``SynthesisConfig``."""

    def __init__(self, voice: Any, manner: Any, title: str) -> None:
        self.rate, self.title, self.language = int(voice.config.sample_rate), title, str(voice.config.espeak_voice)
        self._voice, self._manner = voice, manner

    def say(self, clause: str) -> Samples:
        try:
            sound = [chunk.audio_float_array for chunk in self._voice.synthesize(clause, self._manner)]
        except Exception as error:  # of onnxruntime's own types, and Piper's
            raise PredtuiError(f"{self.title} failed: {first_line(error)}.", "Is it a voice of Piper's?") from error
        return mono(np.concatenate([np.zeros(0, dtype=np.float32), *sound]), self.title)


def create(options: TtsSettings) -> ClauseSynthesizer:
    """Raises PredtuiError where the package or a file is missing, or the file is no voice of Piper's."""
    path, told = _chosen(options)
    from piper import PiperVoice as Engine
    from piper import SynthesisConfig
    from piper.config import PiperConfig

    try:
        config = PiperConfig.from_dict(told)
    except (KeyError, TypeError, ValueError) as error:
        raise PredtuiError(f"{path}.json describes no voice of Piper's: {error}.", "Pull it again.") from error
    voice = Engine(session=session(path, options.threads), config=config, download_dir=path.parent)
    manner = SynthesisConfig(
        speaker_id=config.speaker_id_map.get(options.voice),
        length_scale=config.length_scale * NORMAL / options.rate,
        normalize_audio=False,
    )
    return warmed(PiperVoice(voice, manner, f"Piper · {path.stem}"))


def check(options: TtsSettings) -> str:
    """The file. Raises PredtuiError where something is missing."""
    return str(_chosen(options)[0])


def voices(options: TtsSettings) -> list[str]:
    """The speakers of a voice of several, by name. Raises PredtuiError where the voice is not here."""
    return list(_chosen(options)[1].get("speaker_id_map") or ())


def _chosen(options: TtsSettings) -> tuple[Path, dict[str, Any]]:
    """The file of the voice and what is told of it. Raises PredtuiError."""
    needs("piper-tts", "piper", "piper")
    path = find(options.model or USUAL)
    if path.is_dir():
        voices = sorted(path.rglob("*.onnx"))
        if len(voices) != 1:
            raise PredtuiError(f"{path} holds {len(voices)} voices.", "Give --tts-model the .onnx file of one.")
        path = voices[0]
    told = facts(*within(path.parent, f"{path.name}.json"))
    if told.get("phoneme_type", "espeak") not in _PHONEMES:
        raise PredtuiError(
            f"{path.name} transcribes with models of its own, which are not fetched.",
            "Choose another voice of Piper's.",
        )
    return path, told
