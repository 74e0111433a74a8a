"""Drafts of soft tokens: the forward that verifies a draft also tells, behind them, what to draft next.

Chains of soft tokens hang below the context and below drafted tokens; the rows behind the chain where the accepted path
ends are guesses at what follows the token that the target itself chooses there. A tree grows best first out of them,
and shares a forward's room with the chains for the next one, by what each is expected to bring. What is drafted counts
as certain, which keeps speculative sampling exact. Must not know of any one method, of engines, or of verification.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from predtui.decoding import heads
from predtui.decoding.base import WIDEST, Sampler
from predtui.decoding.draft import Draft, Verification
from predtui.decoding.drafters.grow import Options, Path, grow
from predtui.decoding.head_draft import CANDIDATES, UNLIKELY
from predtui.decoding.heads import Array, Heads
from predtui.decoding.parts import Parts
from predtui.decoding.sampler import foreseen
from predtui.errors import PredtuiError
from predtui.llm.rows import Row
from predtui.llm.soft import has_soft
from predtui.models.shipped import asset

SOFT, LAYER = "soft", "layer"
"""Tensors: what makes soft tokens, and [1] in which layer."""
HOPE = 0.5
"""What each token of a chain is hoped to bring, relative to the one before it, and the first to a token."""


class SoftDrafter:
    """Knows the rows behind the soft tokens at the end of what was accepted, and for which context they hold."""

    def __init__(
        self,
        name: str,
        length: int,
        sampler: Sampler,
        is_end: Callable[[int], bool],
        soften: Callable[[], None] = lambda: None,
    ) -> None:
        """``length``: of a chain, at most; ``is_end``: after which tokens a path ends; ``soften``: makes the target's
        soft tokens those of this drafter, since another may use the same model between two replies."""
        self._name, self._length, self._sampler, self._is_end = name, length, sampler, is_end
        self._soften = soften
        self._context: list[int] = []
        self._ahead: list[Row] = []

    def propose(self, context: Sequence[int], budget: int, position: int = 0) -> Draft:
        """Soft tokens alone where nothing is known of this context."""
        rows = self._ahead if self._context == list(context) else []
        options = [foreseen(self._sampler, row, position + depth, CANDIDATES) for depth, row in enumerate(rows)]

        def after(path: Path) -> Options:
            ended = len(path) >= len(options) or (path and self._is_end(path[-1]))
            return () if ended else options[len(path)]

        return shared(grow(after, min(budget, WIDEST), UNLIKELY, self._name), self._length, self._is_end)

    def observe(self, verification: Verification) -> None:
        """The rows that follow what was accepted; none where the target's own choice does not follow it."""
        end, start = verification.path[-1] if verification.path else -1, 0
        self._context, self._ahead = [*verification.context, *verification.tokens], []
        if verification.ahead is None or verification.next_token is None:
            return
        for node, length in verification.draft.soft:
            if node == end:
                self._ahead = [verification.ahead[start + number] for number in range(length)]
            start += length

    def reset(self) -> None:
        """Rows hold for their context, whatever came between."""
        self._soften()


def shared(draft: Draft, length: int, is_end: Callable[[int], bool]) -> Draft:
    """So many of the first tokens of ``draft`` with chains of soft tokens of at most that ``length`` that both together
    are expected to bring the most, now and in the next forward, which there is none of after an end."""
    best, most = draft, -1.0
    for count in range(len(draft.tokens), -1, -1):
        fewer = draft.first(count)
        worths = _worths(fewer, length, is_end)[: WIDEST - count]
        if (total := sum(fewer.chances) + sum(worth for worth, _ in worths)) > most:
            lengths: dict[int, int] = {}
            for _, node in worths:
                lengths[node] = lengths.get(node, 0) + 1
            best, most = replace(fewer, soft=tuple(lengths.items())), total
    return best


def _worths(draft: Draft, length: int, is_end: Callable[[int], bool]) -> list[tuple[float, int]]:
    """What each token of a chain below each node is hoped to bring, the most first; the node may be the context."""
    ends = [1.0, *(0.0 if is_end(token) else chance for token, chance in zip(draft.tokens, draft.chances, strict=True))]
    for node, chance in enumerate(draft.chances):
        ends[draft.parent(node) + 1] -= chance
    worths = [(end * HOPE**number, place - 1) for place, end in enumerate(ends) for number in range(1, length + 1)]
    return sorted((one for one in worths if one[0] > UNLIKELY), key=lambda one: -one[0])


def make(parts: Parts, name: str, ranks: int) -> SoftDrafter:
    """The drafter ``name`` over the soft tokens in the folder that ``parts`` name, or over those that ship; what makes
    them has so many ``ranks``. Raises PredtuiError as ``heads.load``."""

    def of(found: Heads) -> tuple[Array, int]:
        weights = found.weight(SOFT)
        if weights.ndim != ranks or not len(weights) or {*weights.shape[1:]} != {found.width}:
            raise ValueError(f"{SOFT} has the shape {weights.shape}")
        return weights, int(found.weight(LAYER).item())

    target, model = parts.target, parts.target.model
    weights, layer = heads.load(parts.heads or asset("heads"), name, target, of)
    assert has_soft(model), "assembly has seen to it"
    if not 0 <= layer < target.abilities.layers:
        raise PredtuiError(
            f"These soft tokens enter layer {layer}, and {target.name} has {target.abilities.layers}.",
            f"Train some: predtui train heads --method {name} --model MODEL",
        )
    parts.memory.fixed(f"What {name} has learnt", weights.nbytes)
    soften = partial(model.soften, weights, layer)
    soften()
    return SoftDrafter(name, len(weights), parts.sampler, target.tokenizer.is_end, soften)
