"""How much of several candidate replies is accepted for a new prompt (PredGen, section 3.1).

The verification is that of speculative decoding, with candidates as its draft; a verifier of the registry is the rule
that accepts. Must not know of text to speak, of stages, or of how the rest of the reply is generated.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Protocol, runtime_checkable

from predtui.decoding.accept import Acceptance, ExactMatch, TopK, verify
from predtui.decoding.base import Sampler
from predtui.decoding.costs.curve import Curve
from predtui.decoding.draft import Verification
from predtui.llm.base import LoadedModel, common_prefix
from predtui.predgen.candidates import AcceptanceEstimate, Budget, candidate_tree
from predtui.registry import VERIFIERS


@runtime_checkable
class Judge(Acceptance, Protocol):
    """A rule that may accept a beginning of the candidate as a whole before it looks at tokens."""

    def judge(self, prompt: Sequence[int], candidate: Sequence[int]) -> Verification | None:
        """What is accepted, and the token that follows; None leaves it to the rule."""
        ...


class CandidateVerifier:
    """PredGen's verifier: accepts the longest beginning of any candidate of which the rule accepts each token.

    By exact match this is PredGen's greedy verification; with a seeded sampler it holds as well, because its choice at
    a position depends on nothing but the logits, the seed and the position. All candidates are verified in one forward,
    which leaves prompt and accepted part in the model's memory and chooses the token after them; in several, where
    ``costs`` say that a wide one would take longer than it may save.
    """

    def __init__(self, name: str, loaded: LoadedModel, rule: Acceptance, costs: Curve | None = None) -> None:
        """``name``: what a person chose it by. ``costs``: seconds of a forward by the tokens it evaluates; None: as if
        many cost no more than one."""
        self.name = name
        self._model, self._is_end = loaded.model, loaded.tokenizer.is_end
        self._rule, self._costs = rule, costs
        self._estimate = AcceptanceEstimate()
        self._prompt: Sequence[int] = ()

    def verify(
        self, prompt: Sequence[int], candidates: Sequence[tuple[int, ...]], spare: float = math.inf
    ) -> Iterator[Verification]:
        """Forward by forward, what is accepted beyond the one before; all but the last say that there is ``more``.

        ``candidates``: the present one, which may be empty and then costs the forward that chooses the reply's first
        token, and former ones, which count where the engine evaluates trees. With ``prompt`` each of them fits the
        model's context. ``spare``: the seconds that may be lost on candidates of which nothing is accepted, where costs
        are known.
        """
        judged = self._rule.judge(prompt, candidates[0]) if isinstance(self._rule, Judge) else None
        if judged is not None:
            yield judged
            return
        candidates = candidates if self._model.abilities.trees else candidates[:1]
        new, self._prompt = max(1, len(prompt) - common_prefix(self._prompt, prompt)), prompt
        context, left, more = list(prompt), candidates, True
        while more:
            budget = Budget(self._model.context_size - len(context), self._costs, new, spare)
            draft = candidate_tree(left, self._is_end, self._estimate, budget)
            position = len(context) - len(prompt)
            verification = verify(self._model, context, draft, self._rule, position, self._is_end)
            spare, new = self._left(spare, new, verification), 1
            accepted, more = verification.accepted, verification.more
            context += accepted
            left = [one[len(accepted) :] for one in left if one[: len(accepted)] == accepted]
            if not more:
                self._estimate.learn(candidates, context[len(prompt) :])
            yield verification

    def _left(self, spare: float, new: int, verification: Verification) -> float:
        """Of ``spare`` seconds, after a forward over ``new`` tokens and a draft, each evaluated token of which that was
        accepted has saved a forward of its own."""
        if self._costs is None:
            return spare
        evaluated = verification.draft.evaluated
        saved = sum(node < evaluated for node in verification.path)
        lost = self._costs.seconds(new + evaluated) - self._costs.seconds(new)
        return spare - lost + saved * self._costs.seconds(1)


def greedy(_loaded: LoadedModel, sampler: Sampler, _number: int) -> Acceptance:
    return ExactMatch(sampler)


def top(loaded: LoadedModel, sampler: Sampler, number: int) -> Acceptance:
    """Raises PredtuiError where the model does not tell so many."""
    loaded.require(f"The verifier top{number}", top=number, exact=True)
    return TopK(sampler, number)


def make_verifier(name: str, loaded: LoadedModel, sampler: Sampler, costs: Curve | None = None) -> CandidateVerifier:
    """``costs`` as ``CandidateVerifier`` has them. Raises PredtuiError for a name that is none."""
    number = VERIFIERS.find(name).number(name)
    rule: Acceptance = VERIFIERS.factory(name)(loaded, sampler, number)
    return CandidateVerifier(name, loaded, rule, costs)
