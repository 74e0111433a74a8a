"""The sizes of a network in a GGUF file, out of its header: as llama.cpp lays out the cache of each architecture.

Heads may have a width of their own, and layers heads of their own; attention may be latent (one compressed key for a
token, and no value), look through a window, share the cache of another layer, or give way to a state. Must not know of
weights, or of what is free.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from predtui.llm.gguf import GgufHeader
from predtui.llm.sizes.network import Layer, Network

_LAYER = re.compile(r"blk\.(\d{1,4})\.")
_MOST_LAYERS = 1024
_MOST = 1 << 32
"""Beyond it no size is one."""
_INPUTS = ("token_embd.weight", "per_layer_token_embd.weight", "position_embd.weight", "token_types.weight")
"""Tensors of which a token reads a row."""
_RECURRENT = {"mamba", "mamba2", "rwkv6", "rwkv6qwen2", "rwkv7", "arwkv7"}
"""Architectures whose layers all keep a state, and no keys ..."""
_BOTH = {"falcon-h1"}
"""... those whose layers all keep a state and keys ..."""
_INTERVAL = {"qwen3next": 4, "qwen35": 4, "qwen35moe": 4}
"""... and those in which every so many-th layer has keys, and the others a state."""
_WINDOWS = {
    "gemma2": 2, "gemma3": 6, "gemma3n": 5, "cohere2": 4, "gpt-oss": 2, "exaone4": 4, "llama4": 4, "olmo2": 4,
    "afmoe": 4,
}  # fmt: skip
"""Every so many-th layer looks at all tokens, the others through the window, where the file does not say which."""
_SHARING = {"gemma3n": 20}
"""Layers that have a cache; those after them use it."""


def network_of(header: GgufHeader) -> Network:
    """The network in the file. What is missing counts as nothing: an engine refuses such a file, in its own words."""
    facts = _Facts(header)
    weights, read, inputs, rest = _weights(header, facts)
    kept = zip(weights, read, _kept(facts), strict=True)
    layers = tuple(Layer(held, needed, *sizes) for held, needed, sizes in kept)
    embedded = header.tensors.get("token_embd.weight")
    return Network(
        facts.architecture,
        header.parameters,
        facts.number("context_length"),
        facts.number("embedding_length"),
        max(*facts.each("feed_forward_length"), _chosen(facts), 0),
        max(facts.each("attention.head_count"), default=1),
        embedded.shape[-1] if embedded and embedded.shape else facts.number("vocab_size"),
        layers,
        inputs,
        0 if "output.weight" in header.tensors or not embedded else embedded.end - embedded.begin,
        rest,
    )


class _Facts:
    """What the file says of its architecture, as whole numbers of a sane size."""

    def __init__(self, header: GgufHeader) -> None:
        self._header = header
        self.architecture = str(header.metadata.get("general.architecture", "unknown"))
        self.layers = min(self.number("block_count"), _MOST_LAYERS)

    def number(self, name: str, default: int = 0) -> int:
        value = self._header.metadata.get(f"{self.architecture}.{name}", default)
        return value if isinstance(value, int) and 0 <= value < _MOST else default

    def array(self, name: str) -> tuple[int, ...] | None:
        """Of the layers, if the file has one."""
        found = self._header.arrays.get(f"{self.architecture}.{name}")
        return None if found is None else tuple(min(max(0, value), _MOST) for value in found[: self.layers])

    def each(self, name: str, default: int = 0) -> tuple[int, ...]:
        """The number of every layer: one for all, or each its own."""
        own = self.array(name)
        if own is None:
            return (self.number(name, default),) * self.layers
        return own + (default,) * (self.layers - len(own))


def _kept(facts: _Facts) -> Iterator[tuple[int, int, int, int]]:
    """Keys, values, window and state of each layer."""
    heads = facts.each("attention.head_count", 1)
    shared = facts.each("attention.head_count_kv", max(heads, default=0))
    usual = facts.number("embedding_length") // max(1, *heads) if heads else 0
    key, value = facts.number("attention.key_length", usual), facts.number("attention.value_length", usual)
    near = facts.number("attention.key_length_swa", key), facts.number("attention.value_length_swa", value)
    latent = facts.number("attention.key_length_mla") > 0
    windows, recurrent, state = _windows(facts), _recurrent(facts, shared), _state(facts)
    own = _own(facts)
    for number in range(facts.layers):
        wide, deep = near if windows[number] else (key, value)
        count = shared[number] if number < own and (not recurrent[number] or facts.architecture in _BOTH) else 0
        kept_state = state if recurrent[number] else 0
        yield count * wide, 0 if latent else count * deep, windows[number], kept_state


def _own(facts: _Facts) -> int:
    """How many layers have a cache of their own."""
    if sharing := facts.number("attention.shared_kv_layers"):
        return max(0, facts.layers - sharing)
    extra = facts.number("nextn_predict_layers")
    return min(_SHARING.get(facts.architecture, facts.layers), facts.layers - min(extra, facts.layers))


def _windows(facts: _Facts) -> Sequence[int]:
    """Tokens that each layer looks back, 0 for all."""
    width = facts.number("attention.sliding_window")
    flags = facts.array("attention.sliding_window_pattern")
    if width and flags is not None:
        return [width if flag else 0 for flag in facts.each("attention.sliding_window_pattern")]
    every = facts.number("attention.sliding_window_pattern", _WINDOWS.get(facts.architecture, 0))
    return [width if every and number % every < every - 1 else 0 for number in range(facts.layers)]


def _recurrent(facts: _Facts, heads: Sequence[int]) -> Sequence[bool]:
    """Whether each layer keeps a state."""
    if facts.architecture in _RECURRENT | _BOTH:
        return [True] * facts.layers
    if interval := facts.number("full_attention_interval", _INTERVAL.get(facts.architecture, 0)):
        return [(number + 1) % interval != 0 for number in range(facts.layers)]
    return [not count for count in heads]


def _state(facts: _Facts) -> int:
    """Numbers that a layer with a state keeps of a sequence: those of RWKV, of a short convolution, of Mamba."""
    hidden = facts.number("embedding_length")
    if width := facts.number("wkv.head_size"):
        return hidden * (facts.number("token_shift_count", 2) + width)
    if kept := facts.number("shortconv.l_cache"):
        return hidden * (kept - 1)
    inner, wide = facts.number("ssm.inner_size"), facts.number("ssm.state_size")
    convolved = inner + 2 * facts.number("ssm.group_count") * wide
    return max(0, facts.number("ssm.conv_kernel") - 1) * convolved + inner * wide


def _chosen(facts: _Facts) -> int:
    """Width of the experts that a token goes through, together."""
    return facts.number("expert_feed_forward_length") * facts.number("expert_used_count")


def _weights(header: GgufHeader, facts: _Facts) -> tuple[list[int], list[int], int, int]:
    """Bytes of each layer, what a token reads of them; of the embeddings, and of what else is outside the layers."""
    share = facts.number("expert_used_count", 1) / max(1, facts.number("expert_count", 1))
    weights, read = [0] * facts.layers, [0] * facts.layers
    inputs = rest = 0
    for name, tensor in header.tensors.items():
        size, found = tensor.end - tensor.begin, _LAYER.match(name)
        number = int(found[1]) if found else -1
        if 0 <= number < facts.layers:
            weights[number] += size
            read[number] += int(size * min(1.0, share)) if "_exps." in name else size
        elif name in _INPUTS:
            inputs += size
        else:
            rest += size
    return weights, read, inputs, rest
