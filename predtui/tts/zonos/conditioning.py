"""Builds the prefix of Zonos: what to say, and how, as embeddings [1, length, d_model] before the first frame.

Parameter names are those of the published checkpoint. Must not know text: phonemes come as ids.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from predtui.errors import PredtuiError
from predtui.tts.zonos.config import ConditionerConfig, Projection, ZonosConfig
from predtui.tts.zonos.symbols import VOCABULARY

Values = Mapping[str, Tensor]
"""Conditioner → its value: phoneme ids [length], an integer [1], or features [input_dim or cond_dim]. A conditioner
that is missing here takes its learned vector."""


def projected(kind: Projection, inputs: int, outputs: int) -> nn.Module:
    """The layers from [..., inputs] to [..., outputs] that a configuration calls ``kind``."""
    if kind == "linear":
        return nn.Linear(inputs, outputs)
    if kind == "mlp":
        return nn.Sequential(nn.Linear(inputs, outputs), nn.SiLU(), nn.Linear(outputs, outputs))
    return nn.Identity()


class Conditioner(nn.Module):
    """Turns a value into embeddings [1, length, d_model]."""

    def __init__(self, config: ConditionerConfig, d_model: int) -> None:
        super().__init__()
        self.config = config
        self.width = config.cond_dim or d_model
        self.project = projected(config.projection, self.width, d_model)
        self.uncond_vector = nn.Parameter(torch.zeros(d_model)) if config.learned else None

    def embed(self, value: Tensor) -> Tensor:
        """Features [1, length, width] of ``value``."""
        raise NotImplementedError

    def forward(self, value: Tensor | None, dtype: torch.dtype) -> Tensor:
        """Embeddings of ``value``, or the learned vector for None. Raises PredtuiError where there is neither."""
        if value is not None:
            out: Tensor = self.project(self.embed(value).to(dtype))
            return out
        if self.uncond_vector is None:
            raise PredtuiError(f"This Zonos checkpoint wants a value for {self.config.name}.")
        return self.uncond_vector.view(1, 1, -1)


class PhonemeConditioner(Conditioner):
    """Of phoneme ids [length]: one embedding each."""

    def __init__(self, config: ConditionerConfig, d_model: int) -> None:
        super().__init__(config, d_model)
        self.phoneme_embedder = nn.Embedding(VOCABULARY, self.width)

    def embed(self, value: Tensor) -> Tensor:
        embedded: Tensor = self.phoneme_embedder(value)[None]
        return embedded


class PassthroughConditioner(Conditioner):
    """Of features [width], as they are."""

    def embed(self, value: Tensor) -> Tensor:
        if value.shape != (self.width,):
            name = self.config.name
            raise PredtuiError(f"{name} has {value.numel()} numbers, and this Zonos checkpoint wants {self.width}.")
        return value.view(1, 1, -1)


class FourierConditioner(Conditioner):
    """Random Fourier features of a value scaled to 0..1: cosines, then sines, of 2π·x·Wᵀ."""

    weight: Tensor

    def __init__(self, config: ConditionerConfig, d_model: int) -> None:
        super().__init__(config, d_model)
        self.register_buffer("weight", torch.zeros(self.width // 2, config.input_dim))

    def embed(self, value: Tensor) -> Tensor:
        scaled = (value - self.config.low) / (self.config.high - self.config.low)
        angles = 2 * torch.pi * scaled.to(self.weight.dtype) @ self.weight.T
        return torch.cat((angles.cos(), angles.sin()))[None, None]


class IntegerConditioner(Conditioner):
    """Of an integer [1] within the configured bounds: one embedding for each."""

    def __init__(self, config: ConditionerConfig, d_model: int) -> None:
        super().__init__(config, d_model)
        self.int_embedder = nn.Embedding(int(config.high - config.low) + 1, self.width)

    def embed(self, value: Tensor) -> Tensor:
        embedded: Tensor = self.int_embedder(value - int(self.config.low))[None]
        return embedded


_KINDS: dict[str, type[Conditioner]] = {
    "EspeakPhonemeConditioner": PhonemeConditioner,
    "PassthroughConditioner": PassthroughConditioner,
    "FourierConditioner": FourierConditioner,
    "IntegerConditioner": IntegerConditioner,
}


class PrefixConditioner(nn.Module):
    """All conditioners in the checkpoint's order, joined, projected, normalised."""

    def __init__(self, config: ZonosConfig) -> None:
        super().__init__()
        d_model = config.backbone.d_model
        self.conditioners = nn.ModuleList(_KINDS[each.kind](each, d_model) for each in config.conditioners)
        self._names = [each.name for each in config.conditioners]
        self.project = projected(config.projection, d_model, d_model)
        self.norm = nn.LayerNorm(d_model)
        self.required = frozenset(each.name for each in config.conditioners if not each.learned)

    def forward(self, values: Values) -> Tensor:
        """The prefix [1, length, d_model]. Raises PredtuiError for a value that is missing or of the wrong size."""
        dtype = self.norm.weight.dtype
        given = [values.get(name) for name in self._names]
        parts = [each(value, dtype) for each, value in zip(self.conditioners, given, strict=True)]
        out: Tensor = self.norm(self.project(torch.cat(parts, dim=1)))
        return out

    def guided(self, values: Values) -> Tensor:
        """The prefix and the one without all that can be left out, [2, length, d_model]: conditional, unconditional."""
        least = {name: value for name, value in values.items() if name in self.required}
        return torch.cat((self(values), self(least)))
