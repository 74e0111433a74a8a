"""Kangaroo (Liu et al. 2024): the target's first layers and a trained adapter behind them draft; both may exit early.

The shallow part of the target gives a state behind each token; the adapter, one attention layer between two norms,
makes of these what the last layers would, and the target's own output matrix tells the next token. A draft ends where
the adapter doubts it. Where the paper does otherwise: the part has the target's last norm, and a cache of its own, so
the target computes these layers again; a draft ends by the chance of all of it, and its last token, which is known by
then, is verified too; of a long context the adapter sees the end. Must not know of verification.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from predtui.decoding import heads
from predtui.decoding.base import Drafter, Sampler
from predtui.decoding.draft import Draft, Verification
from predtui.decoding.head_draft import SPINNING, fit, foretold
from predtui.decoding.heads import Array, Heads, normed
from predtui.decoding.parts import Parts
from predtui.errors import PredtuiError
from predtui.llm.base import LanguageModel, common_prefix, tells_hidden
from predtui.llm.layers import has_layers
from predtui.models.shipped import asset
from predtui.system.threads import limit_numpy

NAME = "kangaroo"
EXIT = "exit"
"""The tensor [1] that says after how many layers the adapter stands."""
UNSURE = 0.6
"""A draft ends where it is thought less likely than this that all of it is accepted."""
SPAN, PIECE = 256, 64
"""Tokens at the end of a context that are read where none of it is known, and those that are read at once."""
WIDTH = 64
"""Of a head of attention, where states have as much."""
THETA = 10_000.0


def inner(width: int) -> int:
    """How wide attention is over states of that ``width``: whole heads, of an even width."""
    return width // WIDTH * WIDTH or width // 2 * 2


class Adapter:
    """It remembers keys and values of the states that it was given. The gains of norms are part of the matrices behind
    them."""

    def __init__(self, weights: Heads) -> None:
        """Raises KeyError or ValueError for weights that are none of Kangaroo's."""
        self.tokens = weights.tokens
        self.exit = int(weights.weight(EXIT).item())
        self._qkv = weights.weight("state_norm")[:, None] * weights.matrix("qkv.layers.0")
        self._out = weights.matrix("out.layers.0")
        self._output = weights.weight("norm")[:, None] * weights.output
        size = len(self._out)
        self._shape = (-1, max(1, size // WIDTH), min(size, WIDTH))
        self._memory = np.zeros((2, SPAN, *self._shape[1:]), np.float32)
        """Keys and values, with room for more."""
        self.known = 0
        """States that it remembers."""

    def room(self, tokens: int) -> int:
        """Bytes of the keys and values of so many."""
        return tokens * self._memory[:, :1].nbytes

    def cut(self, keep: int) -> None:
        """Forget all but the first ``keep`` states."""
        self.known = min(self.known, keep)

    def read(self, states: Array) -> Array:
        """Logits [draft vocabulary] of what follows the last of ``states`` [n, width], which are behind those known."""
        first, end = self.known, self.known + len(states)
        q, k, v = (part.reshape(self._shape) for part in np.split(normed(states) @ self._qkv, 3, axis=1))
        if end > self._memory.shape[1]:
            more = np.zeros((2, end, *k.shape[1:]), np.float32)
            self._memory = np.concatenate((self._memory, more), axis=1)
        self._memory[0, first:end], self._memory[1, first:end] = turned(k, np.arange(first, end)), v
        self.known = end
        keys, values = self._memory[:, :end]
        asked = turned(q[-1:], np.array([end - 1]))[0]
        scores = np.einsum("hw,nhw->hn", asked, keys) * np.float32(self._shape[2] ** -0.5)
        powers = np.exp(scores - scores.max(axis=1, keepdims=True))
        mixed = np.einsum("hn,nhw->hw", powers / powers.sum(axis=1, keepdims=True), values)
        x = states[-1:] + mixed.reshape(1, -1) @ self._out
        logits: Array = (normed(x) @ self._output)[0]
        return logits


def tried(weights: Heads) -> Adapter:
    """An adapter that has told something of two states. Raises KeyError or ValueError, or as numpy does, for weights
    that are none of Kangaroo's, or whose shapes do not fit each other."""
    adapter = Adapter(weights)
    with np.errstate(all="ignore"):
        fit(adapter.read(np.ones((2, weights.width), np.float32))[None], adapter.tokens)
    adapter.cut(0)
    return adapter


def turned(x: Array, positions: npt.NDArray[np.int64]) -> Array:
    """``x`` [n, heads, width], the first half of each head turned against the second by the angles of its position."""
    half = x.shape[-1] // 2
    angles = np.outer(positions, THETA ** (-np.arange(half) / half)).astype(np.float32)[:, None]
    left, right = x[..., :half], x[..., half:]
    sine, cosine = np.sin(angles), np.cos(angles)
    result: Array = np.concatenate((left * cosine - right * sine, right * cosine + left * sine), axis=-1)
    return result


class KangarooDrafter:
    """A sequence of the adapter's likeliest tokens. What is drafted counts as certain."""

    def __init__(
        self,
        part: LanguageModel,
        adapter: Adapter,
        sampler: Sampler,
        is_end: Callable[[int], bool],
        looked: Callable[[int], None] = lambda _paths: None,
    ) -> None:
        """``part``: the target's first layers, which tell hidden states; ``is_end``: after which tokens a draft ends;
        ``looked`` as in ``LoadedModel``."""
        self._part, self._adapter, self._sampler, self._is_end, self._looked = part, adapter, sampler, is_end, looked
        self._start = 0
        """Where in the context the adapter begins to see it."""
        self._known: list[int] = []
        """The context of which it knows the states from there on."""

    def propose(self, context: Sequence[int], budget: int, position: int = 0) -> Draft:
        """Fewer than ``budget`` tokens where the adapter is unsure, at an end, or where the context is full."""
        sequence, chances, chance = list(context), list[float](), 1.0
        for index in range(min(budget, self._part.context_size - len(context) + 1)):
            logits = self._after(sequence)[None]
            self._looked(1)
            (options,) = foretold(logits, self._adapter.tokens, self._sampler, [position + index], 1)
            if not options:
                break
            sequence.append(options[0][0])
            chance *= options[0][1]
            chances.append(chance)
            if chance < UNSURE or self._is_end(sequence[-1]):
                break
        return Draft(tuple(sequence[len(context) :]), source=NAME, chances=tuple(chances))

    def observe(self, verification: Verification) -> None:
        """The part's memory follows the context by itself."""

    def reset(self) -> None:
        """The part's memory follows the context by itself."""

    def _after(self, sequence: list[int]) -> Array:
        """The adapter's logits of what follows."""
        known = min(common_prefix(self._known, sequence), len(sequence) - 1)
        if known <= self._start:
            known = self._start = max(0, len(sequence) - SPAN)
        self._adapter.cut(known - self._start)
        self._known = sequence[:known]
        for start in range(known, len(sequence), PIECE):
            end = min(start + PIECE, len(sequence))
            states = self._part.forward(sequence[:end], end - start).hidden
            assert states is not None, "the part was told to tell them"
            logits = self._adapter.read(states)
            self._known += sequence[start:end]  # a part may be preempted at the next piece
        return logits


def make(parts: Parts) -> Drafter:
    """Raises PredtuiError as ``heads.load``, where the target has no more layers than stand before the adapter, and
    where the part cannot be opened."""
    target = parts.target
    adapter = heads.load(parts.heads or asset("heads"), NAME, target, tried)
    model = target.model
    assert has_layers(model), "assembly has seen to it"
    layers = range(adapter.exit)
    if not 0 < adapter.exit < target.abilities.layers:
        raise PredtuiError(
            f"These heads stand behind {adapter.exit} layers, and {target.name} has {target.abilities.layers}.",
            "Train some: predtui train heads --method kangaroo --model MODEL",
        )
    remembered = adapter.room(model.context_size) + model.part_bytes(layers)
    parts.memory.fixed("What kangaroo drafts with", heads.held(adapter) + remembered)
    part = model.part(layers)
    assert tells_hidden(part), "its heads are of states that the target tells"
    part.tell_hidden()
    if target.engine == SPINNING:
        limit_numpy(1)
    return KangarooDrafter(part, adapter, parts.sampler, target.tokenizer.is_end, target.looked)
