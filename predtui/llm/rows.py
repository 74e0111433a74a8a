"""What a forward returns: rows that answer what callers ask, whether an engine knows whole rows of logits or only the
likeliest tokens.

A model says beforehand what its rows answer (``Answers``), so that what asks for more is refused when it is put
together; a row that is asked for more all the same raises ``Unanswered``. Must not know of models or of sampling.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, overload

import numpy as np
import numpy.typing as npt

Logits = npt.NDArray[np.float32]


class Unanswered(LookupError):  # noqa: N818 - a condition, as StopIteration is
    """The engine does not tell what was asked of a row."""


class Row(Protocol):
    """The distribution of the token at one position, as far as the engine tells it."""

    def argmax(self) -> int:
        """The likeliest token; the lowest of them where several are equal."""
        ...

    def top(self, count: int) -> Sequence[int]:
        """The ``count`` likeliest tokens, the likeliest first; fewer where the engine tells fewer."""
        ...

    def rank(self, token: int) -> int:
        """How many tokens are likelier than ``token``, counted among those that the engine tells: ``Answers.top`` for
        one that is not among them."""
        ...

    def logprob(self, token: int) -> float:
        """Natural logarithm of the token's probability. Raises Unanswered."""
        ...

    def gap(self, token: int) -> float:
        """By how much the logit of ``token`` is below the highest, which is also how much less its log-probability is.
        Raises Unanswered."""
        ...

    @property
    def logits(self) -> Logits:
        """The whole row [vocab_size]. Raises Unanswered."""
        ...


class Rows(Protocol):
    """The rows of one forward, in the order of their positions."""

    def __len__(self) -> int: ...

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> Rows: ...

    def __iter__(self) -> Iterator[Row]: ...

    @property
    def logits(self) -> Logits:
        """[len(self), vocab_size]. Raises Unanswered."""
        ...

    @property
    def finite(self) -> bool:
        """Whether all that the engine tells is a number, as it is unless weights are damaged."""
        ...


@dataclass(frozen=True, slots=True)
class Answers:
    """What the rows of a model tell. ``whole``: all logits, and with them all the rest. ``top``: how many of the
    likeliest tokens, with their log-probabilities. ``logprob``: the log-probability of any token."""

    whole: bool
    top: int
    logprob: bool

    @classmethod
    def all(cls, vocab_size: int) -> Answers:
        """Those of an engine that knows whole rows."""
        return cls(True, vocab_size, True)


class ArrayRow:
    """A row of logits [vocab_size]. Nothing is computed before it is asked for, and the array is not copied."""

    __slots__ = ("_sum", "logits")

    def __init__(self, logits: Logits) -> None:
        self.logits = logits
        self._sum = 0.0
        """Logarithm of the sum of exp(logits - their maximum), once it was needed."""

    def argmax(self) -> int:
        return int(self.logits.argmax())

    def top(self, count: int) -> Sequence[int]:
        count = min(count, self.logits.size)
        if count < 1:
            return []
        likeliest = np.argpartition(-self.logits, count - 1)[:count]
        order: Sequence[int] = likeliest[np.lexsort((likeliest, -self.logits[likeliest]))].tolist()
        return order

    def rank(self, token: int) -> int:
        return int((self.logits > self.logits[token]).sum())

    def logprob(self, token: int) -> float:
        highest = self.logits.max()
        if not self._sum:
            self._sum = math.log(float(np.exp(self.logits - highest).sum()))
        return float(self.logits[token]) - float(highest) - self._sum

    def gap(self, token: int) -> float:
        return float(self.logits.max() - self.logits[token])


class ArrayRows:
    """Rows over an array of logits [rows, vocab_size], which is not copied."""

    __slots__ = ("logits",)

    def __init__(self, logits: Logits) -> None:
        self.logits = logits

    def __len__(self) -> int:
        return len(self.logits)

    @overload
    def __getitem__(self, index: int) -> ArrayRow: ...
    @overload
    def __getitem__(self, index: slice) -> ArrayRows: ...

    def __getitem__(self, index: int | slice) -> ArrayRow | ArrayRows:
        found = self.logits[index]
        return ArrayRows(found) if isinstance(index, slice) else ArrayRow(found)

    def __iter__(self) -> Iterator[ArrayRow]:
        return map(ArrayRow, self.logits)

    @property
    def finite(self) -> bool:
        return bool(np.isfinite(self.logits).all())


@dataclass(frozen=True, slots=True)
class PartialRow:
    """The likeliest tokens with their natural log-probabilities, the likeliest first, at least one; ``others``: those
    of further tokens that the engine told, for instance of the one that follows."""

    likeliest: Sequence[tuple[int, float]]
    others: Sequence[tuple[int, float]] = ()

    def argmax(self) -> int:
        return self.likeliest[0][0]

    def top(self, count: int) -> Sequence[int]:
        return [token for token, _ in self.likeliest[:count]]

    def rank(self, token: int) -> int:
        known = dict(self.likeliest).get(token, -math.inf)
        return sum(logprob > known for _, logprob in self.likeliest)

    def logprob(self, token: int) -> float:
        known = next((logprob for other, logprob in (*self.likeliest, *self.others) if other == token), None)
        if known is None:
            raise Unanswered(f"the engine does not tell the log-probability of token {token}")
        return known

    def gap(self, token: int) -> float:
        return self.likeliest[0][1] - self.logprob(token)

    @property
    def logits(self) -> Logits:
        raise Unanswered(f"the engine tells the {len(self.likeliest)} likeliest tokens, not whole rows of logits")


class RowList:
    """Rows that were made one by one."""

    __slots__ = ("_rows",)

    def __init__(self, rows: Sequence[Row]) -> None:
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> RowList: ...

    def __getitem__(self, index: int | slice) -> Row | RowList:
        return RowList(self._rows[index]) if isinstance(index, slice) else self._rows[index]

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows)

    @property
    def logits(self) -> Logits:
        return np.stack([row.logits for row in self._rows])

    @property
    def finite(self) -> bool:
        return all(math.isfinite(row.logprob(row.argmax())) for row in self._rows)
