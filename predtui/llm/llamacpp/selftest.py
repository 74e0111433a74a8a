"""The child process of ``repacking``: times and compares forwards with a file's weights as stored and repacked.

Each way's result is printed as a line of JSON as soon as it is known, since a crash may follow. The model is opened as
the app opens it: same context, same batches, same threads. Must not decide whether to repack.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from predtui.errors import PredtuiError
from predtui.llm.base import LanguageModel, never
from predtui.llm.llamacpp.model import LlamaCppModel
from predtui.llm.llamacpp.opening import open_model
from predtui.llm.llamacpp.repacking import REPACKED, STORED
from predtui.llm.rows import Logits

SIZES = (1, 2, 8, 64)
"""Tokens of the forwards: one, as in decoding; a few, as in verification; many, as in a prompt."""
_REPEATS, _LEAST, _ENOUGH_S = 7, 3, 1.0
"""Most forwards of each size; the fewest where two ways are compared, whose spread they show; and the seconds after
which there are no more than these."""
_NEAR = 0.2
"""Two logits closer than this share of their row's standard deviation are a near tie, in which the two ways may choose
different tokens: neither is wrong, and a machine always uses the same one."""


def main() -> None:
    """Command line: the GGUF file and the number of threads. Prints {"stored": {"ms": {tokens: milliseconds}}}, then
    both ways so, with "wrong": what repacked weights get wrong, and "gains": {tokens: how many times as fast they were
    as stored ones, in each pair of forwards}. Exits with status 1 where the file cannot be loaded."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    path, threads = Path(sys.argv[1]), int(sys.argv[2])
    try:
        with ExitStack() as stack:
            stored = _open(stack, path, threads, STORED)
            rows = {size: _rows(stored, size) for size in SIZES if size <= stored.context_size}
            _tell(STORED, {"ms": {size: _medians(_ms([stored], size, 1))[0] for size in rows}})
            repacked = _open(stack, path, threads, REPACKED)
            wrong = difference(rows, {size: _rows(repacked, size) for size in rows})
            if stored.exactness.exact and not repacked.exactness.exact:
                wrong = (
                    wrong or f"a logit changes by up to {repacked.exactness.differs:.2g} with the tokens of a forward"
                )
            times = {size: _ms([stored, repacked], size, _LEAST) for size in rows}
    except PredtuiError as error:
        sys.exit(error.message)
    medians = {size: _medians(ms) for size, ms in times.items()}
    gains = {size: [round(before / after, 4) for before, after in ms] for size, ms in times.items()}
    _tell(STORED, {"ms": {size: each[0] for size, each in medians.items()}})
    _tell(REPACKED, {"ms": {size: each[1] for size, each in medians.items()}, "wrong": wrong, "gains": gains})


def _open(stack: ExitStack, path: Path, threads: int, weights: str) -> LlamaCppModel:
    model = open_model(path, threads, 0, never, weights)
    stack.callback(model.close)
    return model


def _rows(model: LanguageModel, size: int) -> Logits:
    """Logits [size, vocabulary] of a forward over ``size`` tokens from an empty cache."""
    model.forget()
    return model.forward([(7919 * number + 13) % model.vocab_size for number in range(size)], last=size).logits


def _ms(models: Sequence[LanguageModel], size: int, least: int) -> list[list[float]]:
    """Milliseconds of such a forward for each of the models, ``least`` times or more often. They take turns, so that
    other work on this machine slows them alike; each has run one before."""
    times: list[list[float]] = []
    while len(times) < least or (len(times) < _REPEATS and sum(map(sum, times)) < 1000 * _ENOUGH_S):
        times.append([])
        for model in models:
            start = time.perf_counter()
            _rows(model, size)
            times[-1].append(1000 * (time.perf_counter() - start))
    return times


def _medians(times: list[list[float]]) -> list[float]:
    """Of each model."""
    return [round(statistics.median(each), 4) for each in zip(*times, strict=True)]


def difference(stored: dict[int, Logits], repacked: dict[int, Logits]) -> str:
    """What is wrong with the ``repacked`` logits [size, vocabulary] by size, given the ``stored`` ones, in words; empty
    where every row is finite and chooses the same token, near ties aside."""
    for size, expected in stored.items():
        got = repacked[size]
        if not np.isfinite(got).all():
            return f"no finite logits in a forward over {size} tokens"
        chosen = np.take_along_axis(expected, got.argmax(1)[:, None], 1)[:, 0]
        gaps = expected.max(1) - chosen
        if (gaps > _NEAR * expected.std(1)).any():
            return f"another token in a forward over {size} tokens, with a logit gap of {gaps.max():.3f}"
    return ""


def _tell(weights: str, found: dict[str, object]) -> None:
    print(json.dumps({weights: found}), flush=True)


def _end_with_parent() -> None:
    """End this process when the one that started it does: its end of the pipe on standard input closes then."""
    os.read(0, 1)
    os._exit(1)
