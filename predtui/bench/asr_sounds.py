"""The sounds of ``predtui bench asr``: held-out pocket utterances and long recordings joined from them, or those of a
manifest. Knows no recogniser but the one that aligns a manifest's transcripts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np

from predtui.asr.mel import Samples
from predtui.asr.wer import normal
from predtui.asr.whisper_model import RATE, WhisperModel
from predtui.training import manifest
from predtui.training.asr.evaluate import Clip, clips
from predtui.training.asr.voices import TRAINED

PAUSE = (0.3, 0.8)
"""Seconds between the utterances of a long recording."""
TUNING_SEED = 1000
"""Of the sounds that defaults and settings are chosen on: never those that are reported."""


@dataclass(frozen=True, slots=True)
class Recording:
    """``samples`` mono at 16 kHz; ``text`` said in them; ``ends`` of its words in seconds, empty where unknown."""

    samples: Samples
    text: str
    ends: tuple[float, ...] = ()

    @property
    def seconds(self) -> float:
        return len(self.samples) / RATE


def pocket(count: int, long: int, seed: int, minutes: float = 2.0) -> list[Recording]:
    """``count`` held-out utterances by trained voices, then ``long`` recordings of ``minutes`` joined from others."""
    spoken = clips(TRAINED, count + round(30 * minutes * long), seed)
    short = [
        Recording(clip.samples, clip.text, tuple(end for _, _, end in clip.words)) for clip in islice(spoken, count)
    ]
    rng = np.random.default_rng([seed, 13])
    return [*short, *(_joined(spoken, 60 * minutes, rng) for _ in range(long))]


def _joined(spoken: Iterator[Clip], seconds: float, rng: np.random.Generator) -> Recording:
    pieces: list[Samples] = []
    texts: list[str] = []
    ends: list[float] = []
    while sum(map(len, pieces)) < seconds * RATE:
        clip = next(spoken)
        begun = sum(map(len, pieces)) / RATE
        texts.append(clip.text)
        ends += [begun + end for _, _, end in clip.words]
        pieces += [clip.samples, np.zeros(int(rng.uniform(*PAUSE) * RATE), np.float32)]
    return Recording(np.concatenate(pieces), " ".join(texts), tuple(ends))


def listed(path: Path, model: WhisperModel) -> list[Recording]:
    """The recordings of a manifest. Those that fit into the model's window are aligned with their transcripts; of
    longer ones the times of words are not known, so they count for the word error rate only."""
    return [Recording(one.samples, one.text, _aligned(model, one)) for one in manifest.read(path)]


def _aligned(model: WhisperModel, one: manifest.Utterance) -> tuple[float, ...]:
    if not len(one.samples) or len(one.samples) > model.seconds * RATE:
        return ()
    spoken = model.align(model.encode(one.samples, np.zeros(0, np.float32), model.window), one.text)
    ends = tuple(word.word.end for word in spoken)
    return ends if len(ends) == len(normal(one.text)) else ()
