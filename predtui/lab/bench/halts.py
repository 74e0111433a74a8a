"""How soon the evaluation of a long prompt ends once it is halted, and how much of it is lost.

Must not know of engines, or of who halts them.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from statistics import median
from typing import Any

from predtui.llm.base import LanguageModel, Preempted
from predtui.llm.halt import Halt

TRIALS = 6
PROMPT = 600
"""Tokens of the prompt, at most."""


def halts(model: LanguageModel, halt: Halt) -> dict[str, Any]:
    """Median and most milliseconds from the halt to the end of the evaluation, and tokens of earlier pieces that had
    to be evaluated again, beside those of the piece that was halted. ``halt`` is what the model was opened with."""
    prompt = [(7919 * number + 13) % min(250, model.vocab_size) for number in range(min(PROMPT, model.context_size))]
    model.forget()
    began = time.perf_counter()
    model.forward(prompt)
    seconds = time.perf_counter() - began
    found = list(_halted(model, halt, prompt, seconds))
    late, lost = [ms for ms, _ in found], [tokens for _, tokens in found]
    return {
        "tokens_per_second": round(len(prompt) / seconds, 1),
        "n": len(found),
        "late_ms": round(median(late), 1) if late else 0.0,
        "worst_late_ms": round(max(late, default=0.0), 1),
        "lost_tokens": round(median(lost), 1) if lost else 0.0,
        "worst_lost_tokens": round(max(lost, default=0.0), 1),
    }


def _halted(model: LanguageModel, halt: Halt, prompt: Sequence[int], seconds: float) -> Iterator[tuple[float, int]]:
    """Milliseconds and tokens of each trial; none of one that was over before."""
    for trial in range(TRIALS):
        model.forget()
        before = model.counters.tokens
        times: list[float] = []
        timer = threading.Timer(seconds * (trial + 0.6) / (TRIALS + 1), _set, (halt, times))
        timer.start()
        try:
            model.forward(prompt)
        except Preempted:
            late = time.perf_counter() - times[0]
            halt.clear()
            model.forward(prompt)
            yield 1000 * late, model.counters.tokens - before - len(prompt)
        finally:
            timer.join()
            halt.clear()


def _set(halt: Halt, times: list[float]) -> None:
    times.append(time.perf_counter())
    halt.set()
