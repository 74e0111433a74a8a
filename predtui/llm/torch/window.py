"""``Cells`` in PyTorch: another key-value cache over a network, out of which tokens are taken.

Positions are those in the whole context, as TriForce has them for what it retrieves: no key has to be turned. Must not
know which tokens go.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from predtui.llm.rows import Logits
from predtui.llm.torch.model import TorchModel


class TorchCells(TorchModel):
    """Remembers what its cache holds."""

    @property
    def bytes(self) -> int:
        return sum(
            part.nbytes for layer in self._cache.layers if layer.is_initialized for part in (layer.keys, layer.values)
        )

    def cut(self, keep: int) -> None:
        self.forget(keep)

    def drop(self, start: int, count: int) -> None:
        for layer in self._cache.layers:
            layer.keys, layer.values = (
                torch.cat((part[..., :start, :], part[..., start + count :, :]), dim=-2)
                for part in (layer.keys, layer.values)
            )
        del self._memory[start : start + count]

    def evaluate(self, tokens: Sequence[int], positions: Sequence[int], rows: int) -> Logits:
        logits = self._evaluate(tokens, rows, positions)
        return self._rows(logits[len(logits) - rows :], None).logits
