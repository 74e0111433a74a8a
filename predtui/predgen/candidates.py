"""Candidate replies: those of the last few prompts by prompt, and as the tree that one forward verifies them in.

Recognisers flip back and forth, and so do candidates. How much of the tree is evaluated depends on what a forward costs
and on how much of earlier candidates was accepted. Must not know of models, or of how candidates are generated.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from predtui.decoding.costs.curve import Curve
from predtui.decoding.draft import Draft
from predtui.decoding.prefix_tree import PrefixTree
from predtui.llm.base import common_prefix

MOST_CANDIDATES = 12
"""Candidates of which one forward evaluates tokens at most."""
MOST_NODES = 128
"""Tokens that one forward evaluates at most where there are several candidates."""
_ALMOST = 0.999
_DECAY = 0.95
_ACCEPTED, _REJECTED = 8.0, 1.0
"""Accepted and rejected tokens of candidates before any were seen: first sentences have some 15 tokens, and about half
are accepted as a whole (bench predgen)."""
_WON, _LOST = 1.0, 3.0
"""The same for former candidates, where the present one is rejected."""


@dataclass(frozen=True, slots=True)
class CandidateReply:
    """Tokens, each chosen for the prompt that they reply to; ``lossless``: as plain decoding would have."""

    tokens: tuple[int, ...]
    lossless: bool = True


class Candidates:
    """Candidate replies by prompt, the newest first; the oldest give way."""

    def __init__(self, size: int) -> None:
        """``size``: how many are kept; none where it is 0 or less."""
        self._size = max(0, size)
        self._replies: dict[tuple[int, ...], CandidateReply] = {}

    def keep(self, prompt: Sequence[int], reply: CandidateReply) -> None:
        """As the newest, in the place of what was kept for ``prompt`` before."""
        self._replies.pop(tuple(prompt), None)
        self._replies[tuple(prompt)] = reply
        while len(self._replies) > self._size:
            del self._replies[next(iter(self._replies))]

    def take(self, prompt: Sequence[int]) -> CandidateReply | None:
        """What is kept for ``prompt``, and is kept no longer."""
        return self._replies.pop(tuple(prompt), None)

    def get(self, prompt: Sequence[int]) -> CandidateReply | None:
        """What is kept for ``prompt``, and stays kept, as the newest: it is asked for."""
        found = self.take(prompt)
        if found is not None:
            self.keep(prompt, found)
        return found

    def newest(self) -> list[tuple[int, ...]]:
        """The tokens of all, the newest first."""
        return [reply.tokens for reply in reversed(self._replies.values())]

    def clear(self) -> None:
        self._replies.clear()


class CandidatePool:
    """The present candidate, and those of the last few prompts: of some that have come, and of some that may come."""

    def __init__(self, memory: int, continuations: int) -> None:
        """``memory``: how many are kept for prompts that have come, the present one included; ``continuations``: and
        for prompts that have not."""
        self._former = Candidates(memory - (not continuations))
        self._continuations = Candidates(continuations)
        self.clear()

    def clear(self) -> None:
        """Forget all."""
        self.present: list[int] = []
        self.lossless = True
        self._ahead = False
        """Whether the present one is for a prompt that has not come."""
        self.distrust()

    def distrust(self) -> None:
        """Keep the present one alone, as that of another prompt."""
        self._former.clear()
        self._continuations.clear()
        self._prompt: list[int] | None = None
        """The one that the present candidate is the reply to."""

    def known(self, limit: int) -> list[tuple[int, ...]]:
        """The first ``limit`` tokens of all, the present one first."""
        newest = (self.present, *self._former.newest(), *self._continuations.newest())
        return [tuple(tokens[:limit]) for tokens in newest]

    def candidate_for(self, prompt: Sequence[int]) -> tuple[int, ...]:
        """The candidate for exactly this prompt; empty where there is none."""
        if self._prompt == list(prompt):
            return tuple(self.present)
        found = self._former.get(prompt) or self._continuations.get(prompt)
        return found.tokens if found else ()

    def recall(self, prompt: Sequence[int], ahead: bool) -> bool:
        """Take up the candidate for exactly this prompt, where there is one."""
        if self._prompt == list(prompt):
            self._ahead = ahead
            return True
        found = self._former.take(prompt) or self._continuations.take(prompt)
        if found is not None:
            self.replace(prompt, found.tokens, found.lossless, ahead)
        return found is not None

    def replace(self, prompt: Sequence[int], tokens: Sequence[int], lossless: bool, ahead: bool) -> None:
        """Go on with ``tokens``, chosen for ``prompt``; what was present is kept as a former one."""
        if self._prompt is not None:
            former = self._continuations if self._ahead else self._former
            former.keep(self._prompt, CandidateReply(tuple(self.present), self.lossless))
        self.present, self.lossless = list(tokens), lossless
        self._prompt, self._ahead = list(prompt), ahead


class AcceptanceEstimate:
    """How likely a token of a candidate is accepted, out of the verifications before."""

    def __init__(self) -> None:
        self._accepted, self._rejected = _ACCEPTED, _REJECTED
        self._won, self._lost = _WON, _LOST

    def chance(self, rank: int, depth: int) -> float:
        """Of the token at ``depth`` (from 0) of the candidate at ``rank``, 0 being the present one."""
        rate = min(_ALMOST, self._accepted / (self._accepted + self._rejected))
        share = self._won / (self._won + self._lost) if rank else 1.0
        return share * math.pow(rate, depth + 1)

    def learn(self, candidates: Sequence[Sequence[int]], accepted: Sequence[int]) -> None:
        """So many tokens were ``accepted`` of ``candidates``, the present one first."""
        present, *former = candidates
        shared = common_prefix(present, accepted)
        if present:
            self.observe(shared, rejected=shared < len(present))
        if former and shared < len(present):
            self.rescued(shared < len(accepted))

    def observe(self, accepted: int, rejected: bool) -> None:
        """So many tokens of a candidate were accepted, and then one ``rejected``, or there was none left."""
        self._accepted = self._accepted * _DECAY + accepted
        self._rejected = self._rejected * _DECAY + rejected

    def rescued(self, won: bool) -> None:
        """Whether a former candidate went on where the present one was rejected."""
        self._won = self._won * _DECAY + won
        self._lost = self._lost * _DECAY + (not won)


@dataclass(frozen=True, slots=True)
class Budget:
    """What one forward over candidates may take: ``room`` tokens of the model's context; of seconds, what is worth its
    ``costs`` (by tokens evaluated; None: all is) beside ``before`` tokens that are evaluated anyway, and at most
    ``spare`` more than these where nothing is accepted."""

    room: int
    costs: Curve | None = None
    before: int = 1
    spare: float = math.inf


def candidate_tree(
    candidates: Sequence[Sequence[int]],
    is_end: Callable[[int], bool],
    estimate: AcceptanceEstimate,
    budget: Budget,
) -> Draft:
    """``candidates``, the likeliest first, as one draft: what they share is in it once.

    Its evaluated part is as much as the ``budget`` allows of as many candidates as fit, which the first one does; its
    tail holds, below that, the next token of every candidate and the tokens that end a reply.
    """
    tree = _Candidates()
    for rank, candidate in enumerate(candidates[:MOST_CANDIDATES]):
        if rank and len(tree.tokens) + len(candidate) > min(budget.room, MOST_NODES):
            break
        tree.hold(candidate, (estimate.chance(rank, depth) for depth in range(len(candidate))))
    ranked = sorted(tree.inner(is_end), key=lambda node: -tree.chances[node])
    if budget.costs is not None:
        chances = [tree.chances[node] for node in ranked]
        ranked = ranked[: worth(chances, budget.before, budget.costs, budget.spare)]
    return tree.draft(ranked, candidates)


class _Candidates(PrefixTree):
    """A node is a token below another node, -1 being the prompt."""

    def __init__(self) -> None:
        super().__init__()
        self.chances: list[float] = []

    def hold(self, candidate: Sequence[int], chances: Iterable[float]) -> None:
        """``chances``: of its tokens, which count where the token is not there yet."""
        for node, chance in zip(self.add(candidate), chances, strict=True):
            if node == len(self.chances):
                self.chances.append(chance)

    def inner(self, is_end: Callable[[int], bool]) -> list[int]:
        """All nodes but the leaves that end a reply: nothing is asked of what follows these."""
        parents = {*self.parents}
        return [node for node, token in enumerate(self.tokens) if node in parents or not is_end(token)]

    def draft(self, evaluated: Sequence[int], candidates: Sequence[Sequence[int]]) -> Draft:
        """The nodes ``evaluated``, parents before children, then the first token of each of ``candidates`` that is not
        among them."""
        place = {-1: -1} | {node: index for index, node in enumerate(evaluated)}
        tree = PrefixTree()
        tree.graft((place[self.parents[node]], self.tokens[node]) for node in evaluated)
        for candidate in candidates:
            node = -1
            for token in candidate:
                node = tree.below(node, token)
                if node >= len(evaluated):
                    break
        return Draft(tuple(tree.tokens), tuple(tree.parents), source="candidates", tail=len(tree) - len(evaluated))


def worth(chances: Sequence[float], before: int, costs: Curve, spare: float = math.inf) -> int:
    """How many tokens, in the order of their falling ``chances`` to be accepted, one forward should verify beside the
    ``before`` that it evaluates anyway: as many as save the most time, each accepted one saving a forward of its own,
    and no more than take ``spare`` seconds where none of them is."""
    one, base = costs.seconds(1), costs.seconds(before)
    saved, best, count = 0.0, 0.0, 0
    for number, chance in enumerate(chances, 1):
        lost = costs.seconds(before + number) - base
        if lost > spare:
            break
        saved += chance * one
        if (gain := saved - lost) >= best:
            best, count = gain, number
    return count
