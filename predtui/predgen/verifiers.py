"""Verifiers: how much of a candidate reply holds for a new prompt (PredGen, section 3.1).

A new one is a class here or in a file of its own, and a line in ``VERIFIERS``. Must not know of text to speak, of
stages, or of how the rest of the reply is generated.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from predtui.decoding.base import Sampler, Verification, Verifier
from predtui.decoding.costs.curve import Curve
from predtui.errors import PredtuiError
from predtui.llm.base import LoadedModel, TreeModel, common_prefix
from predtui.llm.rows import Row, Rows
from predtui.predgen.policy import AcceptanceEstimate
from predtui.predgen.reflection import ReflectionVerifier
from predtui.predgen.trie import Trie, trie

_TOP_K = re.compile(r"top([1-9]\d*)")


class GreedyVerifier:
    """Accepts the longest prefix of any candidate that the sampler itself would have chosen.

    With the greedy sampler this is PredGen's greedy verification; with a seeded one it holds as well, because the
    sampler's choice at a position depends on nothing but the logits, the seed and the position. Lossless either way.
    All candidates are verified in one forward, which leaves prompt and accepted part in the model's memory and chooses
    the token after them; in several, where ``costs`` say that a wide one would take longer than it may save.
    """

    def __init__(self, loaded: LoadedModel, sampler: Sampler, costs: Curve | None = None) -> None:
        self._model = loaded.model
        self._is_end = loaded.tokenizer.is_end
        self._sampler = sampler
        self._costs = costs
        self._expectation = AcceptanceEstimate()
        self._prompt: Sequence[int] = ()

    def verify(
        self,
        prompt: Sequence[int],
        candidate: Sequence[int],
        others: Sequence[Sequence[int]] = (),
        spare: float = math.inf,
    ) -> Iterator[Verification]:
        trees = isinstance(self._model, TreeModel)
        candidates = [tuple(candidate), *(map(tuple, others) if trees else ())]
        new, self._prompt = len(prompt) - common_prefix(self._prompt, prompt), prompt
        held: tuple[int, ...] = ()
        lossless, live = True, candidates
        choice: int | None = None
        while True:
            taken, evaluated, exact, row = self._forward([*prompt, *held], live, len(held), max(1, new), spare)
            held, lossless = held + taken, lossless and exact
            spare = self._left(spare, new, evaluated, taken)
            if row is None:
                break
            choice = self._sampler.choose(row, len(held))
            live = [rest[len(taken) :] for rest in live if rest[: len(taken)] == taken and len(rest) > len(taken)]
            live = [rest for rest in live if self._passes(rest[0], choice, row)]
            if not live:
                break
            token, new = live[0][0], 1
            held, lossless, choice = (*held, token), lossless and token == choice, None
            live = [rest[1:] for rest in live if rest[0] == token]
            if self._is_end(token) and not any(live):  # a candidate that the tree had no room for ends here
                break
            yield Verification(held, None, lossless, more=True)
        self._learn(candidates, held)
        yield Verification(held, choice, lossless)

    def _forward(
        self, context: list[int], candidates: Sequence[tuple[int, ...]], position: int, new: int, spare: float
    ) -> tuple[tuple[int, ...], int, bool, Row | None]:
        """What one forward verifies after ``context``, ``new`` tokens of which it has to evaluate: the longest run of
        tokens that pass, of how many evaluated, whether each was the sampler's choice, and the row after them, None
        after an end."""
        room = self._model.context_size - len(context)
        tree = trie(candidates, self._is_end, room, self._expectation, self._costs, new, spare)
        rows = self._evaluate(context, tree)
        path, exact = self._deepest(tree, rows, position)
        taken = tuple(tree.tokens[node] for node in path)
        last = path[-1] if path else -1
        return taken, tree.evaluated, exact, rows[last + 1] if last < tree.evaluated else None

    def _left(self, spare: float, new: int, evaluated: int, taken: Sequence[int]) -> float:
        """Of ``spare`` seconds, after a forward over ``new`` tokens and ``evaluated`` of candidates, each of the
        ``taken`` ones having saved a forward of its own."""
        if self._costs is None:
            return spare
        lost = self._costs.seconds(new + evaluated) - self._costs.seconds(new)
        return spare - lost + len(taken) * self._costs.seconds(1)

    def _evaluate(self, context: list[int], tree: Trie) -> Rows:
        """The rows after the context, then after each node."""
        tokens, parents = tree.tokens[: tree.evaluated], tree.parents[: tree.evaluated]
        if not tree.is_sequence and isinstance(self._model, TreeModel):
            return self._model.forward_tree(context, tokens, parents)
        return self._model.forward([*context, *tokens], last=len(tokens) + 1)

    def _deepest(self, tree: Trie, rows: Rows, position: int) -> tuple[list[int], bool]:
        """The nodes of the longest path of tokens that pass, and whether each of them was the sampler's choice."""
        choices: dict[int, int] = {}
        reached: dict[int, tuple[list[int], bool]] = {-1: ([], True)}
        for node, (token, parent) in enumerate(zip(tree.tokens, tree.parents, strict=True)):
            if parent not in reached:
                continue
            path, exact = reached[parent]
            if parent not in choices:
                choices[parent] = self._sampler.choose(rows[parent + 1], position + len(path))
            if self._passes(token, choices[parent], rows[parent + 1]):
                reached[node] = [*path, node], exact and token == choices[parent]
        return max(reached.values(), key=lambda one: len(one[0]))

    def _passes(self, token: int, choice: int, row: Row) -> bool:
        return token == choice

    def _learn(self, candidates: Sequence[tuple[int, ...]], held: tuple[int, ...]) -> None:
        """What to expect of the next candidates."""
        first, *others = candidates
        shared = common_prefix(first, held)
        if first:
            self._expectation.observe(shared, fell=shared < len(first))
        if others and shared < len(first):
            self._expectation.rescued(shared < len(held))


