"""Token trees in one forward of torch: the tree follows the sequence in the cache, behind a mask of its branches.

Must not know of files, or of how trees are drafted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from copy import copy
from dataclasses import replace
from typing import Any

import torch
from transformers import DynamicCache
from transformers.cache_utils import DynamicLayer

from predtui.llm.abilities import Abilities
from predtui.llm.base import check_request, check_vocabulary, common_prefix
from predtui.llm.pace import MOST
from predtui.llm.rows import Rows
from predtui.llm.soft import Weights, check_tree, check_weights
from predtui.llm.torch.model import TorchModel
from predtui.llm.torch.soft import softened, spots_of
from predtui.llm.torch.window import TorchCells
from predtui.llm.windows import CELLS, Window


class TorchTreeModel(TorchModel):
    """A ``TreeModel``, for networks that ``takes_trees``."""

    _parents: Sequence[int] = ()
    """Of the memory's last tokens, where they are a tree."""
    _soft: tuple[torch.Tensor, int] | None = None
    """What makes soft tokens, and in which layer."""

    @property
    def abilities(self) -> Abilities:
        return replace(super().abilities, trees=True, spares=True, windows=True, soft=self._layers > 0)

    def window_bytes(self, cells: int = CELLS) -> int:
        """As ``WindowModel`` says."""
        return int(self._cell_bytes * self.network.config.get_text_config().num_hidden_layers * cells)

    def window(self, cells: int = CELLS) -> Window:
        """As ``WindowModel`` says."""
        return Window(self, TorchCells(self.network, cells), cells, self._stale)

    def forward(self, tokens: Sequence[int], last: int = 1) -> Rows:
        self._settle(tokens)
        return super().forward(tokens, last)

    def forget(self, keep: int = 0) -> None:
        self._settle(())
        super().forget(keep)

    def forward_tree(self, tokens: Sequence[int], tree: Sequence[int], parents: Sequence[int]) -> Rows:
        check_request(tokens, 1, self._context_size - len(tree))
        if len(parents) != len(tree) or any(not -1 <= parent < node for node, parent in enumerate(parents)):
            raise ValueError(f"parents {[*parents]} of a tree of {len(tree)} tokens")
        soft = check_tree(tree, self._vocab_size, len(self._soft[0]) if self._soft else 0)
        self._settle(tokens)
        if len(tokens) - common_prefix(self._memory, tokens) > MOST:
            self.forward(tokens[:-1])
            self.counters.forwards -= 1  # the forward below is the end of this one
        kept = min(common_prefix(self._memory, tokens), len(tokens) - 1)
        check_vocabulary(tokens[kept:], self._vocab_size)
        kept = self._cut_back(kept)
        self.counters.forwards += 1
        depth = [0] * len(tree)
        for node, parent in enumerate(parents):
            depth[node] = depth[parent] + 1 if parent >= 0 else 0
        positions = [*range(kept, len(tokens)), *(len(tokens) + level for level in depth)]
        seen = _tree_mask(kept, len(tokens), parents, self.network.dtype)
        first, real = len(tokens) - kept, len(tree) - soft
        with self._softened(tree, parents, soft, first):
            given = [*tokens[kept:], *tree[:real], *[0] * soft]
            rows = self._evaluate(given, len(tree) + 1, positions, seen)
        self._cut_back(len(self._memory) - soft)
        self._parents = tuple(parents[:real])
        wanted = slice(-len(tree) - 1, None)
        return self._rows(rows[wanted], self._states[wanted] if self._telling else None)

    def soften(self, weights: Weights, layer: int = 0) -> None:
        """As ``SoftModel`` says."""
        check_weights(weights, layer, self.network.config.hidden_size, self._layers)
        self._soft = torch.from_numpy(weights).to(self.network.device), layer

    def _softened(
        self, tree: Sequence[int], parents: Sequence[int], soft: int, first: int
    ) -> AbstractContextManager[None]:
        """Within it, a forward over ``tree`` behind ``first`` tokens, of which the last are ``soft``."""
        if not soft or not self._soft:
            return nullcontext()
        weights, layer = self._soft
        return softened(self.network, layer, weights, spots_of(tree, parents, soft, first, self._vocab_size))

    @contextmanager
    def aside(self, tokens: Sequence[int], room: int) -> Iterator[None]:
        """As ``SparingModel`` says: the cache's tensors are never written to, only replaced."""
        self._settle(tokens)
        memory, cache = self._memory, self._cache
        self._memory, self._cache = list(memory), copy(cache)
        self._cache.layers = [copy(layer) for layer in cache.layers]
        try:
            yield
        finally:
            self._memory, self._cache, self._parents = memory, cache, ()

    @torch.inference_mode()
    def _settle(self, tokens: Sequence[int]) -> None:
        """Where the memory ends in a tree, keep that branch of it alone down which ``tokens`` goes."""
        if not self._parents:
            return
        root = len(self._memory) - len(self._parents)
        path: list[int] = []
        if common_prefix(self._memory[:root], tokens) == root:
            for token in tokens[root:]:
                last = path[-1] if path else -1
                below = (n for n, parent in enumerate(self._parents) if parent == last)
                node = next((n for n in below if self._memory[root + n] == token), None)
                if node is None:
                    break
                path.append(node)
        self._keep(root, path)
        self._memory = self._memory[:root] + [self._memory[root + node] for node in path]
        self._parents = ()

    def _keep(self, root: int, path: Sequence[int]) -> None:
        """Of the tree that follows ``root`` tokens in the cache, keep these nodes alone."""
        kept = torch.tensor([*range(root), *(root + node for node in path)])
        for layer in self._cache.layers:
            places = kept.to(layer.keys.device)
            layer.keys, layer.values = layer.keys.index_select(-2, places), layer.values.index_select(-2, places)


def takes_trees(network: Any) -> bool:
    """Whether every layer attends to all that came before: the mask of a tree would undo a sliding window."""
    return all(type(layer) is DynamicLayer for layer in DynamicCache(config=network.config.get_text_config()).layers)


def _tree_mask(kept: int, length: int, parents: Sequence[int], dtype: torch.dtype) -> torch.Tensor:
    """Additive, [1, 1, length - kept + len(parents), length + len(parents)]: the end of a sequence, then a tree whose
    nodes see the sequence, their ancestors and themselves."""
    size, first = length + len(parents), length - kept
    seen = torch.arange(size) <= torch.arange(kept, size)[:, None]
    seen[first:, length:] = False
    for node, parent in enumerate(parents):
        if parent >= 0:
            seen[first + node] = seen[first + parent]
        seen[first + node, length + node] = True
    return torch.where(seen, 0.0, torch.finfo(dtype).min).to(dtype)[None, None]
