"""Fresh training batches for ever: drawn, tokenised and sorted by length in worker processes ahead of the trainer.

Batches come in *pools*. Pool ``i`` depends on the seed and on ``i`` alone, so the stream is the same for any number
of workers and can be taken up anywhere. Imports no torch: workers start fast and stay small.
"""

from __future__ import annotations

import multiprocessing
import queue
import random
import signal
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.process import BaseProcess, parent_process
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer

from predtui.lab.training.corpus.text import cut
from predtui.lab.training.corpus.types import Example
from predtui.lab.training.pocket.config import Recipe
from predtui.lab.training.pocket.tokenizer import LABELS, PAD, SPECIAL_TOKENS, encode_message, load_tokenizer

JUDGED = 3
"""Which message of a judgement is the answer that it judges, counted from the last."""
JUDGED_WEIGHT = 0.5
SAID_WEIGHT = 0.05
"""Of the tokens that the user says last: light, for there is much to learn in them and little to know; enough to tell
what may be said next, which is answered ahead."""

Sampler = Callable[[random.Random, int], Example]
"""Draws an example for the pool of this number."""


@dataclass(frozen=True, slots=True)
class Encoded:
    """One dialogue: its tokens, and for each of them the weight of its loss (0: context, not learned).

    ``fits``: of the tokens that end a word of a judged answer, whether the answer fits so far. ``label``: where the
    yes or no of a judgement stands."""

    ids: list[int]
    weights: list[float]
    fits: dict[int, bool]
    label: int | None = None


@dataclass(frozen=True, slots=True)
class Batch:
    """Dialogues of like length: ``ids`` [rows, length] padded on the right; ``positions`` are flat indices into it
    whose *next* token is learned; ``targets`` are those tokens, ``weights`` their share of the loss, and ``labels``
    says which of them are yes/no judgements. ``judged`` are flat indices of tokens that end a word of a judged answer,
    ``fits`` (0 or 1) says whether it fits so far, and ``answers`` are the tokens that say so and deny it."""

    ids: npt.NDArray[np.int64]
    positions: npt.NDArray[np.int64]
    targets: npt.NDArray[np.int64]
    weights: npt.NDArray[np.float32]
    labels: npt.NDArray[np.bool_]
    judged: npt.NDArray[np.int64]
    fits: npt.NDArray[np.float32]
    answers: tuple[int, int]

    @property
    def tokens(self) -> int:
        """Tokens that go through the model, padding included."""
        return int(self.ids.size)


@dataclass(frozen=True, slots=True)
class Cursor:
    """A place in the stream: the next batch to take."""

    pool: int = 0
    batch: int = 0


def encode(tokenizer: Tokenizer, example: Example, judge_weight: float) -> Encoded:
    """Tokens of a dialogue; replies are learned from their first word to their end mark, the last one or all, and
    lightly what the user says last, where it is whole.

    Where a judgement says yes, what is judged is a reply that fits its prompt: it is learned too, lightly, since a
    model judges a reply by the one it expects.
    """
    ids: list[int] = []
    weights: list[float] = []
    fits: dict[int, bool] = {}
    begin, label = 0, None
    for number, message in enumerate(example.messages, 1):
        tokens = encode_message(tokenizer, message)
        last = number == len(example.messages)
        learned = message.role == "assistant" and (last or example.learn_all)
        ids += tokens
        said = example.kind == "reply" and number == len(example.messages) - 1
        weights += ([0.0] + [1.0 if learned else SAID_WEIGHT if said else 0.0] * len(tokens))[: len(tokens)]
        if example.kind == "judge" and number == len(example.messages) + 1 - JUDGED:
            begin = len(ids) - len(tokens)
            for word, end in enumerate(_word_ends(tokenizer, message.content)):
                fits[begin + end] = example.fitting is None or word < example.fitting
        if learned and example.kind == "judge":
            label = len(ids) - len(tokens) + 1
            weights[label] = judge_weight
    if example.fitting is None and fits:
        end = max(fits)
        weights[begin + 1 : end + 1] = [JUDGED_WEIGHT] * (end - begin)
    return Encoded(ids, weights, fits, label)


def _word_ends(tokenizer: Tokenizer, answer: str) -> list[int]:
    """Where in the tokens of a message each word of it ends; [] where a cut at a word changes the tokens before it."""
    whole = tokenizer.encode(answer).ids
    parts = [tokenizer.encode(cut(answer, words)).ids for words in range(1, answer.count(" ") + 2)]
    return [len(part) for part in parts] if all(whole[: len(part)] == part for part in parts) else []


