"""A cap on what drafting holds (SpecMemo, 2025), which assembling keeps: nothing is made beyond it.

Counted is what stays from one forward to the next: a draft model with its cache, further caches over the target's
weights, tables of what was said. What has a fixed size is refused where it does not fit; tables get what is left, in
equal shares where several are made, and forget what they learnt first when that is full. Where the abstract leaves a
gap: a datastore counts nothing, since the system can take back what is mapped from a file; what a single forward needs
beside the caches is the engine's. Must not know of any one drafter.
"""

from __future__ import annotations

from itertools import islice
from typing import TypeVar

from predtui.errors import PredtuiError

MB = 1 << 20
K = TypeVar("K")
V = TypeVar("V")
REMEDY = "Raise --draft-memory, or choose another --drafter."


class Allowance:
    """Bytes that drafting may still take. ``sharing``: among how many that will ask for tables the rest is divided."""

    def __init__(self, cap: int | None = None) -> None:
        """``cap`` in bytes; None: there is none."""
        self.left = cap
        self.sharing = 1

    def fixed(self, what: str, size: int) -> None:
        """Takes ``size`` bytes. Raises PredtuiError where they are not left."""
        if self.left is None:
            return
        if size > self.left:
            raise PredtuiError(f"{what} takes {_told(size)}, and {_told(self.left)} is left to draft with.", REMEDY)
        self.left -= size

    def table(self, what: str, most: int, least: int) -> int:
        """How many bytes a table that wants ``most`` of them may have; ``least``: with fewer it is of no use. Raises
        PredtuiError where these are not left."""
        if self.left is None:
            return most
        granted = min(most, self.left // self.sharing)
        if granted < least:
            left = f"{_told(granted)} is left for it to draft with"
            raise PredtuiError(f"{what} takes {_told(least)} at least, and {left}.", REMEDY)
        self.left -= granted
        return granted


def newest(table: dict[K, V], count: int) -> dict[K, V]:
    """The ``count`` entries that came last, or all where there are no more."""
    return dict(islice(table.items(), max(0, len(table) - count), None))


def _told(size: int) -> str:
    return f"{size / MB:,.1f} MB" if size >= MB else f"{size // 1024} KB"
