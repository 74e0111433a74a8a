"""What a forward returns: rows that answer questions, whether the engine has all logits or only the likeliest tokens.

A model declares what its rows answer (``llm.abilities``); what needs more is refused at assembly. A row that is asked
for more anyway raises ``Unanswered``. Must not know of models or of sampling.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, overload

import numpy as np
import numpy.typing as npt

from predtui.llm.largest import largest

Logits = npt.NDArray[np.float32]
Hidden = npt.NDArray[np.float32]
"""[rows, width]: the states that a network's output layer makes logits of."""


class Unanswered(LookupError):  # noqa: N818 - a condition, as StopIteration is
    """The engine does not provide what was asked of a row."""


class Row(Protocol):
    """The distribution over the token at one position, as far as the engine provides it."""

    def argmax(self) -> int:
        """The likeliest token; of several, the lowest."""
        ...

    def top(self, count: int) -> Sequence[int]:
        """The ``count`` likeliest tokens, likeliest first; fewer if the engine provides fewer."""
        ...

    def rank(self, token: int) -> int:
        """How many tokens are likelier than ``token``: 0 for the likeliest, ``Abilities.top`` for one beyond what the
        engine provides."""
        ...

    def logprob(self, token: int) -> float:
        """Natural logarithm of the token's probability. Raises Unanswered."""
        ...

    def gap(self, token: int) -> float:
        """Distance of the token's logit (or log-probability) from the highest, 0 or more. Raises Unanswered."""
        ...

    @property
    def logits(self) -> Logits:
        """The whole row [vocab_size]. Raises Unanswered."""
        ...


class Rows(Protocol):
    """The rows of one forward, in order of position."""

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
    def hidden(self) -> Hidden | None:
        """The state behind each row; None where the model does not tell it, or was not asked to."""
        ...

    @property
    def finite(self) -> bool:
        """Whether all values are finite; if not, the weights are damaged."""
        ...


class ArrayRow:
    """A row over logits [vocab_size], not copied. Computes only what is asked for."""

    __slots__ = ("_sum", "logits")

    def __init__(self, logits: Logits) -> None:
        self.logits = logits
        self._sum = 0.0
        """log(sum(exp(logits - max))), once needed."""

    def argmax(self) -> int:
        return int(self.logits.argmax())

    def top(self, count: int) -> Sequence[int]:
        found: Sequence[int] = largest(self.logits, count).tolist()
        return found

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
    """Rows over logits [rows, vocab_size] and the states behind them, not copied."""

    __slots__ = ("hidden", "logits")

    def __init__(self, logits: Logits, hidden: Hidden | None = None) -> None:
        self.logits, self.hidden = logits, hidden

    def __len__(self) -> int:
        return len(self.logits)

    @overload
    def __getitem__(self, index: int) -> ArrayRow: ...
    @overload
    def __getitem__(self, index: slice) -> ArrayRows: ...

    def __getitem__(self, index: int | slice) -> ArrayRow | ArrayRows:
        found = self.logits[index]
        if not isinstance(index, slice):
            return ArrayRow(found)
        return ArrayRows(found, None if self.hidden is None else self.hidden[index])

    def __iter__(self) -> Iterator[ArrayRow]:
        return map(ArrayRow, self.logits)

    @property
    def finite(self) -> bool:
        return bool(np.isfinite(self.logits).all())


@dataclass(frozen=True, slots=True)
class PartialRow:
    """The likeliest tokens with natural log-probabilities, likeliest first, at least one. ``others``: further tokens
    whose log-probability is known, such as the one that follows in the prompt."""

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
            raise Unanswered(f"the engine does not provide the log-probability of token {token}")
        return known

    def gap(self, token: int) -> float:
        return self.likeliest[0][1] - self.logprob(token)

    @property
    def logits(self) -> Logits:
        raise Unanswered(f"the engine provides the {len(self.likeliest)} likeliest tokens, not whole rows of logits")


class RowList:
    """Separate rows as one ``Rows``, and the states behind them."""

    __slots__ = ("_rows", "hidden")

    def __init__(self, rows: Sequence[Row], hidden: Hidden | None = None) -> None:
        self._rows, self.hidden = rows, hidden

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> RowList: ...

    def __getitem__(self, index: int | slice) -> Row | RowList:
        if not isinstance(index, slice):
            return self._rows[index]
        return RowList(self._rows[index], None if self.hidden is None else self.hidden[index])

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows)

    @property
    def logits(self) -> Logits:
        return np.stack([row.logits for row in self._rows])

    @property
    def finite(self) -> bool:
        return all(math.isfinite(row.logprob(row.argmax())) for row in self._rows)
