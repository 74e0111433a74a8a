"""How turns begin and end, and what is measured of them: what no stage is asked for. Must not know what reads it."""

from __future__ import annotations

from dataclasses import dataclass

from predtui.settings import Settings


@dataclass(frozen=True, slots=True)
class Manner:
    """``hands_free``: silence ends a spoken turn. ``barge_in``: a hands-free reply that is talked over, in
    ``language``, ends. ``by_silence``: by so much as the microphone's stage says, and not
    sooner where the model has it that the turn is over. ``pause_s``: after so many seconds without a change, or more
    where keys come slowly, the input is speculated on as if it ended there; 0: never. ``measures``: each turn again,
    without speculation."""

    hands_free: bool = False
    barge_in: bool = False
    language: str = "en"
    by_silence: bool = False
    pause_s: float = 0.0
    measures: bool = True


def manner_of(settings: Settings) -> Manner:
    """What these settings ask for."""
    audio, llm = settings.audio, settings.llm
    return Manner(
        hands_free=audio.hands_free,
        barge_in=audio.barge_in,
        language=settings.asr.language,
        by_silence=audio.silence_ms > 0,
        pause_s=llm.pause_ms / 1000,
        measures=llm.baseline,
    )
