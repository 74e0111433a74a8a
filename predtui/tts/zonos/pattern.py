"""The delay pattern: in column t of what the transformer sees, codebook k stands at frame t - k - 1.

So a column holds one code of each of nine frames, and a frame is complete nine columns after its first code. Must not
know where codes come from, or what they sound like.
"""

from __future__ import annotations

import torch
from torch import Tensor

from predtui.tts.zonos.config import CODEBOOKS, CODES, EOS, MASKED

DELAY = CODEBOOKS
"""Columns by which the last codebook lags."""


def delayed(codes: Tensor) -> Tensor:
    """Columns [9, frames + 9] of the frames ``codes`` [9, frames], with the mask in all gaps."""
    frames = codes.shape[1]
    columns = codes.new_full((CODEBOOKS, frames + DELAY), MASKED)
    for k in range(CODEBOOKS):
        columns[k, k + 1 : k + 1 + frames] = codes[k]
    return columns


def undelayed(columns: Tensor) -> Tensor:
    """The frames that ``columns`` [9, columns] hold in full, [9, columns - 9]. Inverse of ``delayed``."""
    frames = max(0, columns.shape[1] - DELAY)
    return torch.stack([columns[k, k + 1 : k + 1 + frames] for k in range(CODEBOOKS)])


def audible(codes: Tensor) -> Tensor:
    """Codes of which each is a sound: special ids become code 0."""
    return codes.masked_fill(codes >= CODES, 0)


def forced(column: int, known: Tensor, end: int | None) -> Tensor:
    """What is not to be sampled in ``column``: its nine ids [9], -1 where a code is free.

    ``known`` [9, frames] are given frames that come first (an audio prefix). ``end`` is the column in which codebook 0
    said EOS, None so far: from there on one codebook after the other says EOS, in the same frame, and is masked then.
    """
    ids = torch.full((CODEBOOKS,), -1, dtype=torch.long)
    for k in range(CODEBOOKS):
        frame = column - k - 1
        if frame < 0:
            ids[k] = MASKED
        elif frame < known.shape[1]:
            ids[k] = known[k, frame]
        elif end is not None and column - end >= k:
            ids[k] = EOS if column - end == k else MASKED
    return ids
