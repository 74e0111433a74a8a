"""Verifiers: how much of a candidate reply holds for a new prompt (PredGen, section 3.1).

A new one is a class here or in a file of its own, and a line in ``VERIFIERS``. Must not know of text to speak, of
stages, or of how the rest of the reply is generated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from predtui.decoding.base import Sampler, Verification, Verifier
from predtui.errors import PredtuiError
from predtui.llm.base import LoadedModel


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
        for position, row in enumerate(rows):
            choice = self._sampler.choose(row, position)
            if position == len(candidate) or choice != candidate[position]:
                return Verification(tuple(candidate[:position]), choice, lossless=True)
        return Verification(tuple(candidate), None, lossless=True)


VERIFIERS: dict[str, Callable[[LoadedModel, Sampler], Verifier]] = {
    "greedy": GreedyVerifier,
}


def make_verifier(name: str, loaded: LoadedModel, sampler: Sampler) -> Verifier:
    """Raises PredtuiError for a name that is not in ``VERIFIERS``."""
    if name not in VERIFIERS:
        raise PredtuiError(f"There is no verifier {name!r}.", f"Choose one of {', '.join(sorted(VERIFIERS))}.")
    return VERIFIERS[name](loaded, sampler)
