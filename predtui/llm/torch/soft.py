"""Soft tokens in a transformers network: what enters one of its layers is replaced in their places.

For decoding and for training alike. Must not know of caches or trees.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from torch import Tensor


class Spots(NamedTuple):
    """Of each soft token [n], among all tokens of a forward, its batch flattened: its place, that of the real token
    that it hangs under, and its number."""

    places: Tensor
    under: Tensor
    numbers: Tensor


def spots_of(tree: Sequence[int], parents: Sequence[int], count: int, first: int, vocab_size: int) -> Spots:
    """Of the last ``count`` of ``tree``, which stands behind ``first`` other tokens of the forward."""
    soft = range(len(tree) - count, len(tree))
    under = []
    for node in soft:
        while node >= soft.start:
            node = parents[node]
        under.append(first + node)
    numbers = [tree[node] - vocab_size for node in soft]
    return Spots(*(torch.tensor(one) for one in ([first + node for node in soft], under, numbers)))


@contextmanager
def softened(network: Any, layer: int, weights: Tensor, spots: Spots) -> Iterator[None]:
    """Within it, a forward has soft tokens at ``spots``; ``weights`` and ``layer`` as in ``SoftModel``."""

    def put(hidden: Tensor) -> Tensor:
        before = states = hidden.reshape(-1, hidden.shape[-1])
        places, under, numbers = (one.to(hidden.device) for one in spots)
        for number, weight in enumerate(weights.to(hidden.dtype)):
            at = numbers == number
            made = soft_state(weight, before[under[at]])
            states = states.index_copy(0, places[at], made)
        return states.view_as(hidden)

    with entering(network, layer, put):
        yield


def soft_state(weight: Tensor, under: Tensor) -> Tensor:
    """[n, width]: of soft tokens of one number that hang under tokens with the states ``under`` [n, width]. ``weight``
    [width] or [width, width], as ``SoftModel`` says."""
    return under @ weight.T if weight.ndim == 2 else weight.expand(len(under), -1)


@contextmanager
def entering(network: Any, layer: int, put: Callable[[Tensor], Tensor]) -> Iterator[None]:
    """Within it, ``put`` is called with the states [batch, tokens, width] that enter a layer, and says what does."""

    def hooked(_layer: torch.nn.Module, given: Any, named: Any) -> Any:
        states = put(given[0] if given else named["hidden_states"])
        return ((states, *given[1:]), named) if given else (given, named | {"hidden_states": states})

    hook = decoder_layers(network)[layer].register_forward_pre_hook(hooked, with_kwargs=True)
    try:
        yield
    finally:
        hook.remove()


def decoder_layers(network: Any) -> Any:
    """The layers of a network of which ``part.layers_of`` counts any."""
    return getattr(network, network.base_model_prefix).layers
