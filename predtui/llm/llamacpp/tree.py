"""Token trees in llama.cpp: every leaf has a sequence of its own, and a node belongs to those of the leaves below it.

Must not know where trees come from, or of text.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import llama_cpp
import numpy as np

from predtui.errors import PredtuiError
from predtui.llm.abilities import Abilities
from predtui.llm.base import Stale, check_request, check_vocabulary, common_prefix, never, unheard
from predtui.llm.layers import check_layers
from predtui.llm.llamacpp.batch import CHUNK, Saved, output_rows, output_states
from predtui.llm.llamacpp.exactness import Padding
from predtui.llm.llamacpp.model import LEAVES, PADDING, SPARED, LlamaCppModel
from predtui.llm.llamacpp.part import cuttable, file_of, size_of
from predtui.llm.llamacpp.sequences import LlamaCppSequences
from predtui.llm.llamacpp.weights import LlamaWeights
from predtui.llm.llamacpp.window import LlamaCells
from predtui.llm.rows import ArrayRows, Rows
from predtui.llm.sequences import Sequences
from predtui.llm.windows import CELLS, Window


@dataclass(frozen=True, slots=True)
class _Tree:
    """What the cache holds beyond the memory: ``homes[i]`` are the sequences that node i belongs to."""

    tokens: tuple[int, ...]
    parents: tuple[int, ...]
    homes: tuple[tuple[int, ...], ...]
    sequences: int

    def path(self, tokens: Sequence[int]) -> list[int]:
        """Nodes along which ``tokens`` go down, as far as they do."""
        path: list[int] = []
        edges = {edge: node for node, edge in enumerate(zip(self.parents, self.tokens, strict=True))}
        for token in tokens:
            node = edges.get((path[-1] if path else -1, token))
            if node is None:
                break
            path.append(node)
        return path


class LlamaTreeModel(LlamaCppModel):
    """A ``TreeModel``, for networks whose cache can be cut at any token (not recurrent ones)."""

    _tree: _Tree | None = None

    def __init__(self, weights: LlamaWeights, context: int = 0, stale: Stale = never) -> None:
        self._windows: list[LlamaCells] = []
        self._parts: list[LlamaTreeModel] = []
        self._layers = cuttable(weights.header)
        super().__init__(weights, context, stale)

    @property
    def abilities(self) -> Abilities:
        can = replace(super().abilities, trees=True, spares=True, windows=True)
        return replace(can, hidden=self._width, layers=self._layers)

    def forward(self, tokens: Sequence[int], last: int = 1) -> Rows:
        self._settle(tokens)
        return super().forward(tokens, last)

    def forget(self, keep: int = 0) -> None:
        self._settle(())
        super().forget(keep)

    def tell_hidden(self) -> None:
        """As ``HiddenModel`` says. Networks with a state beside the cache do not: of some, llama.cpp then computes
        other logits."""
        self._telling = True

    def pad(self, padding: Padding) -> None:
        """As ``PaddedModel`` says."""
        self.forget()
        self._batch.padding = padding

    def sequences(self) -> Sequences:
        beside_a_target = self._threads - 1 if self._cores else self._threads
        return LlamaCppSequences(self, max(1, beside_a_target))

    def window_bytes(self, cells: int = CELLS) -> int:
        """As ``WindowModel`` says."""
        network, ask = self._weights.plan.network, self._weights.plan.ask
        return network.cache(cells, ask.kv, flash=ask.flash) + network.buffers(cells, ask.batch, ask.flash)

    def window(self, cells: int = CELLS) -> Window:
        """As ``WindowModel`` says."""
        self._windows.append(LlamaCells(self, self._threads, cells))
        return Window(self, self._windows[-1], cells, self._stale)

    def part_bytes(self, layers: Sequence[int]) -> int:
        """As ``LayeredModel`` says: with the weights, which are the part's own."""
        network, ask = self._weights.plan.network, self._weights.plan.ask
        cells = network.cache(ask.cells, ask.kv, flash=ask.flash) * len(layers) // max(1, self._layers)
        return size_of(self._weights.header, layers) + cells + network.buffers(ask.cells, ask.batch, ask.flash)

    def part(self, layers: Sequence[int]) -> LlamaTreeModel:
        """As ``LayeredModel`` says, out of a file of its own."""
        check_layers(layers, self._layers)
        path = file_of(self._weights.header, layers)
        request = replace(self._weights.request, model=str(path), told=unheard, room=None, caches=1)
        self._parts = [part for part in self._parts if part.handle]
        self._parts.append(LlamaTreeModel(LlamaWeights(path, request), self._context_size, self._stale))
        return self._parts[-1]

    def close(self) -> None:
        for cells in self._windows:
            cells.close()
        for part in self._parts:
            part.close()
        super().close()

    @contextmanager
    def aside(self, tokens: Sequence[int], room: int) -> Iterator[None]:
        """As ``SparingModel`` says: another sequence holds what is remembered, in the same cells of the cache."""
        self._settle(tokens)
        kept = list(self._memory)
        if len(kept) + room > self._context_size:
            yield
            return
        llama_cpp.llama_memory_seq_cp(self._kv, 0, SPARED, 0, -1)
        try:
            yield
        except PredtuiError:  # a forward that failed has cleared the whole cache
            kept = []
            raise
        finally:
            self._settle(())
            llama_cpp.llama_memory_seq_rm(self._kv, 0, -1, -1)
            llama_cpp.llama_memory_seq_cp(self._kv, SPARED, 0, 0, len(kept))
            llama_cpp.llama_memory_seq_rm(self._kv, SPARED, -1, -1)
            self._memory = kept

    def forward_tree(self, tokens: Sequence[int], tree: Sequence[int], parents: Sequence[int]) -> Rows:
        """As ``TreeModel`` says; at most ``LEAVES`` leaves and 255 nodes."""
        check_request(tokens, 1, self._context_size - len(tree))
        check_vocabulary(tree, self._vocab_size)
        homes, sequences = _homes(parents)
        if len(tree) != len(parents) or sequences > LEAVES or len(tree) >= CHUNK:
            raise ValueError(f"a tree of {len(tree)} nodes and {sequences} leaves; at most {CHUNK - 1} and {LEAVES}")
        self._settle(tokens)
        forwards = self.counters.forwards
        if len(tokens) > 1:
            self._remember(tokens[:-1])
        check_vocabulary(tokens[-1:], self._vocab_size)
        start = self._cut_back(len(tokens) - 1)
        for sequence in range(1, sequences):
            llama_cpp.llama_memory_seq_cp(self._kv, 0, sequence, 0, start)
        padded = self.padding.of(1 + len(tree)) - 1 - len(tree)
        batch = _TreeBatch(
            [tokens[-1], *tree, *[0] * padded],
            [*_depths(parents, start), *range(padded)],
            [tuple(range(sequences)), *homes, *[(PADDING,)] * padded],
        )
        self._decode(batch.struct, padded, sequences)
        self.counters.forwards = forwards + 1  # what is evaluated of the prompt is a chunk of the same forward
        self._memory.append(tokens[-1])
        self._tree = _Tree(tuple(tree), tuple(parents), homes, sequences)
        count = 1 + len(tree)
        states = output_states(self._context, count, self._width) if self._telling else None
        return ArrayRows(output_rows(self._context, count, self._vocab_size), states)

    def _settle(self, tokens: Sequence[int]) -> None:
        """Of the last tree, keep the branch down which ``tokens`` go, moved to where it had been alone: what follows
        must come after it in the cache, as attention goes by the order of the cells."""
        tree, self._tree = self._tree, None
        if tree is None:
            return
        start = len(self._memory)
        path = tree.path(tokens[start:]) if list(tokens[:start]) == self._memory else []
        shared = start + common_prefix(path, range(len(path)))
        end = start + len(path)
        if path and (home := tree.homes[path[-1]][0]):
            llama_cpp.llama_memory_seq_rm(self._kv, 0, start, -1)
            llama_cpp.llama_memory_seq_cp(self._kv, home, 0, start, shared)
        moved = None
        if shared < end:
            llama_cpp.llama_memory_seq_cp(self._kv, tree.homes[path[-1]][0], SPARED, shared, end)
            moved = Saved(self._context, SPARED)
        llama_cpp.llama_memory_seq_rm(self._kv, 0, shared, -1)
        for sequence in range(1, tree.sequences):
            llama_cpp.llama_memory_seq_rm(self._kv, sequence, -1, -1)
        if moved:
            if moved.restore(SPARED):
                llama_cpp.llama_memory_seq_cp(self._kv, SPARED, 0, shared, end)
            else:
                del path[shared - start :]
            llama_cpp.llama_memory_seq_rm(self._kv, SPARED, -1, -1)
        self._memory += [tree.tokens[node] for node in path]


