"""Falcon (Gao et al. 2024): drafts a block of tokens in one pass, and the next block after that.

An LSTM follows the tokens; each place of a block begins with what it makes of them and attends to all of the block,
and to all before: the relaxed causal mask. The tree branches at each token and is continued by blocks: the options of a
later place are the same, whatever stands at the earlier ones. In training a wrong block is shown what the target says:
``predtui.lab.training.heads.networks.falcon``. Where the paper does otherwise: the layers are small, and are told, as
EAGLE's is here, what followed the same token, and the same two, when they last stood in the context. Must not know of
verification.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from predtui.decoding import head_draft
from predtui.decoding.base import Drafter
from predtui.decoding.drafters.grow import Options, Path
from predtui.decoding.head_draft import After, Choose
from predtui.decoding.heads import EMBEDDING, Array, Heads, attended, normed, sigmoid, silu
from predtui.decoding.parts import Parts
from predtui.decoding.recall import Recall


@dataclass(frozen=True, slots=True)
class Memory:
    """Of the LSTM after a path: ``output`` and ``cell`` [1, narrow]; ``seen`` [tokens, 2 attended]: keys and values of
    the tokens so far."""

    output: Array
    cell: Array
    seen: Array


class Falcon:
    """The gains of norms are part of the matrices behind them, and what is made of each token is known."""

    def __init__(self, heads: Heads) -> None:
        """Raises KeyError or ValueError for weights that are none of Falcon's."""
        self.tokens, self._place = heads.tokens, heads.place
        embedding: Array = normed(heads.weight(EMBEDDING)) * heads.weight("embedding_norm")
        self._embedded = [embedding @ heads.matrix(f"{name}.layers.0") for name in ("token", "one", "two")]
        gain, within = heads.weight("state_norm")[:, None], heads.weight("seen_norm")[:, None]
        self._begin, self._state = (gain * heads.matrix(f"{name}.layers.0") for name in ("begin", "state"))
        self._query, self._own = (within * heads.matrix(f"{name}.layers.0") for name in ("query", "own"))
        names = ("gates", "enter", "remember", "mixed", "down")
        self._gates, self._enter, self._remember, self._mixed, self._down = (
            heads.matrix(f"{name}.layers.0") for name in names
        )
        self._gate_up = heads.weight("inner_norm")[:, None] * heads.matrix("gate_up.layers.0")
        self.slots, self._output = heads.weight("slots"), heads.weight("norm")[:, None] * heads.output
        self._recall = Recall()

    def begun(self, hidden: Array) -> tuple[Array, Memory]:
        """What each block starts from [1, width], and the memory before the first token, by the state [width]."""
        state = normed(hidden[None])
        output, cell = np.split(state @ self._begin, 2, axis=1)
        return state @ self._state, Memory(np.tanh(output), cell, np.zeros((0, self._own.shape[1]), np.float32))

    def block(self, state: Array, memory: Memory, path: Path, new: int) -> tuple[Memory, Array]:
        """The memory after ``path``, of which the last ``new`` tokens are new to it, and the logits [block, draft
        vocabulary] of what follows. ``path`` begins with the last token of the context."""
        output, cell, seen = memory.output, memory.cell, [memory.seen]
        for end in range(len(path) - new + 1, len(path) + 1):
            tokens = path[end - 1], *self._recall.after(path[1:end])
            rows = self._place(tokens)
            told: Array = np.stack([table[row] for table, row in zip(self._embedded, rows, strict=True)])
            given = silu(told.sum(axis=0, keepdims=True))
            keep, write, show, fresh = np.split(np.concatenate((given, output), axis=1) @ self._gates, 4, axis=1)
            cell = sigmoid(keep + 1) * cell + sigmoid(write) * np.tanh(fresh)
            output = sigmoid(show) * np.tanh(cell)
            seen.append(output @ self._remember)
        after = Memory(output, cell, np.concatenate(seen))
        x: Array = state + np.concatenate((given, output), axis=1) @ self._enter + self.slots
        normal = normed(x)
        known = np.concatenate((after.seen, normal @ self._own))
        keys, values = np.split(np.broadcast_to(known, (len(x), *known.shape)), 2, axis=2)
        x = x + attended(normal @ self._query, keys, values) @ self._mixed
        gate, up = np.split(normed(x) @ self._gate_up, 2, axis=1)
        return after, normed(x + (silu(gate) * up) @ self._down) @ self._output

    def after(self, hidden: Array, context: Sequence[int], choose: Choose) -> After:
        """As ``Guesser`` says."""
        self._recall.read(context)
        return Blocks(self, hidden, context[-1], choose)


class Blocks:
    """What may follow the paths of one draft, found out a block at a time."""

    def __init__(self, falcon: Falcon, hidden: Array, token: int, choose: Choose) -> None:
        self._falcon, self._token, self._choose, self._size = falcon, token, choose, len(falcon.slots)
        self._state, self._first = falcon.begun(hidden)
        self._found: dict[Path, tuple[Memory, list[Options]]] = {}

    def __call__(self, path: Path) -> Options:
        within = len(path) % self._size
        start = path[: len(path) - within]
        if start not in self._found:
            memory = self._found[start[: -self._size]][0] if start else self._first
            whole = (self._token, *start)
            memory, logits = self._falcon.block(self._state, memory, whole, self._size if start else 1)
            depths = [*range(len(start), len(start) + self._size)]
            self._found[start] = memory, self._choose(logits, depths)
        return self._found[start][1][within]


def make(parts: Parts) -> Drafter:
    """Raises PredtuiError as ``head_draft.make``."""
    return head_draft.make(parts, "falcon", Falcon)
