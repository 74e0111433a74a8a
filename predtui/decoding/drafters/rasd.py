"""RASD (Quan et al. 2025): what was retrieved, as far as the draft model finds it likely, in one tree with what that
drafts itself.

The draft model's tree takes half of the budget, as DySpec grows it. What is retrieved is pruned: of its nodes those go,
with all below them, whose token is not among what the draft model takes for likely there, wherever its own tree has
looked already, so that pruning costs no forward. Both are fused by their longest common prefixes, into the nodes that
are left. Where the abstract leaves a gap: retrieved is from a datastore (as REST) where there is one, else from the
conversation (as CopySpec); a tree that would be too large loses what is least likely, and neither part its best path.
Must not know of verification.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from predtui.decoding.base import WIDEST, Drafter
from predtui.decoding.draft import Draft, Verification, merged
from predtui.decoding.drafters import copyspec, dyspec
from predtui.decoding.drafters.dyspec import UNLIKELY, DySpec
from predtui.decoding.drafters.grow import Options, Path, grow
from predtui.decoding.drafters.rest import Retrieval
from predtui.decoding.parts import Parts
from predtui.errors import PredtuiError


class Rasd:
    """Remembers what its two parts do."""

    def __init__(self, retrieval: Drafter, model: DySpec) -> None:
        self._retrieval, self._model = retrieval, model

    def propose(self, context: Sequence[int], budget: int, position: int = 0) -> Draft:
        budget, looked = min(budget, WIDEST), dict[Path, Options]()

        def after(path: Path) -> Options:
            looked[path] = self._model.after(context, path, position)
            return looked[path]

        drafted = grow(after, (budget + 1) // 2, UNLIKELY)
        retrieved = pruned(self._retrieval.propose(context, budget, position), looked)
        return fused(drafted, retrieved, budget)

    def observe(self, verification: Verification) -> None:
        self._retrieval.observe(verification)
        self._model.observe(verification)

    def reset(self) -> None:
        self._retrieval.reset()
        self._model.reset()


def pruned(retrieved: Draft, looked: dict[Path, Options]) -> Draft:
    """Without what the draft model finds unlikely: ``looked`` has what it takes for likely after some paths."""
    paths: list[Path] = []
    kept: dict[int, int] = {-1: -1}
    for node, token in enumerate(retrieved.tokens):
        parent = retrieved.parent(node)
        if parent in kept:
            above = paths[kept[parent]] if parent >= 0 else ()
            likely = looked.get(above)
            if not likely or token in dict(likely):
                kept[node] = len(paths)
                paths.append((*above, token))
    places = {path: place for place, path in enumerate(paths)}
    parents = tuple(places.get(path[:-1], -1) for path in paths)
    return Draft(tuple(path[-1] for path in paths), parents, source=retrieved.source)


def fused(drafted: Draft, retrieved: Draft, budget: int) -> Draft:
    """All of ``drafted``, which has at most ``budget`` nodes, and of ``retrieved`` as many of its first nodes as there
    is room for: what both begin with takes none."""
    for count in range(min(budget, len(retrieved.tokens)), 0, -1):
        tree = merged(drafted, retrieved.first(count))
        if len(tree.tokens) <= budget:
            return replace(tree, source="rasd")
    return replace(drafted, source="rasd")


def make(parts: Parts) -> Drafter:
    """Raises PredtuiError where the draft model, or a datastore that is named, does not fit the target."""
    return Rasd(_retrieval(parts), dyspec.make(parts))


def _retrieval(parts: Parts) -> Drafter:
    """Out of the datastore; where none is named, and the usual one is another model's, out of the conversation."""
    try:
        return Retrieval(parts.needed_datastore())
    except PredtuiError:
        if parts.store is not None:
            raise
        return copyspec.make(parts)
