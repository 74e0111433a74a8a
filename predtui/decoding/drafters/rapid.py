"""RAPID (Chen et al. 2025): drafts out of a shortened context, of which only the passages that matter are kept.

A prompt that is too long to be read twice is cut into passages; those with most of the question's words (BM25, over
tokens) stay, in their order, between its beginning and its end, where the question is. The draft model answers that;
the target verifies with all of it. ``--draft`` may name the target's own weights: the paper drafts with models of the
same size, too. Where the abstract leaves a gap: the question is the prompt's end, a passage has a fixed length, and a
prompt that is short already stays whole. The paper's transfer of knowledge at a temperature, which changes the target's
distribution by the draft's, is left out: it is not lossless. Must not know of models or of text.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from predtui.decoding.base import Drafter
from predtui.decoding.draft import Draft, Verification
from predtui.decoding.drafters import model
from predtui.decoding.parts import Parts

KEPT = 512
"""Tokens of a prompt that is read whole, and of what is left of a longer one."""
HEAD, QUESTION = 64, 128
"""Tokens of its beginning and of its end that always stay."""
PASSAGE = 64
"""Tokens that stay or go together."""
_SATURATION, _LENGTH = 1.2, 0.75
"""BM25's k1 and b, as usual."""
Term = int | tuple[int, int]
"""A token, or two in a row."""


class Rapid:
    """Keeps which of the last prompt's tokens stay, so that a reply's drafts share what the draft model remembers."""

    def __init__(self, drafter: Drafter) -> None:
        """``drafter``: what drafts from the shortened context."""
        self._drafter = drafter
        self._prompt: list[int] = []
        self._short: list[int] = []

    def propose(self, context: Sequence[int], budget: int, position: int = 0) -> Draft:
        start = len(context) - position
        if self._prompt != context[:start]:
            self._prompt = list(context[:start])
            self._short = shortened(self._prompt)
        return self._drafter.propose([*self._short, *context[start:]], budget, position)

    def observe(self, verification: Verification) -> None:
        self._drafter.observe(verification)

    def reset(self) -> None:
        self._drafter.reset()


def shortened(prompt: Sequence[int], kept: int = KEPT) -> list[int]:
    """At most ``kept`` tokens of ``prompt``, in their order: its beginning, the passages that matter most for its end,
    and its end. ``kept`` is at least ``HEAD + QUESTION``."""
    if len(prompt) <= kept:
        return list(prompt)
    end = len(prompt) - QUESTION
    starts = range(HEAD, end, PASSAGE)
    passages = [prompt[start : min(start + PASSAGE, end)] for start in starts]
    scores = bm25([terms(passage) for passage in passages], {*terms(prompt[end:])})
    best = sorted(range(len(passages)), key=lambda number: (-scores[number], -number))
    chosen = sorted(best[: (kept - HEAD - QUESTION) // PASSAGE])
    return [*prompt[:HEAD], *(token for number in chosen for token in passages[number]), *prompt[end:]]


def terms(tokens: Sequence[int]) -> list[Term]:
    """Its tokens, and each two of them in a row."""
    return [*tokens, *pairwise(tokens)]


def bm25(passages: Sequence[Sequence[Term]], asked: set[Term]) -> list[float]:
    """How well each of the passages, of which there is at least one, fits what is asked (Robertson and Zaragoza 2009):
    terms count by how few passages have them, and less each time they come again."""
    counts = [Counter(term for term in passage if term in asked) for passage in passages]
    having = Counter(term for count in counts for term in count)
    rarity = {term: math.log(1 + (len(passages) - n + 0.5) / (n + 0.5)) for term, n in having.items()}
    usual = max(1.0, sum(map(len, passages)) / len(passages))
    scores = []
    for passage, count in zip(passages, counts, strict=True):
        damping = _SATURATION * (1 - _LENGTH + _LENGTH * len(passage) / usual)
        scores.append(sum(rarity[term] * n * (1 + _SATURATION) / (n + damping) for term, n in count.items()))
    return scores


def make(parts: Parts) -> Drafter:
    """Raises PredtuiError as ``model.make``."""
    return Rapid(model.make(parts))
