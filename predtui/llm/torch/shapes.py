"""The shapes that forwards come in: so many tokens, over so many cells of the cache; and the memory of what goes in.

Must not know of networks, or of what a token means.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

SIZES = (1, 2, 4, 8, 16, 32, 64)
"""Tokens of the forwards that are worth a graph; larger ones keep a GPU busy without."""
_NARROWEST = 512
"""Cells that the narrowest shape looks at; each wider one looks at twice as many."""


class Shape:
    """What goes into a forward over ``size`` tokens that looks at the first ``width`` cells: ``ids`` and ``positions``
    [1, size], the ``cells`` [size] where it is kept, and the ``mask`` [1, 1, size, width], which is added."""

    def __init__(self, size: int, width: int, device: torch.device, dtype: torch.dtype, wanted: int = 0) -> None:
        """``wanted``: how many of the last tokens' logits are computed; 0: all."""
        self.size, self.width, self.wanted = size, width, wanted
        self.states = torch.empty(0)
        """What the output layer saw, [at least those wanted, width], after a forward."""
        self.ids, self.positions = (torch.zeros(1, size, dtype=torch.long, device=device) for _ in range(2))
        self.cells = torch.zeros(size, dtype=torch.long, device=device)
        self.mask = torch.zeros(1, 1, size, width, dtype=dtype, device=device)

    def fill(
        self, tokens: Sequence[int], start: int, positions: Sequence[int] | None = None, seen: Tensor | None = None
    ) -> None:
        """Take in ``tokens``, to be kept from cell ``start`` on, and as many more as there is room for. ``positions``,
        and what each token has ``seen``, an additive mask [1, 1, tokens, start + tokens], are those of a sequence if
        they are not given. The filling has the last token's position: a network may go by the highest."""
        count, more = len(tokens), self.size - len(tokens)
        places = list(range(start, start + count)) if positions is None else list(positions)
        cells = torch.arange(start, start + self.size)
        visible = torch.arange(self.width) <= cells[:, None]
        if seen is not None:
            visible[:count, : start + count] = seen[0, 0] == 0
        self.ids.copy_(torch.tensor([[*tokens, *[0] * more]]))
        self.positions.copy_(torch.tensor([places + places[-1:] * more]))
        self.cells.copy_(cells)
        self.mask.copy_(torch.where(visible, 0.0, torch.finfo(self.mask.dtype).min)[None, None])


def size_of(tokens: int) -> int:
    """The smallest of ``SIZES`` that takes them, or exactly as many as they are."""
    return next((size for size in SIZES if size >= tokens), tokens)


def width_of(length: int, count: int) -> int:
    """Cells to look at for a sequence of that ``length``, in a cache of ``count``."""
    width = _NARROWEST
    while width < length:
        width *= 2
    return min(width, count)


def shapes(count: int, device: torch.device, dtype: torch.dtype) -> Iterator[Shape]:
    """All that ``size_of`` and ``width_of`` tell of sequences in a cache of ``count`` cells, the narrowest first."""
    widths = sorted({width_of(length, count) for length in range(1, count + 1)})
    for width in widths:
        for size in SIZES:
            yield Shape(size, width, device, dtype)
