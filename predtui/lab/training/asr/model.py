"""The Whisper architecture in torch (Radford et al., 2022, section 2.2), its weights under Hugging Face's names.

The encoder takes any length up to the window; nothing is padded here. Must not know of training or files.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

from predtui.lab.training.asr.config import Shape


class Attention(nn.Module):
    """Multi-head attention of ``d_model``; keys and values may come from elsewhere."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.heads = shape.heads
        self.k_proj = nn.Linear(shape.d_model, shape.d_model, bias=False)
        self.v_proj = nn.Linear(shape.d_model, shape.d_model)
        self.q_proj = nn.Linear(shape.d_model, shape.d_model)
        self.out_proj = nn.Linear(shape.d_model, shape.d_model)

    def forward(self, x: Tensor, source: Tensor | None = None, causal: bool = False) -> Tensor:
        """``x`` [batch, n, d_model] attends to ``source`` [batch, m, d_model], or to itself."""
        source = x if source is None else source
        query, key, value = (self._split(one) for one in (self.q_proj(x), self.k_proj(source), self.v_proj(source)))
        if causal:
            mixed = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        else:
            mixed = attend(query, key, value)
        result: Tensor = self.out_proj(mixed.transpose(1, 2).flatten(2))
        return result

    def _split(self, x: Tensor) -> Tensor:
        return x.reshape(*x.shape[:2], self.heads, -1).transpose(1, 2)


def attend(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Attention without a mask, [batch, heads, n, d] each: two matrix products, which a CPU does in bfloat16 three
    times as fast as torch's fused kernel does both ways; softmax stays in the type of the scores."""
    scores = (query * query.shape[-1] ** -0.5) @ key.mT
    with torch.autocast("cpu", enabled=False):
        weights = scores.softmax(dim=-1)
    mixed: Tensor = weights @ value
    return mixed


class Layer(nn.Module):
    """One layer, norms first; ``cross``: with attention to the encoder's output."""

    def __init__(self, shape: Shape, cross: bool) -> None:
        super().__init__()
        self.self_attn = Attention(shape)
        self.self_attn_layer_norm = nn.LayerNorm(shape.d_model)
        if cross:
            self.encoder_attn = Attention(shape)
            self.encoder_attn_layer_norm = nn.LayerNorm(shape.d_model)
        self.fc1 = nn.Linear(shape.d_model, shape.ffn)
        self.fc2 = nn.Linear(shape.ffn, shape.d_model)
        self.final_layer_norm = nn.LayerNorm(shape.d_model)

    def forward(self, x: Tensor, source: Tensor | None = None) -> Tensor:
        x = x + self.self_attn(self.self_attn_layer_norm(x), causal=source is not None)
        if source is not None:
            x = x + self.encoder_attn(self.encoder_attn_layer_norm(x), source)
        result: Tensor = x + self.fc2(functional.gelu(self.fc1(self.final_layer_norm(x))))
        return result


class Sinusoids(nn.Module):
    """The encoder's positions, not learned: sines, then cosines, with periods from 2 pi to 10,000 times that."""

    def __init__(self, length: int, channels: int) -> None:
        super().__init__()
        periods = torch.exp(-math.log(10_000) / (channels // 2 - 1) * torch.arange(channels // 2))
        angles = torch.arange(length)[:, None] * periods[None, :]
        self.weight: Tensor
        self.register_buffer("weight", torch.cat([angles.sin(), angles.cos()], dim=1))


class Encoder(nn.Module):
    """Log-mel frames to states at half their rate."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.conv1 = nn.Conv1d(shape.mels, shape.d_model, 3, padding=1)
        self.conv2 = nn.Conv1d(shape.d_model, shape.d_model, 3, stride=2, padding=1)
        self.embed_positions = Sinusoids(shape.source_positions, shape.d_model)
        self.layers = nn.ModuleList(Layer(shape, cross=False) for _ in range(shape.encoder_layers))
        self.layer_norm = nn.LayerNorm(shape.d_model)

    def forward(self, mel: Tensor) -> Tensor:
        """[batch, mels, frames] to [batch, frames / 2, d_model]."""
        x = functional.gelu(self.conv2(functional.gelu(self.conv1(mel)))).transpose(1, 2)
        x = x + self.embed_positions.weight[: x.shape[1]]
        for layer in self.layers:
            x = layer(x)
        result: Tensor = self.layer_norm(x)
        return result


class Decoder(nn.Module):
    """Tokens and encoder states to states; the logits' matrix is the embedding's."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.embed_tokens = nn.Embedding(shape.vocab, shape.d_model)
        self.embed_positions = nn.Embedding(shape.target_positions, shape.d_model)
        for table in (self.embed_tokens, self.embed_positions):
            nn.init.normal_(table.weight, std=0.02)
        self.layers = nn.ModuleList(Layer(shape, cross=True) for _ in range(shape.decoder_layers))
        self.layer_norm = nn.LayerNorm(shape.d_model)

    def forward(self, ids: Tensor, source: Tensor) -> Tensor:
        """[batch, tokens] and [batch, positions, d_model] to logits [batch, tokens, vocab]."""
        x = self.embed_tokens(ids) + self.embed_positions.weight[: ids.shape[1]]
        for layer in self.layers:
            x = layer(x, source)
        result: Tensor = self.layer_norm(x) @ self.embed_tokens.weight.T
        return result


class Whisper(nn.Module):
    """Encoder and decoder, as a Hugging Face ``WhisperForConditionalGeneration`` names them."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.model = nn.ModuleDict({"encoder": Encoder(shape), "decoder": Decoder(shape)})

    def encode(self, mel: Tensor) -> Tensor:
        """[batch, mels, frames] to [batch, positions, d_model]."""
        result: Tensor = self.model["encoder"](mel)
        return result

    def forward(self, mel: Tensor, ids: Tensor) -> Tensor:
        """Logits [batch, tokens, vocab] of ``ids`` [batch, tokens] heard over ``mel``."""
        result: Tensor = self.model["decoder"](ids, self.encode(mel))
        return result
