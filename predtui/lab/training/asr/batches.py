"""Batches of the speech corpus: crops of utterances, changed a little each time, with their tokens.

A batch is a function of (seed, number), so that an interrupted run goes on with the batch it was at. Must not know
how the model is made.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer

from predtui.asr.whisperflow.mel import FRAMES_A_SECOND
from predtui.lab.training.asr.config import Crops, Shape
from predtui.lab.training.asr.corpus import Corpus, Times
from predtui.lab.training.asr.tokenizer import END, PREVIOUS, SILENCE, START, UNTIMED

POOL = 16
"""Batches that are cut to lengths together: the longest of each is little longer than its shortest."""
IGNORED = -100
FLOOR = 2.0
"""Log-mel units (of 40 dB) from the loudest to digital silence."""
_SHORTEST, _EARLY, _LATE, _HEARD = 50, 8, 4, 0.85

Floats = npt.NDArray[np.float32]
Ids = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Example:
    """``mel`` [mels, frames]; what is said in it, and the words before it, which may be given as a prompt."""

    mel: Floats
    text: str
    prompt: str = ""


@dataclass(frozen=True, slots=True)
class Batch:
    """``mels`` [batch, mels, frames], ``lengths`` in frames, ``units`` and ``unit_lengths`` for CTC, and the decoder's
    ``ids`` and ``labels`` [batch, tokens], IGNORED where there is nothing to learn."""

    mels: Floats
    lengths: Ids
    units: Ids
    unit_lengths: Ids
    ids: Ids
    labels: Ids


class Batches:
    """Random batches of ``corpus`` for a model of ``shape``: nothing is longer than its window or its context."""

    def __init__(self, corpus: Corpus, tokenizer: Tokenizer, shape: Shape, size: int, crops: Crops, seed: int) -> None:
        self._corpus, self._tokenizer, self._window, self._size = corpus, tokenizer, shape.window, size
        self._context = shape.target_positions
        self._crops, self._seed = crops, seed
        vocabulary: dict[str, int] = tokenizer.get_vocab()
        self._special = {name: vocabulary[name] for name in (END, PREVIOUS, SILENCE, START, UNTIMED)}
        self._pool: list[list[Example]] = []
        self._drawn = (-1, False)

    def get(self, number: int, padded: bool) -> Batch:
        """Batch ``number`` from 0; ``padded``: to the whole window, which several examples share where they fit, or to
        its own longest."""
        pool, index = divmod(number, POOL)
        if (pool, padded) != self._drawn:
            rng = np.random.default_rng([self._seed, pool])
            draw = self._shared if padded else self._example
            drawn = sorted((draw(rng) for _ in range(POOL * self._size)), key=lambda one: one.mel.shape[1])
            batches = [drawn[start : start + self._size] for start in range(0, len(drawn), self._size)]
            self._pool, self._drawn = [batches[place] for place in rng.permutation(POOL)], (pool, padded)
        return self._collate(self._pool[index], padded)

    def _shared(self, rng: np.random.Generator) -> Example:
        """One example, and often others after it, since an encoder takes as long for silence as for speech."""
        one = self._example(rng)
        while rng.random() < self._crops.shared:
            other = self._example(rng)
            mel = np.concatenate([one.mel, other.mel], axis=1)
            mel = np.maximum(mel, mel.max() - FLOOR)
            longer = Example(mel, f"{one.text} {other.text}".strip(), one.prompt)
            row, _ = self._row(longer, self._tokens(longer.text))
            if mel.shape[1] <= self._window - self._crops.padding and len(row) <= self._context:
                one = longer
        return one

    def _example(self, rng: np.random.Generator) -> Example:
        utterance = self._corpus[int(rng.integers(len(self._corpus)))]
        longest = self._window - self._crops.padding
        begin, end = _span(len(utterance.frames), utterance.words, longest, self._crops.whole, rng)
        text, before = said(utterance.words, begin / FRAMES_A_SECOND, end / FRAMES_A_SECOND)
        prompt = before if begin and rng.random() < self._crops.prompted else ""
        mel = utterance.frames[begin:end].T.astype(np.float32)
        return Example(changed(mel, self._crops, rng), text, prompt)

    def _collate(self, examples: list[Example], padded: bool) -> Batch:
        frames = self._window if padded else max(example.mel.shape[1] for example in examples)
        mels = np.stack(
            [
                np.pad(one.mel, ((0, 0), (0, frames - one.mel.shape[1])), constant_values=one.mel.max() - FLOOR)
                for one in examples
            ]
        )
        units = [self._tokens(example.text) for example in examples]
        rows = [self._row(example, tokens) for example, tokens in zip(examples, units, strict=True)]
        return Batch(
            mels=mels,
            lengths=np.array([example.mel.shape[1] for example in examples]),
            units=np.array([token for tokens in units for token in tokens], np.int64),
            unit_lengths=np.array([len(tokens) for tokens in units]),
            ids=_stacked([ids for ids, _ in rows], self._special[END]),
            labels=_stacked([labels for _, labels in rows], IGNORED),
        )

    def _row(self, example: Example, tokens: list[int]) -> tuple[list[int], list[int]]:
        """Inputs and labels of the decoder: [previous, prompt,] start, untimed, text, end."""
        special = self._special
        prompt = [special[PREVIOUS], *self._tokens(example.prompt)] if example.prompt else []
        ids = [*prompt, special[START], special[UNTIMED], *tokens]
        first = special[UNTIMED] if tokens else special[SILENCE]
        return ids, [IGNORED] * len(prompt) + [first, *tokens, special[END]]

    def _tokens(self, text: str) -> list[int]:
        ids: list[int] = self._tokenizer.encode(f" {text}").ids if text else []
        return ids


def said(words: Times, begin: float, end: float) -> tuple[str, str]:
    """Of a crop in seconds: the words heard in it (but for a little of them), and up to 12 words before it."""
    heard = [word for word, start, stop in words if start >= begin - 0.06 and start + _HEARD * (stop - start) <= end]
    before = [word for word, start, _ in words if start < begin - 0.06]
    return " ".join(heard), " ".join(before[-12:])


def changed(mel: Floats, crops: Crops, rng: np.random.Generator) -> Floats:
    """``mel`` [mels, frames] at another level, of another throat, through another microphone."""
    bins = np.arange(len(mel), dtype=np.float32)
    if rng.random() < 0.6:
        warped = np.clip(bins * (1.0 + rng.uniform(-crops.warp, crops.warp)), 0, len(mel) - 1.001)
        low = warped.astype(np.int64)
        share = (warped - low)[:, None].astype(np.float32)
        mel = mel[low] * (1 - share) + mel[low + 1] * share
    tilt = np.interp(bins, np.linspace(0, len(mel), 5), rng.uniform(-crops.tilt, crops.tilt, 5) / 2)
    mel = mel + (rng.uniform(-0.6, 0.15) + tilt)[:, None].astype(np.float32)
    floored: Floats = np.maximum(mel, mel.max() - FLOOR).astype(np.float32)
    return floored


def _span(frames: int, words: Times, window: int, whole: float, rng: np.random.Generator) -> tuple[int, int]:
    """First and last frame of a crop: all, or from about the beginning of a word to anywhere."""
    if (frames <= window and rng.random() < whole) or not words:
        return 0, min(frames, window)
    begin = 0
    if rng.random() < 0.6:
        word = words[int(rng.integers(len(words)))]
        begin = max(0, round(word[1] * FRAMES_A_SECOND) + int(rng.integers(-_EARLY, _LATE)))
    begin = max(0, min(begin, frames - _SHORTEST))
    longest = min(frames, begin + window)
    return begin, longest if rng.random() < 0.5 else int(rng.integers(min(longest, begin + _SHORTEST), longest + 1))


def _stacked(rows: list[list[int]], filler: int) -> Ids:
    stacked = np.full((len(rows), max(map(len, rows))), filler, dtype=np.int64)
    for index, row in enumerate(rows):
        stacked[index, : len(row)] = row
    return stacked
