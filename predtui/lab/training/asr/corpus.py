"""The speech corpus of the pocket Whisper: utterances as float16 log-mel frames on disk, with the times of their words.

    corpus = build(Path("build/asr/corpus"), utterances=24_000, seed=0, workers=2)

Made once by several processes; never part of the repository. What is said, by whom and how is a function of the seed;
the flutter of eSpeak NG's voices is its own. Knows nothing of tokens.
"""

from __future__ import annotations

import itertools
import json
import multiprocessing
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
import numpy.typing as npt

from predtui.asr.whisperflow.mel import log_mel
from predtui.lab.training.asr.config import FRAMES_A_SECOND, SAMPLE_RATE
from predtui.lab.training.asr.sentences import varied
from predtui.lab.training.asr.sound import Samples, recorded, wordless
from predtui.lab.training.asr.speech import Manner, speak
from predtui.lab.training.asr.voices import PLAIN, TRAINED

CHUNK = 64
"""Utterances that one process makes at a time."""
WORDLESS, PAIRS, PLAIN_SHARE = 0.04, 0.3, 0.3
WORDLESS_SECONDS = (1.0, 11.0)
WORDS_A_MINUTE, PITCH, PAUSE = (120, 200), (25, 75), (0.15, 0.6)

Times = tuple[tuple[str, float, float], ...]


@dataclass(frozen=True, slots=True)
class Utterance:
    """``frames`` [frames, mels] float16 log-mel at 100 a second; ``words`` with begin and end in seconds."""

    frames: npt.NDArray[np.float16]
    words: Times


@dataclass(frozen=True, slots=True)
class Corpus:
    """All frames in one array on disk, and where each utterance lies in it."""

    frames: npt.NDArray[np.float16]
    spans: tuple[tuple[int, int, Times], ...]

    def __len__(self) -> int:
        return len(self.spans)

    def __getitem__(self, index: int) -> Utterance:
        start, end, words = self.spans[index]
        return Utterance(self.frames[start:end], words)

    @property
    def hours(self) -> float:
        return len(self.frames) / FRAMES_A_SECOND / 3600


def build(folder: Path, utterances: int, seed: int, workers: int = 2) -> Corpus:
    """Make the corpus in ``folder``, or open the one that is there for the same number and seed."""
    facts = {"utterances": utterances, "seed": seed}
    index = folder / "index.jsonl"
    if not index.exists() or json.loads(index.open(encoding="utf-8").readline()) != facts:
        _make(folder, facts, workers)
    lines = index.read_text(encoding="utf-8").splitlines()[1:]
    spans = tuple(
        (start, end, tuple((word, begin, stop) for word, begin, stop in words))
        for start, end, words in map(json.loads, lines)
    )
    frames = np.memmap(folder / "frames.f16", dtype=np.float16, mode="r").reshape(-1, 80)
    return Corpus(frames, spans)


def _make(folder: Path, facts: dict[str, int], workers: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    jobs = [(facts["seed"], chunk, CHUNK) for chunk in range(-(-facts["utterances"] // CHUNK))]
    total, partial = 0, folder / "index.partial"
    with (
        multiprocessing.get_context("spawn").Pool(workers) as pool,
        (folder / "frames.f16").open("wb") as frames,
        partial.open("w", encoding="utf-8") as index,
    ):
        index.write(json.dumps(facts) + "\n")
        for made in pool.imap(_chunk, jobs):
            for utterance in made:
                frames.write(utterance.frames.tobytes())
                index.write(json.dumps([total, total + len(utterance.frames), utterance.words]) + "\n")
                total += len(utterance.frames)
    partial.replace(folder / "index.jsonl")


def _chunk(job: tuple[int, int, int]) -> list[Utterance]:
    seed, chunk, count = job
    texts = varied(hash((seed, chunk)))
    return list(islice(_utterances(texts, seed, chunk), count))


def _utterances(texts: Iterator[str], seed: int, chunk: int) -> Iterator[Utterance]:
    """Each from chances of its own: how long eSpeak NG's flutter makes one must not change what is said after it."""
    for number in itertools.count():
        rng = np.random.default_rng([seed, chunk, number])
        if rng.random() < WORDLESS:
            yield Utterance(compact(wordless(float(rng.uniform(*WORDLESS_SECONDS)), rng)), ())
            continue
        said = [next(texts) for _ in range(2 if rng.random() < PAIRS else 1)]
        samples, words = spoken_together(said, manner(TRAINED, rng), rng)
        if words:
            yield Utterance(compact(recorded(samples, rng)), words)


def manner(voices: tuple[str, ...], rng: np.random.Generator) -> Manner:
    """One of ``voices`` at some rate and pitch; the plain accents come more often than their share."""
    plain = tuple(voice for voice in voices if voice in PLAIN)
    chosen = plain if plain and rng.random() < PLAIN_SHARE else voices
    voice = chosen[int(rng.integers(len(chosen)))]
    rate, pitch, spread = (int(rng.integers(*limits)) for limits in (WORDS_A_MINUTE, PITCH, PITCH))
    return Manner(voice, rate, pitch, spread)


def spoken_together(said: list[str], how: Manner, rng: np.random.Generator) -> tuple[Samples, Times]:
    """Sentences one after another with pauses between, a little silence before and after, and their words' times."""
    pieces = [np.zeros(int(rng.uniform(0.0, 0.3) * SAMPLE_RATE), np.float32)]
    words: list[tuple[str, float, float]] = []
    for text in said:
        begun = sum(map(len, pieces)) / SAMPLE_RATE
        speech = speak(text, how)
        words += [(word, round(begun + start, 3), round(begun + end, 3)) for word, start, end in speech.words]
        pause = np.zeros(int(rng.uniform(*PAUSE) * SAMPLE_RATE), np.float32)
        pieces += [speech.samples, pause]
    return np.concatenate(pieces), tuple(words)


def compact(samples: Samples) -> npt.NDArray[np.float16]:
    """``samples`` as float16 log-mel frames [frames, mels]."""
    return np.ascontiguousarray(log_mel(samples).T.astype(np.float16))
