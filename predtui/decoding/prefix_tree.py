"""Paths of tokens as a tree: what several of them share stands in it once. Must not know where they come from."""

from __future__ import annotations

from collections.abc import Iterable


class PrefixTree:
    """No two siblings are equal. Nodes are numbered as they come, so that parents stand before their children; -1 is
    the root, which has no token. ``tokens`` and ``parents``: by node."""

    def __init__(self) -> None:
        self.tokens: list[int] = []
        self.parents: list[int] = []
        self._nodes: dict[tuple[int, int], int] = {}

    def __len__(self) -> int:
        return len(self.tokens)

    def below(self, parent: int, token: int) -> int:
        """The node of ``token`` below ``parent``: the next number where it was not there."""
        node = self._nodes.setdefault((parent, token), len(self.tokens))
        if node == len(self.tokens):
            self.tokens.append(token)
            self.parents.append(parent)
        return node

    def add(self, path: Iterable[int], parent: int = -1) -> list[int]:
        """The nodes of ``path`` below ``parent``, new where they were not there."""
        nodes: list[int] = []
        for token in path:
            nodes.append(self.below(nodes[-1] if nodes else parent, token))
        return nodes

    def graft(self, nodes: Iterable[tuple[int, int]]) -> list[int]:
        """Add another tree, each of its ``nodes`` given by parent and token, parents first; where each stands now."""
        places: list[int] = []
        for parent, token in nodes:
            places.append(self.below(places[parent] if parent >= 0 else -1, token))
        return places
