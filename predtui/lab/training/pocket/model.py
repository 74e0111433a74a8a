"""The Llama architecture in plain torch, for training: whole sequences in, hidden states out, no cache.

Parameter names are those of transformers' ``LlamaForCausalLM``, so that a state dict is already the export. Must not
know of text, tokens' meanings or optimisers.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor, nn
from torch.nn import functional

from predtui.lab.training.pocket.config import Shape


class RMSNorm(nn.Module):
    """Root-mean-square norm with a learned scale."""

    def __init__(self, width: int, eps: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        return functional.rms_norm(x, (x.shape[-1],), self.weight, self.eps)


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotary position embedding of ``x`` [rows, heads, length, head_dim]; the halves of a head are the pairs."""
    a, b = x.chunk(2, dim=-1)
    return torch.cat((a * cos - b * sin, b * cos + a * sin), dim=-1)


class Attention(nn.Module):
    """Causal multi-head self-attention with rotary positions.

    Written out: for dialogues of some fifty tokens the scores are small, and torch's fused kernel takes five times
    as long to go backward on a CPU in bfloat16.
    """

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.heads = shape.heads
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = (
            nn.Linear(shape.hidden, shape.hidden, bias=False) for _ in range(4)
        )

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor, mask: Tensor) -> Tensor:
        rows, length, width = x.shape
        q, k, v = (
            project(x).view(rows, length, self.heads, -1).transpose(1, 2)
            for project in (self.q_proj, self.k_proj, self.v_proj)
        )
        scores = rotate(q, cos, sin) @ rotate(k, cos, sin).mT
        mixed = (scores * q.shape[-1] ** -0.5 + mask).softmax(-1).to(v.dtype) @ v
        return self.o_proj(mixed.transpose(1, 2).reshape(rows, length, width))  # type: ignore[no-any-return]


class MLP(nn.Module):
    """Gated feed-forward network (SwiGLU)."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(shape.hidden, shape.ffn, bias=False)
        self.up_proj = nn.Linear(shape.hidden, shape.ffn, bias=False)
        self.down_proj = nn.Linear(shape.ffn, shape.hidden, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.down_proj(functional.silu(self.gate_proj(x)) * self.up_proj(x))  # type: ignore[no-any-return]


class Layer(nn.Module):
    """Attention and feed-forward network, each behind a norm and beside a residual."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.input_layernorm = RMSNorm(shape.hidden, shape.norm_eps)
        self.self_attn = Attention(shape)
        self.post_attention_layernorm = RMSNorm(shape.hidden, shape.norm_eps)
        self.mlp = MLP(shape)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor, mask: Tensor) -> Tensor:
        x = x + self.self_attn(self.input_layernorm(x), cos, sin, mask)
        return x + self.mlp(self.post_attention_layernorm(x))  # type: ignore[no-any-return]


class Backbone(nn.Module):
    """Embedding, layers, final norm: tokens [rows, length] to hidden states [rows, length, hidden]."""

    cos: Tensor
    sin: Tensor

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.embed_tokens = nn.Embedding(shape.vocab, shape.hidden)
        self.layers = nn.ModuleList(Layer(shape) for _ in range(shape.layers))
        self.norm = RMSNorm(shape.hidden, shape.norm_eps)
        frequency = shape.rope_theta ** (-torch.arange(0, shape.head_dim, 2) / shape.head_dim)
        angle = torch.outer(torch.arange(shape.context), frequency)
        self.register_buffer("cos", angle.cos(), persistent=False)
        self.register_buffer("sin", angle.sin(), persistent=False)

    def forward(self, ids: Tensor) -> Tensor:
        return self.norm(self.states(ids)[-1])  # type: ignore[no-any-return]

    def states(self, ids: Tensor) -> list[Tensor]:
        """The residual stream, [rows, length, hidden] each: what goes into the first layer, what comes out of each."""
        cos, sin = self.cos[: ids.shape[1]], self.sin[: ids.shape[1]]
        mask = torch.full((ids.shape[1],) * 2, -torch.inf, device=ids.device).triu(1)
        found = [self.embed_tokens(ids)]
        for layer in self.layers:
            found.append(layer(found[-1], cos, sin, mask))
        return found


class PocketModel(nn.Module):
    """The language model: logits by the transposed embedding."""

    def __init__(self, shape: Shape, seed: int = 0) -> None:
        super().__init__()
        self.shape = shape
        self.model = Backbone(shape)
        generator = torch.Generator().manual_seed(seed)
        for name, weight in self.named_parameters():
            if name.endswith(("o_proj.weight", "down_proj.weight")):
                nn.init.zeros_(weight)  # each layer starts as the identity
            elif name.endswith("embed_tokens.weight"):
                nn.init.normal_(weight, std=0.02, generator=generator)
            elif weight.ndim == 2:
                nn.init.normal_(weight, std=0.5 * weight.shape[1] ** -0.5, generator=generator)

    def forward(self, ids: Tensor, positions: Tensor) -> Tensor:
        """Logits [positions, vocab] at flat ``positions`` of ``ids`` [rows, length]: no other row pays for the head."""
        return self.head(self.model(ids).flatten(0, 1).index_select(0, positions))

    def head(self, hidden: Tensor) -> Tensor:
        """The logits of the token that comes next."""
        return functional.linear(hidden, self.model.embed_tokens.weight)

    def recalled(self, hidden: Tensor) -> Tensor:
        """The logits of the token that stands there, by the head read backwards: of no use to the model itself, but to
        layers above it, which compare what was expected with what came."""
        return self.head(hidden.flip(-1))


def grown(base: PocketModel, layers: int, seed: int = 0) -> PocketModel:
    """``base`` with more layers on top, to ``layers`` in all. They start as the identity and alone can be trained."""
    model = PocketModel(replace(base.shape, layers=layers), seed)
    model.load_state_dict(model.state_dict() | base.state_dict())
    added = {f"model.layers.{number}." for number in range(base.shape.layers, layers)}
    for name, weight in model.named_parameters():
        weight.requires_grad_(name.startswith(tuple(added)))
    return model


@torch.no_grad()
def greedy(model: PocketModel, prompt: list[int], stop: int, limit: int) -> list[int]:
    """At most ``limit`` most likely next tokens, ``stop`` excluded; without a cache, for checks on short texts."""
    ids = list(prompt)
    while len(ids) - len(prompt) < limit:
        logits = model(torch.tensor([ids]), torch.tensor([len(ids) - 1]))
        token = int(logits.argmax())
        if token == stop:
            break
        ids.append(token)
    return ids[len(prompt) :]
