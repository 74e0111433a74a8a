"""The sounds of ``predtui bench asr``: held-out pocket utterances and long recordings joined from them, everyday
requests by synthetic voices, or those of a manifest; with noise where it is wanted. Knows no recogniser but the one
that aligns transcripts of which the times are not known.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Literal

import numpy as np

from predtui.asr.whisperflow.mel import Samples
from predtui.asr.whisperflow.model import RATE, WhisperModel
from predtui.errors import PredtuiError
from predtui.lab.training import manifest
from predtui.lab.training.asr.corpus import manner
from predtui.lab.training.asr.evaluate import Clip, clips
from predtui.lab.training.asr.sound import noise
from predtui.lab.training.asr.speech import speak
from predtui.lab.training.asr.voices import PLAIN, TRAINED, UNHEARD
from predtui.lab.wer import normal

Voices = Literal["pocket", "espeak", "flite"]
""""pocket": the pocket domain by the voices that models were trained on; the others: everyday requests, by eSpeak NG's
plain accents and held-out variants, or by Flite's voices, which are made of people's recordings."""
FLITE = ("slt", "rms", "awb", "kal16")

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


def everyday(voices: Voices, count: int, seed: int, model: WhisperModel) -> list[Recording]:
    """``count`` utterances of the everyday requests, in an order and by voices that ``seed`` draws. Raises PredtuiError
    where Flite is wanted and missing."""
    rng = np.random.default_rng([seed, 17])
    texts = Path(__file__).with_name("everyday.txt").read_text(encoding="utf-8").splitlines()
    chosen = [texts[place] for _ in range(-(-count // len(texts))) for place in rng.permutation(len(texts))][:count]
    if voices == "flite":
        said = [manifest.Utterance(_by_flite(text, FLITE[int(rng.integers(len(FLITE)))]), text) for text in chosen]
        return [Recording(one.samples, one.text, _aligned(model, one)) for one in said]
    spoken = [speak(text, manner((*PLAIN, *UNHEARD), rng)) for text in chosen]
    return [
        Recording(one.samples, text, tuple(end for _, _, end in one.words))
        for one, text in zip(spoken, chosen, strict=True)
    ]


def noisy(recordings: Sequence[Recording], decibels: float, seed: int) -> list[Recording]:
    """The same with coloured noise, so many ``decibels`` below the speech."""
    rng = np.random.default_rng([seed, 19])

    def with_noise(samples: Samples) -> Samples:
        level = np.sqrt(float(np.mean(samples**2)) * 10.0 ** (-decibels / 10.0))
        mixed: Samples = np.clip(samples + level * noise(len(samples), rng), -1.0, 1.0).astype(np.float32)
        return mixed

    return [replace(one, samples=with_noise(one.samples)) for one in recordings]


def _by_flite(text: str, voice: str) -> Samples:
    program = shutil.which("flite")
    if program is None:
        raise PredtuiError("the program flite is not installed.", "Install it, e.g. by apt install flite.")
    with tempfile.TemporaryDirectory() as folder:
        wav = Path(folder) / "said.wav"
        subprocess.run([program, "-voice", voice, "-t", text, "-o", str(wav)], check=True, capture_output=True)
        return manifest.samples_of(wav)


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
