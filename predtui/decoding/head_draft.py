"""Drafts of heads: of the target's hidden state, and of the tokens drafted so far, they tell what comes next.

A tree grows best first out of the heads' own chances (EAGLE-2, Li et al. 2024), so that a sure draft is deep and an
unsure one wide; the state is the one behind the last token that the target accepted. What is drafted counts as certain,
which keeps speculative sampling exact. Must not know of any one method, or of verification.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import count
from typing import Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from predtui.decoding import heads
from predtui.decoding.base import WIDEST, Sampler
from predtui.decoding.draft import Draft, Verification
from predtui.decoding.drafters.grow import Options, Path, grow
from predtui.decoding.heads import Array, Heads
from predtui.decoding.parts import Parts
from predtui.decoding.sampler import Greedy, foreseen
from predtui.llm.base import tells_hidden
from predtui.llm.rows import ArrayRow
from predtui.models.shipped import asset
from predtui.system.threads import limit_numpy

CANDIDATES = 6
"""Tokens that may follow a node: others are hardly ever accepted."""
UNLIKELY = 0.03
"""A node with less of a chance is not worth a look."""
BESIDE, SHARE = 2, 0.3
"""Paths looked at together, and the chance, as a share of that of the one that is asked for, that others must have. Of
matrices that fit a cache, a product of two rows takes a third more than one of one, and one of four five times that."""

_TRIED = 3
"""Tokens of the draft that shows whether weights fit each other: methods differ in the first and in the second."""

After = Callable[[Path], Options]
Choose = Callable[[Array, Sequence[int]], list[Options]]
"""Of logits [m, draft vocabulary] after m paths of so many tokens each, what may follow each."""

SPINNING = "llamacpp"
"""The engine whose threads spin beside those of numpy. On two cores, Medusa came to 0.62 of plain decoding's
speed with two threads of each, and to 0.87 with one of numpy."""


class Guesser(Protocol):
    """The weights of one method, ready to guess."""

    tokens: npt.NDArray[np.int64]
    """The draft vocabulary [n]."""

    def after(self, hidden: Array, context: Sequence[int], choose: Choose) -> After:
        """What may follow each path of a draft. ``hidden`` [width]: the state behind the last but one token of
        ``context``. ``choose`` is called once each time that the weights are used."""
        ...


Fitted = TypeVar("Fitted", bound=Guesser)


class HeadDrafter:
    """Knows the state behind the last token that was accepted, and for which context that holds."""

    def __init__(
        self,
        guesser: Guesser,
        name: str,
        sampler: Sampler,
        is_end: Callable[[int], bool],
        branching: bool = True,
        looked: Callable[[int], None] = lambda _paths: None,
    ) -> None:
        """``is_end``: after which tokens a path ends. ``branching``: whether the target evaluates trees; else a draft
        is the sequence of likeliest tokens. ``looked`` as in ``LoadedModel``."""
        self._guesser, self._name, self._sampler, self._is_end = guesser, name, sampler, is_end
        self._candidates, self._looked = CANDIDATES if branching else 1, looked
        self._context: list[int] = []
        self._hidden: Array | None = None

    def propose(self, context: Sequence[int], budget: int, position: int = 0) -> Draft:
        """Nothing where no state is known for exactly this context."""
        if self._hidden is None or self._context != list(context):
            return Draft((), source=self._name)
        look = self._guesser.after(self._hidden, context, partial(self._options, position))

        def after(path: Path) -> Options:
            return () if path and self._is_end(path[-1]) else look(path)

        most = min(budget, WIDEST) if self._candidates > 1 else budget
        return grow(after, most, UNLIKELY, self._name)

    def observe(self, verification: Verification) -> None:
        """Where the path ends in the draft's tail, the last token is one without a row, as the target's own choice
        is."""
        if not len(verification.rows):  # of a draft that was looked at, and not verified
            return
        draft, hidden = verification.draft, verification.rows.hidden
        path = [node for node in verification.path if node < draft.evaluated]
        following = verification.tokens[len(path) :]
        self._hidden = None if hidden is None or not following else hidden[path[-1] + 1 if path else 0]
        self._context = [*verification.context, *verification.tokens] if self._hidden is not None else []

    def reset(self) -> None:
        """A state holds for its context, whatever came between."""

    def _options(self, position: int, logits: Array, depths: Sequence[int]) -> list[Options]:
        """As ``Choose``, for a draft that begins at ``position`` of the reply."""
        self._looked(len(logits))
        places = [position + depth for depth in depths]
        return foretold(logits, self._guesser.tokens, self._sampler, places, self._candidates)


def foretold(
    logits: Array, tokens: npt.NDArray[np.int64], sampler: Sampler, positions: Sequence[int], count: int
) -> list[Options]:
    """The ``count`` of ``tokens`` [n] that are likeliest to be chosen at ``positions`` of the reply, by each row of
    ``logits`` [m, n], with their chances."""
    if isinstance(sampler, Greedy):
        return likeliest(logits, tokens, count)
    return [
        foreseen(sampler, ArrayRow(row), place, count, tokens) for row, place in zip(logits, positions, strict=True)
    ]


def likeliest(logits: Array, tokens: npt.NDArray[np.int64], count: int) -> list[Options]:
    """The ``count`` likeliest of ``tokens`` [n] by each row of ``logits`` [m, n], with their chances."""
    count = min(count, logits.shape[1])
    best = np.argpartition(logits, -count, axis=1)[:, -count:]
    scores = np.take_along_axis(logits, best, axis=1)
    order = np.argsort(-scores, axis=1)
    best, scores = np.take_along_axis(best, order, axis=1), np.take_along_axis(scores, order, axis=1)
    highest = scores[:, :1]
    chances = np.exp(scores - highest) / np.exp(logits - highest).sum(axis=1, keepdims=True)
    return [
        [*zip(row, of_row, strict=True)] for row, of_row in zip(tokens[best].tolist(), chances.tolist(), strict=True)
    ]


class Stepper(Protocol):
    """A method whose guess for a path is a step from the one before it."""

    def step(self, states: Array, paths: Sequence[Path]) -> tuple[Array, Array] | None:
        """From ``states`` [m, any] behind paths, each without its last token, to those behind all of it and the logits
        [m, draft vocabulary] of what follows; None where the method looks no further. Each of ``paths`` begins with the
        last token of the context, and all are as long."""
        ...


class Frontier:
    """What may follow the paths of one draft. Where one is asked for, those of its length that are likely to be asked
    for next are looked at with it: several rows of a matrix product take little more than one."""

    def __init__(self, stepper: Stepper, hidden: Array, token: int, choose: Choose) -> None:
        """``hidden`` [width]: the state behind what is before ``token``, the last of the context."""
        self._stepper, self._choose, self._token = stepper, choose, token
        self._waiting: dict[Path, tuple[float, Array]] = {(): (1.0, hidden)}
        """Chance, and state of the path without its last token."""
        self._options: dict[Path, Options] = {}

    def __call__(self, path: Path) -> Options:
        if path not in self._options:
            self._look(path)
        return self._options[path]

    def _look(self, path: Path) -> None:
        chance = self._waiting[path][0]
        near = [
            other
            for other, (likely, _) in self._waiting.items()
            if len(other) == len(path) and other != path and likely >= SHARE * chance
        ]
        near.sort(key=lambda other: -self._waiting[other][0])
        paths = [path, *near[: BESIDE - 1]]
        before = [self._waiting.pop(one) for one in paths]
        whole = [(self._token, *one) for one in paths]
        found = self._stepper.step(np.stack([state for _, state in before]), whole)
        if found is None:
            self._options |= dict.fromkeys(paths, ())
            return
        states, logits = found
        options = self._choose(logits, [len(path)] * len(paths))
        for one, (above, _), state, follow in zip(paths, before, states, options, strict=True):
            self._options[one] = follow
            for token, likely in follow:
                self._waiting[*one, token] = above * likely, state


def tried(guesser: Fitted, width: int) -> Fitted:
    """``guesser``, if it drafts behind states of that ``width``, also after a token that is not in its vocabulary.
    Raises ValueError or IndexError, or as numpy does, for weights whose shapes do not fit each other."""
    first, last = int(guesser.tokens[0]), int(guesser.tokens[-1])
    other = next(token for token in count() if token not in guesser.tokens)

    def choose(logits: Array, depths: Sequence[int]) -> list[Options]:
        fit(logits, guesser.tokens)
        return [[(last, 0.5), (first, 0.5)] for _ in depths]  # both are looked at together

    with np.errstate(all="ignore"):
        look, path = guesser.after(np.ones(width, np.float32), [other, last, other], choose), tuple[int, ...]()
        while len(path) < _TRIED and look(path):
            path = *path, last
    return guesser


def fit(logits: Array, tokens: npt.NDArray[np.int64]) -> None:
    """Raises ValueError where the rows of ``logits`` [m, any] do not tell of each of ``tokens`` [n] by a number."""
    if logits.ndim != 2 or logits.shape[1] != len(tokens):
        raise ValueError(f"it guesses {logits.shape[-1]} tokens of {len(tokens)}")
    if not np.isfinite(logits).all():
        raise ValueError("it computes no numbers")


def make(parts: Parts, name: str, of: Callable[[Heads], Guesser]) -> HeadDrafter:
    """The drafter ``name`` over the heads in the folder that ``parts`` name, or over those that ship. Raises
    PredtuiError as ``heads.load``."""
    target = parts.target
    folder = parts.heads or asset("heads")
    found = heads.load(folder, name, target, lambda weights: tried(of(weights), weights.width))
    parts.memory.fixed(f"What {name} has learnt", heads.held(found))
    assert tells_hidden(target.model), "assembly has seen to it"
    target.model.tell_hidden()
    if target.engine == SPINNING:
        limit_numpy(1)
    return HeadDrafter(found, name, parts.sampler, target.tokenizer.is_end, target.abilities.trees, target.looked)
