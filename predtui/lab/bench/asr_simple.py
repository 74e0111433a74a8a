"""The faster-whisper engine of the app over any CTranslate2 folder, for comparison. Knows no benchmark.

faster-whisper gives the encoder 30 s of every sound; a model with a shorter window gets the beginning of them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from predtui.asr.agreement import Word
from predtui.asr.faster_whisper import Samples, Transcribe, WhisperRecognizer
from predtui.asr.whisperflow.model import WhisperModel


def recognizer(folder: Path, threads: int, beam: int) -> WhisperRecognizer:
    """The app's recogniser over ``folder``."""
    return WhisperRecognizer(transcriber(folder, threads, beam))


def transcriber(folder: Path, threads: int, beam: int) -> Transcribe:
    """faster-whisper over ``folder``."""
    from faster_whisper import WhisperModel as FasterWhisper

    window = WhisperModel(folder, threads, device="cpu").window

    class Windowed(FasterWhisper):  # type: ignore[misc]
        def encode(self, features: Any) -> Any:
            return super().encode(np.ascontiguousarray(features[..., :window]))

    whisper = Windowed(str(folder), device="cpu", cpu_threads=threads, local_files_only=True)

    def transcribe(samples: Samples, prompt: str) -> list[Word]:
        segments, _ = whisper.transcribe(
            samples,
            language="en",
            beam_size=beam,
            temperature=0.0,
            word_timestamps=True,
            without_timestamps=True,
            condition_on_previous_text=False,
            initial_prompt=prompt or None,
        )
        words = [word for segment in segments for word in segment.words or ()]
        return [Word(word.word.strip(), float(word.start), float(word.end)) for word in words if word.word.strip()]

    return transcribe
