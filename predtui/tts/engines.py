"""Synthesisers by name, each made of the settings. Imports no engine at module scope."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable

from predtui.errors import PredtuiError
from predtui.settings import TtsSettings
from predtui.tts.base import BufferedSpeech, SpeechState, Synthesizer


class Mute:
    """A synthesiser that says nothing: replies are read, not heard."""

    rate = 22050

    def synthesize(
        self, text: str, state: SpeechState | None = None, after: SpeechState | None = None
    ) -> BufferedSpeech:
        return BufferedSpeech(())

    def close(self) -> None:
        pass


def espeak(options: TtsSettings) -> Synthesizer:
    from predtui.tts.espeak import EspeakSynthesizer

    return EspeakSynthesizer(options.voice, options.rate, options.pitch)


def zonos(options: TtsSettings) -> Synthesizer:
    needs_torch()
    from predtui.tts.zonos.load import load

    return load(options)


def needs_torch() -> None:
    """Raises PredtuiError where Zonos cannot run for want of a package."""
    missing = [name for name in ("torch", "transformers") if importlib.util.find_spec(name) is None]
    if missing:
        raise PredtuiError(f"Zonos needs {' and '.join(missing)}.", "Install it: pip install 'predtui[torch]'")


ENGINES: dict[str, Callable[[TtsSettings], Synthesizer]] = {
    "espeak": espeak,
    "zonos": zonos,
    "none": lambda options: Mute(),
}