def collate(rows: list[Encoded], answers: tuple[int, int]) -> Batch:
    """Pad dialogues to the longest of them. ``answers``: the tokens of yes and no."""
    length = max(len(row.ids) for row in rows)
    ids = np.full((len(rows), length), SPECIAL_TOKENS.index(PAD), dtype=np.int64)
    weights = np.zeros((len(rows), length), dtype=np.float32)
    labels = np.zeros_like(ids, dtype=np.bool_)
    for number, row in enumerate(rows):
        ids[number, : len(row.ids)] = row.ids
        weights[number, : len(row.ids)] = row.weights
        if row.label is not None:
            labels[number, row.label] = True
    learned = weights[:, 1:] > 0
    where, place = np.nonzero(learned)
    judged = [(number * length + place, fits) for number, row in enumerate(rows) for place, fits in row.fits.items()]
    return Batch(
        ids,
        where * length + place,
        ids[:, 1:][learned],
        weights[:, 1:][learned],
        labels[:, 1:][learned],
        np.array([place for place, _ in judged], dtype=np.int64),
        np.array([fits for _, fits in judged], dtype=np.float32),
        answers,
    )


def make_pool(
    sampler: Sampler, tokenizer: Tokenizer, recipe: Recipe, context: int, seed: int, pool: int
) -> list[Batch]:
    """Draw about ``recipe.pool_batches`` batches: sorted by length inside the pool, then put in random order."""
    rng = random.Random(f"pocket:{seed}:{pool}")
    wanted = recipe.pool_batches * recipe.batch_tokens
    rows: list[Encoded] = []
    while wanted > 0:
        row = encode(tokenizer, sampler(rng, pool), recipe.judge_weight)
        if len(row.ids) <= context:
            rows.append(row)
            wanted -= len(row.ids)
    rows.sort(key=lambda row: len(row.ids))
    yes, no = (tokenizer.encode(label).ids[0] for label in LABELS)
    batches: list[Batch] = []
    group: list[Encoded] = []
    for row in rows:
        if group and (len(group) + 1) * len(row.ids) > recipe.batch_tokens:
            batches.append(collate(group, (yes, no)))
            group = []
        group.append(row)
    batches.append(collate(group, (yes, no)))
    rng.shuffle(batches)
    return batches


def _work(
    out: Any, sampler: Sampler, folder: Path, recipe: Recipe, context: int, seed: int, first: int, stride: int
) -> None:
    """Body of a worker: pools ``first``, ``first + stride``, ... until the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()
    pool = first
    item: list[Batch] | str
    while True:
        try:
            item = make_pool(sampler, load_tokenizer(folder), recipe, context, seed, pool)
        except Exception:
            item = traceback.format_exc()
        while True:
            if parent is not None and not parent.is_alive():
                out.cancel_join_thread()
                return
            try:
                out.put(item, timeout=1.0)
                break
            except queue.Full:
                continue
        if isinstance(item, str):
            return
        pool += stride


class BatchStream:
    """Batches in their fixed order from ``start`` on. A context manager: leaving it ends the workers."""

    def __init__(
        self,
        sampler: Sampler,
        folder: Path,
        recipe: Recipe,
        context: int,
        seed: int,
        start: Cursor,
        workers: int = 1,
    ) -> None:
        spawn = multiprocessing.get_context("spawn")
        self._start = start
        self._queues: list[Any] = [spawn.Queue(maxsize=2) for _ in range(workers)]
        self._processes: list[BaseProcess] = [
            spawn.Process(
                target=_work,
                args=(out, sampler, folder, recipe, context, seed, start.pool + number, workers),
                daemon=True,
            )
            for number, out in enumerate(self._queues)
        ]

    def __enter__(self) -> BatchStream:
        for process in self._processes:
            process.start()
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._processes:
            process.terminate()
            process.join()

    def _pool(self, number: int) -> list[Batch]:
        turn = (number - self._start.pool) % len(self._queues)
        while True:
            try:
                item: list[Batch] | str = self._queues[turn].get(timeout=5.0)
                break
            except queue.Empty:
                if not self._processes[turn].is_alive():
                    raise RuntimeError("a data worker ended without a word") from None
        if isinstance(item, str):
            raise RuntimeError(f"a data worker failed:\n{item}")
        return item

    def __iter__(self) -> Iterator[tuple[Batch, Cursor]]:
        """Pairs of a batch and the place after it, which a checkpoint stores."""
        cursor = self._start
        while True:
            batches = self._pool(cursor.pool)
            for number in range(cursor.batch, len(batches)):
                after = Cursor(cursor.pool, number + 1)
                yield batches[number], after if number + 1 < len(batches) else Cursor(cursor.pool + 1)
            cursor = Cursor(cursor.pool + 1)
