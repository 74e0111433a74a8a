"""One verification for every source of drafts: a forward of the target, and a rule that decides how much is accepted.

``ExactMatch`` keeps the tokens that the sampler itself chooses: the reply is, token for token, that of autoregressive
decoding with the same seed. ``RejectionSampling`` keeps a token with the probability that speculative sampling gives
it: the reply is another one, out of exactly the same distribution. With the greedy sampler they agree.
``Relaxed`` ones are lossy. Must not know where drafts come from, or what is done about those that are rejected.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple, Protocol

import numpy as np

from predtui.decoding.base import Probabilities, Sampler
from predtui.decoding.draft import Draft, Verification
from predtui.decoding.sampler import randomness
from predtui.llm.base import LanguageModel, has_trees
from predtui.llm.rows import Rows

_REJECTION = 1
"""Stream of the randomness that judges, independent of the one that drafts."""
NOWHERE = -2
"""Parent of a token that no path comes to."""


class Walk(NamedTuple):
    """How far a draft is accepted: ``path`` holds indices of its tokens, each a child of the one before; ``next_token``
    follows them, None where the path ends in the draft's tail, after which there is no row."""

    path: list[int]
    next_token: int | None
    lossless: bool = True
    """Whether plain decoding would have gone on in the same way: token for token, or in distribution."""


class Acceptance(Protocol):
    """A rule that walks down a draft as far as it accepts it."""

    def walk(self, draft: Draft, rows: Rows, position: int) -> Walk:
        """``rows``: the target's after the context, then after each of the draft's evaluated tokens. ``position`` is
        that of the first token in the reply. Raises Unanswered where the rows do not tell what the rule asks."""
        ...


def verify(
    model: LanguageModel,
    context: Sequence[int],
    draft: Draft,
    rule: Acceptance,
    position: int,
    is_end: Callable[[int], bool],
) -> Verification:
    """One forward over ``draft`` after ``context``, of a draft that branches as a tree where the engine can, else of
    its best path; what ``rule`` accepts of it, up to an end token.

    ``position``: how many tokens of the reply ``context`` holds already. Raises as the model does.
    """
    if draft.branches and not has_trees(model):
        draft = draft.best_path()
    if draft.soft and len(context) + draft.evaluated + sum(length for _, length in draft.soft) > model.context_size:
        draft = replace(draft, soft=())
    rows = _evaluate(model, context, draft)
    ahead = rows[draft.evaluated + 1 :] if draft.soft else None
    rows = rows[: draft.evaluated + 1] if draft.soft else rows
    path, next_token, lossless = rule.walk(_to_ends(draft, is_end), rows, position)
    end = next((count for count, node in enumerate(path, 1) if is_end(draft.tokens[node])), 0)
    if end:
        path, next_token = path[:end], None
    more = next_token is None and not end
    return Verification(tuple(context), draft, tuple(path), next_token, lossless, rows, more, ahead)


def _to_ends(draft: Draft, is_end: Callable[[int], bool]) -> Draft:
    """``draft`` as a rule may walk down it: what stands behind an end token follows nothing."""
    beyond: set[int] = set()
    for node, (parent, _) in enumerate(draft.nodes()):
        if parent >= 0 and (parent in beyond or is_end(draft.tokens[parent])):
            beyond.add(node)
    if not beyond:
        return draft
    return replace(draft, parents=tuple(NOWHERE if n in beyond else draft.parent(n) for n in range(len(draft.tokens))))


def _evaluate(model: LanguageModel, context: Sequence[int], draft: Draft) -> Rows:
    """The rows after the context, then after each evaluated token of the draft, then after its soft ones."""
    if draft.soft and has_trees(model):
        return model.forward_tree(context, *draft.with_soft(model.vocab_size))
    tokens = draft.tokens[: draft.evaluated]
    if draft.branches and has_trees(model):
        return model.forward_tree(context, tokens, draft.parents[: draft.evaluated])
    return model.forward([*context, *tokens], len(tokens) + 1)


