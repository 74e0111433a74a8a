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
"""Ids a codebook may have in a column (codes, EOS, mask), and ids a head gives a logit to (codes, EOS)."""
BATCH = 2
"""Conditional and unconditional, side by side."""


class ZonosModel(nn.Module):
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
        """Any of the weights: it tells the type of numbers and the device."""
        weight: Tensor = self.backbone.norm_f.weight
        return weight

    @property
    def names(self) -> Sequence[str]:
        """The conditioners."""
        return [each.name for each in self.config.conditioners]

    def cache(self) -> KeyValueCache:
        return KeyValueCache.empty(self.config.backbone, BATCH, self.weight)

    def embed(self, columns: Tensor) -> Tensor:
        """Inputs [2, time, d_model] of ``columns`` [9, time]: the sum of the codebooks' embeddings."""
        summed = torch.stack([embedding(ids) for embedding, ids in zip(self.embeddings, columns, strict=True)]).sum(0)
        return summed.expand(BATCH, -1, -1)

    def logits(self, hidden: Tensor) -> Tensor:
        """[2, 9, ids] of the last of the hidden states [2, time, d_model], at least in float32."""
        last = hidden[:, -1]
        rows = torch.stack([head(last) for head in self.heads], dim=1)
        return rows.to(torch.promote_types(rows.dtype, torch.float32))

    def read(self, prefix: Tensor, cache: KeyValueCache) -> None:
        """Evaluate ``prefix`` [2, length, d_model]."""
        self._extend(prefix, cache)

    def step(self, columns: Tensor, cache: KeyValueCache) -> Tensor:
        """Evaluate ``columns`` [9, time]; logits [2, 9, ids] of the next."""
        return self.logits(self._extend(self.embed(columns), cache))

    def _extend(self, x: Tensor, cache: KeyValueCache) -> Tensor:
        self.counters.forwards += 1
        self.counters.tokens += x.shape[1]
        return self.backbone.extend(x, cache)
