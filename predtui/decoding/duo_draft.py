"""DuoDecoding's draft: several sequences out of one model within one budget, made in a thread of its own.

Must not know of the target.
"""

from __future__ import annotations

import math
import queue
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from predtui.decoding.base import Sampler
from predtui.llm.base import Stale
from predtui.llm.rows import Row
from predtui.llm.sequences import SEQUENCES, Sequences

Now = Callable[[], float]


@dataclass(frozen=True, slots=True)
class Request:
    """Draft ``budget`` tokens in all after ``context``, the next of which is at ``position`` of the reply."""

    context: list[int]
    budget: int
    position: int


@dataclass(frozen=True, slots=True)
class Drafted:
    """``sequences`` that may follow, the likeliest first, and the seconds of the clock between which they were made.
    ``waited``: how long whoever asked then waited for them."""

    sequences: list[list[int]]
    start: float
    end: float
    waited: float = 0.0

    @property
    def seconds(self) -> float:
        return self.end - self.start


def draft(
    model: Sequences, sampler: Sampler, asked: Request, count: int = 0, superseded: Stale = lambda: False
) -> list[list[int]]:
    """Dynamic multi-sequence drafting (DuoDecoding, section 3.2): the draft's choice opens the first sequence, and each
    first token opens another that is likelier than theta = p(first choice) x p(second choice). They share the budget,
    a token each in turn, until it is spent. ``count`` above 0: that many sequences, whatever theta is.
    """
    context, position = asked.context, asked.position
    row = model.forward_each([context])[0]
    sequences = [[sampler.choose(row, position)]]
    left = asked.budget - 1
    if count != 1 and left >= (1 if count else 2):
        others, theta = _likeliest(row, sequences[0][0]), 0.0
        if not count:
            after = model.forward_each([[*context, *sequences[0]]])[0]
            sequences[0].append(sampler.choose(after, position + 1))
            left -= 1
            theta = _probability(row, sequences[0][0]) * _probability(after, sequences[0][1])
        most = min(left, (count or SEQUENCES) - 1)
        opened = [[token] for token in others[:most] if _probability(row, token) > theta]
        sequences += opened
        left -= len(opened)
    while left > 0 and not superseded():
        growing = sequences[:left]
        rows = model.forward_each([[*context, *sequence] for sequence in growing])
        for sequence, one in zip(growing, rows, strict=True):
            sequence.append(sampler.choose(one, position + len(sequence)))
        left -= len(growing)
    return sequences


def _likeliest(row: Row, chosen: int) -> list[int]:
    """The likeliest tokens but for the chosen one, as many as may open sequences."""
    return [token for token in row.top(SEQUENCES) if token != chosen]


def _probability(row: Row, token: int) -> float:
    return math.exp(row.logprob(token))


class DraftThread:
    """Drafts while the target verifies. Whatever becomes of it, the other thread goes on."""

    def __init__(self, work: Callable[[Request, Stale], list[list[int]]], now: Now) -> None:
        """``work`` runs in the thread alone, and gives up early when it is ``superseded`` by another request."""
        self._work, self._now = work, now
        self._requests: queue.SimpleQueue[Request | None] = queue.SimpleQueue()
        self._answers: queue.SimpleQueue[tuple[Request, Drafted | Exception]] = queue.SimpleQueue()
        self._asked: Request | None = None
        self._busy: Request | None = None
        self._stalled: Request | None = None
        self._thread = threading.Thread(target=self._run, name="draft", daemon=True)
        self._thread.start()

    @property
    def ready(self) -> bool:
        """Whether it lives, and is over what made it late."""
        return self.alive and (self._stalled is None or self._busy is not self._stalled)

    @property
    def alive(self) -> bool:
        return self._thread.is_alive()

    def ask(self, request: Request) -> None:
        """Begin with this, and leave what was asked before."""
        self._asked = request
        self._requests.put(request)

    def answer(self, patience: float) -> Drafted:
        """What was asked for last. Raises TimeoutError after ``patience`` seconds, and whatever ended the thread."""
        begun = self._now()
        while True:
            try:
                request, answer = self._answers.get(timeout=patience)
            except queue.Empty:
                self._stalled = self._asked
                raise TimeoutError(f"it took more than {patience:g} s") from None
            if isinstance(answer, Exception):
                raise answer
            if request is self._asked:
                return replace(answer, waited=self._now() - begun)

    def close(self, patience: float) -> None:
        """End the thread, and wait so many seconds for that."""
        self._requests.put(None)
        self._thread.join(patience)

    def _run(self) -> None:
        while (request := self._requests.get()) is not None:
            self._busy = request
            if not self._requests.empty():
                continue
            start = self._now()
            try:
                sequences = self._work(request, lambda: not self._requests.empty())
            except Exception as error:
                self._answers.put((request, error))
                return
            self._answers.put((request, Drafted(sequences, start, self._now())))
            self._busy = None


def tokens_in(sequences: Sequence[Sequence[int]]) -> int:
    """Tokens of all sequences together."""
    return sum(map(len, sequences))