class _TreeBatch:
    """A ``llama_batch`` whose tokens belong to several sequences each, with logits for every token."""

    def __init__(self, tokens: Sequence[int], positions: Sequence[int], homes: Sequence[Sequence[int]]) -> None:
        self._tokens, self._positions = np.array(tokens, np.int32), np.array(positions, np.int32)
        self._wanted = np.ones(len(tokens), np.int8)
        self._counts = np.array([len(home) for home in homes], np.int32)
        self._homes = np.concatenate([np.array(home, np.int32) for home in homes])
        offsets = np.cumsum(self._counts) - self._counts
        self._pointers = self._homes.ctypes.data + self._homes.itemsize * offsets.astype(np.uintp)
        integers = ctypes.POINTER(ctypes.c_int32)
        self.struct = llama_cpp.llama_batch(
            n_tokens=len(tokens),
            token=self._tokens.ctypes.data_as(integers),
            embd=None,
            pos=self._positions.ctypes.data_as(integers),
            n_seq_id=self._counts.ctypes.data_as(integers),
            seq_id=self._pointers.ctypes.data_as(ctypes.POINTER(integers)),
            logits=self._wanted.ctypes.data_as(ctypes.POINTER(ctypes.c_int8)),
        )


def _homes(parents: Sequence[int]) -> tuple[tuple[tuple[int, ...], ...], int]:
    """The sequences of each node, and how many there are in all, at least 1. Raises ValueError for a parent that does
    not come before its child."""
    if any(not -1 <= parent < node for node, parent in enumerate(parents)):
        raise ValueError("parents must come before their children")
    homes: list[list[int]] = [[] for _ in parents]
    leaves = sorted(set(range(len(parents))) - set(parents))
    for sequence, leaf in enumerate(leaves):
        node = leaf
        while node >= 0:
            homes[node].append(sequence)
            node = parents[node]
    return tuple(tuple(home) for home in homes), max(1, len(leaves))


def _depths(parents: Sequence[int], start: int) -> list[int]:
    """Positions: that of the token before the tree, ``start``, and those of the nodes."""
    positions = [start]
    for parent in parents:
        positions.append(positions[parent + 1] + 1)
    return positions
