"""The child process of ``repacking``: a file's forwards with its weights as stored, then repacked, timed and compared.

A line of JSON for each way is written as soon as it is known, since a crash may follow. The model is opened as the app
opens it: same context, same batches, same threads. Must not decide anything.
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
from predtui.llm.llamacpp.repacking import REPACKED, STORED
from predtui.llm.llamacpp.tree import open_model
from predtui.llm.rows import Logits

SIZES = (1, 2, 8, 64)
"""Tokens of the forwards: one as decoding takes, a few as verification does, many as a prompt does."""
_REPEATS, _ENOUGH_S = 7, 1.0
"""A size is repeated so often, or until it has taken so long."""
_NEAR = 0.2
"""Two tokens whose logits differ by less than this share of their deviation are a near tie: either may be chosen:
both ways round alike, but not in the same places. Which of them is used is decided once."""


def main() -> None:
    """Arguments: the GGUF file, and how many threads. Ends with status 1 where the file cannot be loaded."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    path, threads = Path(sys.argv[1]), int(sys.argv[2])
    try:
        with ExitStack() as stack:
            stored = _open(stack, path, threads, STORED)
            rows = {size: _rows(stored, size) for size in SIZES if size <= stored.context_size}
            _tell(STORED, {"ms": {size: _ms([stored], size)[0] for size in rows}})
            repacked = _open(stack, path, threads, REPACKED)
            wrong = difference(rows, {size: _rows(repacked, size) for size in rows})
            if stored.exactness.exact and not repacked.exactness.exact:
                wrong = (
                    wrong or f"a logit changes by up to {repacked.exactness.differs:.2g} with the tokens of a forward"
                )
            times = {size: _ms([stored, repacked], size) for size in rows}
    except PredtuiError as error:
        sys.exit(error.message)
    for number, weights in enumerate((STORED, REPACKED)):
        _tell(weights, {"ms": {size: ms[number] for size, ms in times.items()}, "wrong": wrong})


def _open(stack: ExitStack, path: Path, threads: int, weights: str) -> LlamaCppModel:
    model = open_model(path, threads, 0, never, weights)
    stack.callback(model.close)
    return model


def _rows(model: LanguageModel, size: int) -> Logits:
    """Logits of every token of a forward over so many, before which nothing is remembered."""
    model.forget()
    return model.forward([(7919 * number + 13) % model.vocab_size for number in range(size)], last=size).logits


def _ms(models: Sequence[LanguageModel], size: int) -> list[float]:
    """Median time of such a forward for each of the models, which take turns, so that other work on this machine
    strikes them alike. They have done it before."""
    times: list[list[float]] = []
    while len(times) < _REPEATS and sum(map(sum, times)) < 1000 * _ENOUGH_S:
        times.append([])
        for model in models:
            start = time.perf_counter()
            _rows(model, size)
            times[-1].append(1000 * (time.perf_counter() - start))
    return [round(statistics.median(each), 4) for each in zip(*times, strict=True)]


def difference(stored: dict[int, Logits], repacked: dict[int, Logits]) -> str:
    """What is wrong with the second, given the first; empty where each row chooses the same token, near ties aside."""
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
    """Standard input is a pipe that nobody writes to: it ends when the process that asked is gone."""
    os.read(0, 1)
    os._exit(1)
