"""Verifiers: how much of a candidate reply holds for a new prompt (PredGen, section 3.1).

A new one is a class here or in a file of its own, and a line in ``VERIFIERS``. Must not know of text to speak, of
stages, or of how the rest of the reply is generated.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial

from predtui.decoding.base import Sampler, Verification, Verifier
from predtui.errors import PredtuiError
from predtui.llm.base import LoadedModel, Logits
from predtui.predgen.reflection import ReflectionVerifier

_TOP_K = re.compile(r"top([1-9]\d*)")


class GreedyVerifier:
    """Accepts the longest prefix of the candidate that the sampler itself would have chosen, in one forward.

    With the greedy sampler this is PredGen's greedy verification; with a seeded one it holds as well, because the
    sampler's choice at a position depends on nothing but the logits, the seed and the position. Lossless either way.
    The same forward leaves prompt and accepted part in the model's memory, and chooses the token after them.
    """

    def __init__(self, loaded: LoadedModel, sampler: Sampler) -> None:
        self._model = loaded.model
        self._is_end = loaded.tokenizer.is_end
        self._sampler = sampler

    def verify(self, prompt: Sequence[int], candidate: Sequence[int]) -> Verification:
        ended = bool(candidate) and self._is_end(candidate[-1])
        followed = candidate[:-1] if ended else candidate
        rows = self._model.logits([*prompt, *followed], last=len(followed) + 1)
        lossless = True
        for position, row in enumerate(rows):
            choice = self._sampler.choose(row, position)
            if position == len(candidate) or not self._passes(candidate[position], choice, row):
                return Verification(tuple(candidate[:position]), choice, lossless)
            lossless = lossless and candidate[position] == choice
        return Verification(tuple(candidate), None, lossless)

    def _passes(self, token: int, choice: int, row: Logits) -> bool:
        return token == choice


class TopKVerifier(GreedyVerifier):
    """Accepts, in one forward, tokens among the ``k`` likeliest or of the sampler's choice (PredGen, section 3.1.1).

    Lossy, unless every token that it accepts is the sampler's choice; its verification says which.
    """

    def __init__(self, k: int, loaded: LoadedModel, sampler: Sampler) -> None:
        super().__init__(loaded, sampler)
        self._k = k

    def _passes(self, token: int, choice: int, row: Logits) -> bool:
        return token == choice or int((row > row[token]).sum()) < self._k


def _reflection(loaded: LoadedModel, sampler: Sampler) -> Verifier:
    return ReflectionVerifier(loaded, sampler, GreedyVerifier(loaded, sampler))


VERIFIERS: dict[str, Callable[[LoadedModel, Sampler], Verifier]] = {
    "greedy": GreedyVerifier,
    "top3": partial(TopKVerifier, 3),
    "reflection": _reflection,
}
"""By name; ``top`` with any other number is known as well."""


def make_verifier(name: str, loaded: LoadedModel, sampler: Sampler) -> Verifier:
    """Raises PredtuiError for a name that is none."""
    return verifier_named(name)(loaded, sampler)


def verifier_named(name: str) -> Callable[[LoadedModel, Sampler], Verifier]:
    """What makes the verifier ``name``. Raises PredtuiError for a name that is none."""
    if name in VERIFIERS:
        return VERIFIERS[name]
    if matched := _TOP_K.fullmatch(name):
        return partial(TopKVerifier, int(matched[1]))
    known = ", ".join(sorted(VERIFIERS))
    raise PredtuiError(f"There is no verifier {name!r}.", f"Choose one of {known}, or top and any number.")
