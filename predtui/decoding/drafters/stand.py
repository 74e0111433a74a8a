"""STAND (Song et al. 2025): n-grams with what the target's logits were after them, drawn from as the target will draw.

Each forward of the target tells, after every token it evaluated, accepted or not, which tokens were likely; the last
few tokens before are the n-gram that leads there again, the longest known first. At a temperature the candidates are
put in the order of their logits with the noise of the position added (Gumbel-top-k), which is the very noise that the
target's choice is made with, so that a draft changes as the choice would. The tree is made by data: how often the
candidate of each rank was the right one, at each depth, says where it grows. Where the abstract leaves a gap: an n-gram
has the logits of its latest occurrence; the tree is learnt while decoding, in place of once from a data set. Must not
know of models.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
import numpy.typing as npt

from predtui.decoding.base import WIDEST, Drafter, Sampler
from predtui.decoding.draft import Draft, Verification
from predtui.decoding.drafters.grow import Options, Path, grow
from predtui.decoding.memory import newest
from predtui.decoding.parts import Parts
from predtui.decoding.sampler import Seeded, gumbel, randomness
from predtui.llm.rows import Row

LONGEST = 4
"""Tokens of the longest n-gram."""
CANDIDATES = 8
"""Logits kept after an n-gram, the highest."""
CAPACITY, FEWEST = 50_000, 500
"""n-grams kept at most, and at least; those that were seen first go first."""
BYTES = 500
"""What an n-gram takes at most, where none of the others that lead to the same logits is left."""
UNLIKELY = 0.02
"""A node with less of a chance is left out."""
DEPTHS = 4
"""Depths of which acceptance is counted; beyond, it is as at the last of them."""
_PRIOR = tuple(0.5 * 0.4**rank for rank in range(CANDIDATES))
"""How likely the candidate of each rank is taken to be at first, as if counted ``_WEIGHT`` times."""
_WEIGHT, _DECAY = 4.0, 0.99


class Stand:
    """Remembers n-grams from reply to reply, and how its trees fared."""

    def __init__(self, sampler: Sampler, vocab_size: int, branching: bool, capacity: int = CAPACITY) -> None:
        """``sampler``: the target's; ``branching``: whether that evaluates trees, else drafts are sequences;
        ``capacity``: n-grams that are kept."""
        self._capacity = capacity
        self._sampler, self._vocab_size = sampler, vocab_size
        self._ranks = CANDIDATES if branching else 1
        self._known: dict[tuple[int, ...], tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]] = {}
        """n-gram → the likeliest tokens after it, likeliest first, and how far their logits are below the highest."""
        self._right = np.outer(np.full(DEPTHS, _WEIGHT), _PRIOR)
        self._judged = np.full(DEPTHS, _WEIGHT)
        """How often the candidate of each rank was right [depth, rank], out of how many times [depth]."""
        self._candidates: dict[Path, list[int]] = {}
        """Of the last draft: what was thought likely after each path that was looked at, in order."""
        self._drafted = 0
        """Tokens of the context before it."""

    def propose(self, context: Sequence[int], budget: int, position: int = 0) -> Draft:
        recent = tuple(context[-LONGEST:])
        self._candidates, self._drafted = {}, len(context)

        @cache
        def draws(depth: int) -> npt.NDArray[np.float64]:
            return randomness(self._sampler.seed, position + depth).random(self._vocab_size)

        def after(path: Path) -> Options:
            if (known := self._after((*recent, *path))) is None:
                return ()
            tokens, scores = known
            if isinstance(self._sampler, Seeded):
                perturbed = scores / self._sampler.temperature + gumbel(draws(len(path))[tokens])
                tokens = tokens[np.argsort(-perturbed, kind="stable")]
            self._candidates[path] = tokens.tolist()
            options = zip(self._candidates[path], self._chances(len(path)), strict=False)
            return sorted(options, key=lambda option: -option[1])[: self._ranks]

        return grow(after, min(budget, WIDEST) if self._ranks > 1 else budget, UNLIKELY, "stand")

    def observe(self, verification: Verification) -> None:
        self._judge(verification)
        draft, recent = verification.draft, verification.context[-LONGEST:]
        paths: list[tuple[int, ...]] = [recent]
        for node, token in enumerate(draft.tokens[: draft.evaluated]):
            paths.append((*paths[draft.parent(node) + 1], token)[-LONGEST:])
        for path, row in zip(paths, verification.rows, strict=True):
            self._learn(path, row)

    def reset(self) -> None:
        """What was learnt stays."""

    def _chances(self, depth: int) -> list[float]:
        """Of the candidates at a depth, by rank."""
        at = min(depth, DEPTHS - 1)
        chances: list[float] = (self._right[at] / self._judged[at]).tolist()
        return chances

    def _after(self, recent: tuple[int, ...]) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]] | None:
        """What is known of the longest n-gram at the end of ``recent``."""
        for size in range(min(LONGEST, len(recent)), 0, -1):
            if (known := self._known.get(recent[-size:])) is not None:
                return known
        return None

    def _learn(self, path: tuple[int, ...], row: Row) -> None:
        tokens = row.top(CANDIDATES)
        known = np.array(tokens, np.int32), np.array([-row.gap(token) for token in tokens], np.float32)
        for size in range(1, len(path) + 1):
            self._known[path[-size:]] = known
        if len(self._known) > self._capacity - LONGEST:
            self._known = newest(self._known, self._capacity // 2)

    def _judge(self, verification: Verification) -> None:
        """Which rank was right, at every depth that was looked at, whether the candidate was drafted or not."""
        path: Path = ()
        while len(verification.context) == self._drafted and len(path) < len(verification.tokens):
            if (candidates := self._candidates.get(path)) is None:
                break
            token, at = verification.tokens[len(path)], min(len(path), DEPTHS - 1)
            self._right[at] *= _DECAY
            self._judged[at] = _DECAY * self._judged[at] + 1
            if token in candidates:
                self._right[at, candidates.index(token)] += 1
            path = (*path, token)
        self._candidates = {}


def make(parts: Parts) -> Drafter:
    """Raises PredtuiError where the target does not tell as many likely tokens as are kept, or there is no room."""
    parts.target.require("STAND", top=CANDIDATES)
    capacity = parts.memory.table("stand", CAPACITY * BYTES, FEWEST * BYTES) // BYTES
    return Stand(parts.sampler, parts.target.model.vocab_size, parts.target.abilities.trees, capacity)
