"""Proposed tokens, and what came of them. Must not know of models, of rules, or of where proposals come from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from predtui.decoding.prefix_tree import PrefixTree
from predtui.llm.rows import Rows


@dataclass(frozen=True, slots=True)
class Draft:
    """Proposed tokens. ``parents[i]`` < i is the index of token i's parent (-1 = the context), the likeliest sibling
    first; empty = a plain sequence. ``q`` [len(tokens), vocab]: the distribution that each token was drawn from, given
    its parent and the siblings before it."""

    tokens: tuple[int, ...]
    parents: tuple[int, ...] = ()
    q: npt.NDArray[np.float64] | None = None
    """None: each token was certain to be proposed."""
    source: str = ""
    origins: tuple[str, ...] = ()
    """Sources of the tokens, where they are not all ``source``."""
    chances: tuple[float, ...] = ()
    """How likely each token is thought to be accepted, never growing; empty where the source does not know."""
    tail: int = 0
    """How many tokens at the end, leaves all of them, are judged but not evaluated: those that end a reply, and those
    beyond which the candidates are left for another forward."""
    soft: tuple[tuple[int, int], ...] = ()
    """Chains of soft tokens (``llm.soft``), each below a node (-1 = the context) and so many of them long, which are
    evaluated beside the draft and tell what to draft next. They are not proposed."""

    @property
    def evaluated(self) -> int:
        """How many tokens a forward evaluates: all but the tail."""
        return len(self.tokens) - self.tail

    @property
    def branches(self) -> bool:
        """Whether what is to be evaluated is no plain sequence."""
        return any(parent != node - 1 for node, parent in enumerate(self.parents[: self.evaluated]))

    def first(self, count: int) -> Draft:
        """Its first ``count`` tokens."""
        if count >= len(self.tokens):
            return self
        q = None if self.q is None else self.q[:count]
        tail = max(0, count - self.evaluated)
        kept = self.tokens[:count], self.parents[:count], q, self.source, self.origins[:count]
        return Draft(*kept, self.chances[:count], tail, tuple(chain for chain in self.soft if chain[0] < count - tail))

    def with_soft(self, first: int) -> tuple[list[int], list[int]]:
        """All tokens that are evaluated, and their parents; soft ones, behind all others, are numbered from
        ``first``."""
        tokens, parents = list(self.tokens[: self.evaluated]), [self.parent(node) for node in range(self.evaluated)]
        for node, length in self.soft:
            for number in range(length):
                parents.append(len(tokens) - 1 if number else node)
                tokens.append(first + number)
        return tokens, parents

    def nodes(self) -> Iterator[tuple[int, int]]:
        """The parent of each token, and the token."""
        return zip(self.parents or range(-1, len(self.tokens) - 1), self.tokens, strict=True)

    def origin(self, node: int) -> str:
        """What proposed token ``node``."""
        return self.origins[node] if self.origins else self.source

    def parent(self, node: int) -> int:
        """Index of the token that ``node`` follows; -1: the context."""
        return self.parents[node] if self.parents else node - 1

    def child(self, node: int, token: int) -> int:
        """Index of the child of ``node`` (-1 = the context) that is ``token``; -1 where there is none."""
        return next((i for i in self.children(node) if self.tokens[i] == token), -1)

    def children(self, node: int) -> Sequence[int]:
        """Indices of what may follow ``node``, the likeliest first."""
        if not self.parents:
            return range(node + 1, min(node + 2, len(self.tokens)))
        return [i for i in range(node + 1, len(self.tokens)) if self.parents[i] == node]

    def followed(self, tokens: Sequence[int], node: int = -1) -> list[int]:
        """The nodes through which ``tokens`` go from ``node`` on, as far as they are in it."""
        path: list[int] = []
        for token in tokens:
            node = self.child(node, token)
            if node < 0:
                break
            path.append(node)
        return path

    def depth(self, path: Sequence[int]) -> int:
        """Tokens of ``path`` and of the likeliest ones after it."""
        if not self.parents:
            return len(self.tokens)
        count = len(path)
        node = path[-1] if path else -1
        while below := self.children(node):
            node, count = below[0], count + 1
        return count

    def best_path(self) -> Draft:
        """The sequence of the likeliest children: what an engine without trees can verify."""
        if not self.parents:
            return self
        path: list[int] = []
        while below := self.children(path[-1] if path else -1):
            path.append(below[0])
        return replace(
            self,
            tokens=tuple(self.tokens[i] for i in path),
            parents=(),
            q=None if self.q is None else self.q[path],
            origins=tuple(self.origins[i] for i in path) if self.origins else (),
            chances=tuple(self.chances[i] for i in path) if self.chances else (),
            tail=sum(i >= self.evaluated for i in path),
            soft=(),
        )


def unless_sequence(parents: Sequence[int]) -> tuple[int, ...]:
    """``parents`` as a ``Draft`` has them: none of a plain sequence."""
    return () if all(parent == node - 1 for node, parent in enumerate(parents)) else tuple(parents)


def merged(first: Draft, second: Draft) -> Draft:
    """The tree of both drafts' paths, those of ``first`` before those of ``second``. Neither has probabilities."""
    tree = PrefixTree()
    tree.graft(first.nodes())
    place = tree.graft(second.nodes())
    origins = [first.origin(node) for node in range(len(first.tokens))] + [""] * (len(tree) - len(first.tokens))
    for node, there in enumerate(place):
        origins[there] = origins[there] or second.origin(node)
    source = f"{first.source} + {second.source}"
    soft = (*first.soft, *((place[node] if node >= 0 else node, length) for node, length in second.soft))
    return Draft(tuple(tree.tokens), tuple(tree.parents), source=source, origins=tuple(origins), soft=soft)


@dataclass(frozen=True, slots=True)
class Verification:
    """What one forward of the target made of a ``draft`` after ``context``."""

    context: tuple[int, ...]
    draft: Draft
    path: tuple[int, ...]
    """Nodes of the draft that are accepted, each a child of the one before."""
    next_token: int | None
    """The target's own choice after them. None where nothing follows, and where there is ``more``."""
    lossless: bool
    """Whether plain decoding would have gone on in the same way."""
    rows: Rows = field(compare=False, repr=False)
    """What the target says after the context, then after each evaluated token of the draft; for drafters that learn."""
    more: bool = False
    """Whether the path ends in the draft's tail without ending the reply: what follows is another forward's to say."""
    ahead: Rows | None = field(default=None, compare=False, repr=False)
    """What it says after each soft token of the draft, in their order; None where there are none."""

    @property
    def accepted(self) -> tuple[int, ...]:
        """The tokens of the path."""
        return tuple([self.draft.tokens[node] for node in self.path])

    @property
    def tokens(self) -> tuple[int, ...]:
        """All that follows the context now: what was accepted and what comes after it."""
        return self.accepted if self.next_token is None else (*self.accepted, self.next_token)

    @property
    def evaluated(self) -> tuple[int, ...]:
        """The token before each of ``rows``: the last of the context, then those of the draft."""
        return (self.context[-1], *self.draft.tokens[: self.draft.evaluated])