class TopKVerifier(GreedyVerifier):
    """Accepts tokens among the ``k`` likeliest or of the sampler's choice (PredGen, section 3.1.1).

    Lossy, unless every token that it accepts is the sampler's choice; its verification says which.
    """

    def __init__(self, k: int, loaded: LoadedModel, sampler: Sampler, costs: Curve | None = None) -> None:
        super().__init__(loaded, sampler, costs)
        self._k = k

    def _passes(self, token: int, choice: int, row: Row) -> bool:
        return token == choice or row.rank(token) < self._k


def _reflection(loaded: LoadedModel, sampler: Sampler, costs: Curve | None = None) -> Verifier:
    return ReflectionVerifier(loaded, sampler, GreedyVerifier(loaded, sampler, costs))


Make = Callable[[LoadedModel, Sampler, Curve | None], Verifier]
VERIFIERS: dict[str, Make] = {
    "greedy": GreedyVerifier,
    "top3": partial(TopKVerifier, 3),
    "reflection": _reflection,
}
"""By name; ``top`` with any other number is known as well."""


def make_verifier(name: str, loaded: LoadedModel, sampler: Sampler, costs: Curve | None = None) -> Verifier:
    """``costs``: seconds of a forward by the tokens it evaluates; None: as if many cost no more than one. Raises
    PredtuiError for a name that is none."""
    return verifier_named(name)(loaded, sampler, costs)


def verifier_named(name: str) -> Make:
    """What makes the verifier ``name``. Raises PredtuiError for a name that is none."""
    if name in VERIFIERS:
        return VERIFIERS[name]
    if matched := _TOP_K.fullmatch(name):
        return partial(TopKVerifier, int(matched[1]))
    known = ", ".join(sorted(VERIFIERS))
    raise PredtuiError(f"There is no verifier {name!r}.", f"Choose one of {known}, or top and any number.")
