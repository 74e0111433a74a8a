"""What is heard in one sound: words with their times, and how sure that is. Knows no model."""

from __future__ import annotations

from dataclasses import dataclass

from predtui.asr.agreement import Word
from predtui.asr.whisperflow.search import Effort


@dataclass(frozen=True, slots=True)
class TimedWord:
    """A word with the tokens that wrote it."""

    word: Word
    tokens: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Transcription:
    """The words of one sound, and how sure they are. ``compression``: text length by its compressed one."""

    words: tuple[TimedWord, ...]
    no_speech: float
    mean_logprob: float
    compression: float
    effort: Effort