class ExactMatch:
    """Each token is the target's own choice, so a draft is accepted as far as it foretells that choice.

    A draft drawn with the same noise as the target (the same sampler at the same position) agrees with it often, even
    at high temperature: both take the argmax of log-probabilities plus one and the same Gumbel noise.
    """

    def __init__(self, sampler: Sampler) -> None:
        self._choose = sampler.choose

    def walk(self, draft: Draft, rows: Rows, position: int) -> Walk:
        path: list[int] = []
        node = -1
        while node < draft.evaluated:
            token = self._choose(rows[node + 1], position + len(path))
            node = draft.child(node, token)
            if node < 0:
                return Walk(path, token)
            path.append(node)
        return Walk(path, None)


class Relaxed:
    """The longest path of tokens that are each the target's choice, or taken in its place. Lossy, unless each of them
    is the choice."""

    def __init__(self, sampler: Sampler) -> None:
        self._choose = sampler.choose

    def takes(self, draft: Draft, rows: Rows, node: int) -> bool:
        """Whether token ``node``, which is not the target's choice, is as good. Raises Unanswered as ``walk``."""
        raise NotImplementedError

    def walk(self, draft: Draft, rows: Rows, position: int) -> Walk:
        choices: dict[int, int] = {}
        reached: dict[int, tuple[list[int], bool]] = {-1: ([], True)}
        for node, token in enumerate(draft.tokens):
            parent = draft.parent(node)
            if parent not in reached:
                continue
            path, lossless = reached[parent]
            if parent not in choices:
                choices[parent] = self._choose(rows[parent + 1], position + len(path))
            if token == choices[parent] or self.takes(draft, rows, node):
                reached[node] = [*path, node], lossless and token == choices[parent]
        path, lossless = max(reached.values(), key=lambda one: len(one[0]))
        last = path[-1] if path else -1
        if last >= draft.evaluated:
            return Walk(path, None, lossless)
        choice = choices[last] if last in choices else self._choose(rows[last + 1], position + len(path))
        return Walk(path, choice, lossless)


class TopK(Relaxed):
    """Takes what is among the ``k`` likeliest (PredGen, section 3.1.1)."""

    def __init__(self, sampler: Sampler, k: int) -> None:
        super().__init__(sampler)
        self._k = k

    def takes(self, draft: Draft, rows: Rows, node: int) -> bool:
        return rows[draft.parent(node) + 1].rank(draft.tokens[node]) < self._k


class RejectionSampling:
    """Speculative sampling (Leviathan et al. 2023; Chen et al. 2023), for trees by trying one sibling after another
    (Miao et al. 2023): token x, drawn from q, is kept with probability min(1, p(x) / q(x)); where it is not, p becomes
    the residual max(0, p - q), normalised, for the next sibling or for the token that is drawn in the end."""

    def __init__(self, sampler: Sampler) -> None:
        self._sampler = sampler

    def walk(self, draft: Draft, rows: Rows, position: int) -> Walk:
        path: list[int] = []
        node = -1
        while node < draft.evaluated:
            random = randomness(self._sampler.seed, position + len(path), _REJECTION)
            p = self._sampler.probabilities(rows[node + 1])
            for child in draft.children(node):
                token = draft.tokens[child]
                q = _certain(token, p.size) if draft.q is None else draft.q[child]
                if random.random() * q[token] < p[token]:
                    node = child
                    path.append(child)
                    break
                p = _residual(p, q)
            else:
                return Walk(path, _drawn(p, random))
        return Walk(path, None)


def _certain(token: int, size: int) -> Probabilities:
    q = np.zeros(size)
    q[token] = 1
    return q


def _residual(p: Probabilities, q: Probabilities) -> Probabilities:
    """Where p nowhere exceeds q they are equal, and a rejection is a rounding error: p stays."""
    left = np.maximum(p - q, 0)
    total: float = left.sum()
    return left / total if total > 0 else p


def _drawn(p: Probabilities, random: np.random.Generator) -> int:
    mass = np.cumsum(p)
    return int(np.searchsorted(mass, random.random() * mass[-1], side="right"))
