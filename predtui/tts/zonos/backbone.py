"""The transformer of Zonos: pre-norm blocks of grouped-query attention and a gated MLP over a key-value cache.

Parameter names are those of the published checkpoint. Must not know what its positions stand for.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from predtui.tts.zonos.config import BackboneConfig

ROTARY_BASE = 10_000.0
BLOCK = 256
"""Positions by which a cache grows."""

Turn = tuple[Tensor, Tensor]
"""Cosines and sines of the rotary embedding, each [positions, 1, head_dim / 2]."""


class KeyValueCache:
    """Keys and values of every layer at the positions seen so far, in one growing tensor
    [layers, 2, batch, kv_heads, capacity, head_dim]."""

    def __init__(self, storage: Tensor, length: int = 0) -> None:
        """``length`` positions of ``storage`` are filled already."""
        self.storage = storage
        self.length = length

    @classmethod
    def empty(cls, config: BackboneConfig, batch: int, like: Tensor, capacity: int = BLOCK) -> KeyValueCache:
        """Room for ``capacity`` positions, of the type and on the device of ``like``."""
        shape = (config.layers, 2, batch, config.kv_heads, capacity, config.head_dim)
        return cls(like.new_zeros(shape))

    @classmethod
    def restored(cls, saved: Tensor) -> KeyValueCache:
        """A cache that goes on from what ``saved`` returned; the tensor itself stays as it is."""
        cache = cls(saved, saved.shape[4])
        cache.reserve(1)
        return cache

    @property
    def capacity(self) -> int:
        return self.storage.shape[4]

    def saved(self) -> Tensor:
        """A copy of the filled positions, [layers, 2, batch, kv_heads, length, head_dim]."""
        return self.storage[..., : self.length, :].clone()

    def reserve(self, more: int) -> None:
        """Make room for ``more`` positions, in a new tensor where there is none."""
        needed = self.length + more
        if needed > self.capacity:
            shape = list(self.storage.shape)
            shape[4] = -(-needed // BLOCK) * BLOCK
            grown = self.storage.new_zeros(shape)
            grown[..., : self.length, :] = self.storage[..., : self.length, :]
            self.storage = grown

    def write(self, layer: int, keys: Tensor, values: Tensor, positions: Tensor) -> None:
        """Keys and values [batch, kv_heads, time, head_dim] into the places ``positions`` [time]."""
        self.storage[layer, 0].index_copy_(2, positions, keys)
        self.storage[layer, 1].index_copy_(2, positions, values)


def turn(positions: Tensor, head_dim: int, dtype: torch.dtype) -> Turn:
    """By what angle each pair of features turns at each of ``positions`` [time]; at least in float32."""
    wide = torch.promote_types(dtype, torch.float32)
    half = head_dim // 2
    frequencies = ROTARY_BASE ** (-torch.arange(half, device=positions.device, dtype=wide) / half)
    angles = positions.to(wide)[:, None, None] * frequencies
    return angles.cos(), angles.sin()


def rotate(x: Tensor, by: Turn) -> Tensor:
    """Rotary embedding of ``x`` [batch, time, heads, head_dim] on interleaved pairs (2i, 2i + 1)."""
    cosines, sines = by
    first, second = x.to(cosines.dtype).view(*x.shape[:-1], -1, 2).unbind(-1)
    pairs = torch.stack((first * cosines - second * sines, second * cosines + first * sines), -1)
    return pairs.flatten(-2).to(x.dtype)


class Attention(nn.Module):
    """Causal attention in which ``heads / kv_heads`` queries share a key and a value."""

    def __init__(self, config: BackboneConfig, layer: int) -> None:
        super().__init__()
        self.layer, self.heads, self.kv_heads = layer, config.heads, config.kv_heads
        width = (config.heads + 2 * config.kv_heads) * config.head_dim
        self.in_proj = nn.Linear(config.d_model, width, bias=False)
        self.out_proj = nn.Linear(config.heads * config.head_dim, config.d_model, bias=False)

    def forward(self, x: Tensor, by: Turn, cache: KeyValueCache, positions: Tensor, seen: Tensor) -> Tensor:
        """``x`` [batch, time, d_model]; ``seen`` [time, places]: which places of the cache a position attends to."""
        heads = self.in_proj(x).view(*x.shape[:2], self.heads + 2 * self.kv_heads, -1)
        queries, keys, values = heads.split((self.heads, self.kv_heads, self.kv_heads), dim=2)
        keys = rotate(keys, by)
        cache.write(self.layer, keys.transpose(1, 2), values.transpose(1, 2), positions)
        stored = cache.storage[self.layer][..., : seen.shape[1], :]
        mixed = functional.scaled_dot_product_attention(
            rotate(queries, by).transpose(1, 2), stored[0], stored[1], attn_mask=seen, enable_gqa=True
        )
        projected: Tensor = self.out_proj(mixed.transpose(1, 2).flatten(2))
        return projected


class GatedMlp(nn.Module):
    def __init__(self, config: BackboneConfig) -> None:
        super().__init__()
        self.fc1 = nn.Linear(config.d_model, 2 * config.d_ff, bias=False)
        self.fc2 = nn.Linear(config.d_ff, config.d_model, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        y, gate = self.fc1(x).chunk(2, dim=-1)
        out: Tensor = self.fc2(y * functional.silu(gate))
        return out


class Block(nn.Module):
    def __init__(self, config: BackboneConfig, layer: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(config.d_model, eps=config.norm_epsilon)
        self.mixer = Attention(config, layer)
        self.norm2 = nn.LayerNorm(config.d_model, eps=config.norm_epsilon)
        self.mlp = GatedMlp(config)

    def forward(self, x: Tensor, by: Turn, cache: KeyValueCache, positions: Tensor, seen: Tensor) -> Tensor:
        x = x + self.mixer(self.norm(x), by, cache, positions, seen)
        out: Tensor = x + self.mlp(self.norm2(x))
        return out


class Backbone(nn.Module):
    def __init__(self, config: BackboneConfig) -> None:
        super().__init__()
        self.config = config
        self.layers = nn.ModuleList(Block(config, layer) for layer in range(config.layers))
        self.norm_f = nn.LayerNorm(config.d_model, eps=config.norm_epsilon)

    def forward(self, x: Tensor, cache: KeyValueCache, positions: Tensor, places: int) -> Tensor:
        """Hidden states [batch, time, d_model] of ``x`` at ``positions`` [time], over the first ``places`` of the
        cache, which has room for them. The length of the cache is left to the caller."""
        by = turn(positions, self.config.head_dim, x.dtype)
        seen = torch.arange(places, device=x.device) <= positions[:, None]
        for block in self.layers:
            x = block(x, by, cache, positions, seen)
        out: Tensor = self.norm_f(x)
        return out

    def extend(self, x: Tensor, cache: KeyValueCache) -> Tensor:
        """``forward`` over what follows the filled positions of ``cache``, which grows by it."""
        time = x.shape[1]
        cache.reserve(time)
        positions = torch.arange(cache.length, cache.length + time, device=x.device)
        cache.length += time
        return self.forward(x, cache, positions, cache.length)
