"""Several candidates as one tree, so that one forward verifies them all: what they share is evaluated once.

Must not know of models, or of who made the candidates.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from predtui.decoding.costs.curve import Curve
from predtui.predgen.policy import MOST_CANDIDATES, MOST_NODES, AcceptanceEstimate, worth


@dataclass(frozen=True, slots=True)
class Trie:
    """Nodes with their parents (-1: the prompt), which come first. Only the first ``evaluated`` of them are to be
    evaluated: those that end a reply come after these, since nothing follows them."""

    tokens: tuple[int, ...]
    parents: tuple[int, ...]
    evaluated: int

    @property
    def is_sequence(self) -> bool:
        """Whether what is to be evaluated does not branch."""
        return all(parent == node - 1 for node, parent in enumerate(self.parents[: self.evaluated]))


def trie(
    candidates: Sequence[Sequence[int]],
    is_end: Callable[[int], bool],
    room: int,
    expectation: AcceptanceEstimate,
    costs: Curve | None = None,
    before: int = 1,
    spare: float = math.inf,
) -> Trie:
    """The tree of ``candidates``, the likeliest first, as many as fit into ``room`` tokens, which the first does; cut
    to what is worth its ``costs`` (None: all is) beside the ``before`` tokens that the forward evaluates anyway, and
    takes at most ``spare`` seconds more than they do."""
    edges: dict[tuple[int, int], int] = {}
    chances: list[float] = []
    for rank, candidate in enumerate(candidates[:MOST_CANDIDATES]):
        if rank and len(edges) + len(candidate) > min(room, MOST_NODES):
            break
        node = -1
        for depth, token in enumerate(candidate):
            edge = (node, token)
            if edge not in edges:
                edges[edge] = len(edges)
                chances.append(expectation.chance(rank, depth))
            node = edges[edge]
    nodes, inner = list(edges), {parent for parent, _ in edges}
    last = {node for node, (_, token) in enumerate(nodes) if node not in inner and is_end(token)}
    ranked = sorted(set(range(len(nodes))) - last, key=lambda node: -chances[node])
    if costs is not None:
        ranked = ranked[: worth([chances[node] for node in ranked], before, costs, spare)]
    place = {-1: -1} | {node: index for index, node in enumerate(ranked)}
    kept = [nodes[node] for node in (*ranked, *sorted(last)) if nodes[node][0] in place]
    return Trie(tuple(token for _, token in kept), tuple(place[parent] for parent, _ in kept), len(ranked))
