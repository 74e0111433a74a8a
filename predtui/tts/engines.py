"""Synthesisers by name, each made of the settings. Imports no engine at module scope."""

from __future__ import annotations

from collections.abc import Callable

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
    from predtui.errors import PredtuiError

    try:
        from predtui.tts.zonos.load import load
    except ImportError as error:
        raise PredtuiError(f"Zonos needs PyTorch: {error}.", "Install it: pip install 'predtui[torch]'") from error
    return load(options)


ENGINES: dict[str, Callable[[TtsSettings], Synthesizer]] = {
    "espeak": espeak,
    "zonos": zonos,
    "none": lambda options: Mute(),
}
