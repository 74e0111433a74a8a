"""The synthesiser that says nothing: replies are read, not heard."""

from __future__ import annotations

from predtui.settings import TtsSettings
from predtui.tts.base import BufferedSpeech, SpeechState


class Mute:
    """A ``Synthesizer`` of silence."""

    rate = 22050

    def synthesize(
        self, text: str, state: SpeechState | None = None, after: SpeechState | None = None
    ) -> BufferedSpeech:
        return BufferedSpeech(())

    def close(self) -> None:
        pass


def create(options: TtsSettings) -> Mute:
    return Mute()
