"""The network of a Zonos checkpoint: prefix and codes in, logits of nine codebooks out.

Its state dict is, name by name and shape by shape, that of the published ``model.safetensors``. Must not know of files,
of sampling or of sound.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from predtui.llm.base import Counters
from predtui.tts.zonos.backbone import Backbone, KeyValueCache
from predtui.tts.zonos.conditioning import PrefixConditioner
from predtui.tts.zonos.config import CODEBOOKS, CODES, ZonosConfig

INPUTS, OUTPUTS = CODES + 2, CODES + 1
"""Ids that a codebook may have in a column (codes, EOS, mask), and ids that a head has a logit for (codes, EOS)."""
BATCH = 2
"""Conditional and unconditional, side by side."""


class ZonosModel(nn.Module):
    """Nine embeddings, a causal transformer with a key-value cache, nine heads, and the conditioner of its prefix."""

    def __init__(self, config: ZonosConfig) -> None:
        super().__init__()
        d_model = config.backbone.d_model
        self.config = config
        self.counters = Counters()
        self.embeddings = nn.ModuleList(nn.Embedding(INPUTS, d_model) for _ in range(CODEBOOKS))
        self.heads = nn.ModuleList(nn.Linear(d_model, OUTPUTS, bias=False) for _ in range(CODEBOOKS))
        self.backbone = Backbone(config.backbone)
        self.prefix_conditioner = PrefixConditioner(config)

    @property
    def weight(self) -> Tensor:
        """One of the weights, for its dtype and device."""
        weight: Tensor = self.backbone.norm_f.weight
        return weight

    @property
    def names(self) -> Sequence[str]:
        """Names of the conditioners, in the order of the prefix."""
        return [each.name for each in self.config.conditioners]

    def cache(self) -> KeyValueCache:
        """An empty one, for both rows of the batch."""
        return KeyValueCache.empty(self.config.backbone, BATCH, self.weight)

    def embed(self, columns: Tensor) -> Tensor:
        """``columns`` [9, time] as inputs [2, time, d_model]: the sum of the codebooks' embeddings, for both rows."""
        summed = torch.stack([embedding(ids) for embedding, ids in zip(self.embeddings, columns, strict=True)]).sum(0)
        return summed.expand(BATCH, -1, -1)

    def logits(self, hidden: Tensor) -> Tensor:
        """Logits [2, 9, ids] for the last of the ``hidden`` states [2, time, d_model], in float32 or wider."""
        last = hidden[:, -1]
        rows = torch.stack([head(last) for head in self.heads], dim=1)
        return rows.to(torch.promote_types(rows.dtype, torch.float32))

    def read(self, prefix: Tensor, cache: KeyValueCache) -> None:
        """Evaluate ``prefix`` [2, length, d_model] into ``cache``. Raises RuntimeError for want of memory."""
        self._extend(prefix, cache)

    def step(self, columns: Tensor, cache: KeyValueCache) -> Tensor:
        """Evaluate ``columns`` [9, time] into ``cache``; logits [2, 9, ids] of the next. Raises as ``read`` does."""
        return self.logits(self._extend(self.embed(columns), cache))

    def _extend(self, x: Tensor, cache: KeyValueCache) -> Tensor:
        self.counters.forwards += 1
        self.counters.tokens += x.shape[1]
        return self.backbone.extend(x, cache)
