"""The decoder over one sound, with the KV cache of what it was fed: tokens in, logits out. Its cross-attention is kept
for timestamps. Must not know how tokens are chosen.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from predtui.asr.whisperflow.ct2_weights import Array
from predtui.asr.whisperflow.decoder import Cache, CrossAttention, Decoder


class Inference:
    """Begins with one hypothesis; ``branch`` makes several of it."""

    def __init__(self, decoder: Decoder, cross: CrossAttention) -> None:
        self._decoder, self._cross = decoder, cross
        self._cache = Cache()
        self._trunk: Cache | None = None
        """The cache of the one hypothesis, once there are several."""
        self._attention: Array | None = None
        """[alignment heads, tokens, positions] of the one hypothesis."""
        self.forwards = 0

    def logits(self, tokens: Sequence[Sequence[int]], last: int | None = None) -> Array:
        """[beams, last, vocab] of the ``last`` of ``tokens`` [beams, n], or of all, which follow those before. Raises
        ValueError beyond the decoder's context."""
        self.forwards += 1
        step = self._decoder.forward(np.array(tokens), self._cross, self._cache, last)
        self._cache = step.cache
        if self._trunk is None:
            self._attention = _joined(self._attention, step.attention)
        return step.logits

    def rewind(self, count: int) -> None:
        """The last ``count`` tokens of the one hypothesis were never fed."""
        length = self._cache.length - count
        self._cache = self._cache.cut(length)
        if self._attention is not None:
            self._attention = self._attention[:, :length]

    def branch(self, sources: Sequence[int]) -> None:
        """The hypotheses go on from those numbered ``sources``; one may come several times."""
        if self._trunk is None:
            self._trunk = self._cache
        self._cache = self._cache.take(sources)

    def attention(self, tokens: Sequence[int]) -> Array:
        """[alignment heads, n, positions] of all ``tokens`` [n], which begin with the one hypothesis. What several
        wrote takes one more forward."""
        known = 0 if self._attention is None else self._attention.shape[1]
        if rest := tokens[known:]:
            self.forwards += 1
            trunk = self._cache if self._trunk is None else self._trunk
            step = self._decoder.forward(np.array([rest]), self._cross, trunk, last=0)
            return _joined(self._attention, step.attention)
        assert self._attention is not None
        return self._attention


def _joined(before: Array | None, after: Array) -> Array:
    return after if before is None else np.concatenate([before, after], axis=1)
