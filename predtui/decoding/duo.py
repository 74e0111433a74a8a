"""DuoDecoding (Lv et al. 2025): the draft and the target run at the same time, in two threads, on two processors.

In each iteration both get the same input. The target verifies what is left of the previous draft, which brings the
distribution that judges the first tokens of the present one; the sequence whose first token is the target's choice is
what is left for the next iteration. Must not know of engines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from predtui.clock import Clock
from predtui.decoding.accept import ExactMatch, verify
from predtui.decoding.base import Decoder, DecodingStatistics, Sampler
from predtui.decoding.costs.budget import Budget
from predtui.decoding.costs.constants import DUO_LONGEST
from predtui.decoding.costs.spans import DRAFT, TARGET
from predtui.decoding.draft import Draft
from predtui.decoding.drafters.bridge import same_tokens
from predtui.decoding.duo_draft import Drafted, DraftThread, Request, draft, tokens_in
from predtui.decoding.parts import Parts
from predtui.errors import PredtuiError
from predtui.llm.base import LanguageModel, Stale, leave, never
from predtui.llm.sequences import SEQUENCES, sequences_of

PATIENCE = 2.0
"""Seconds after which a reply goes on without its draft."""
_OFF = "drafting is off: the target alone is as fast here"


@dataclass(frozen=True, slots=True)
class Iteration:
    """One iteration, in seconds: all of it, the target's forward, the draft. ``sequences``: how many were drafted, and
    ``first`` whether the target chose the first token of the first of them; None where that was not judged."""

    wall: float
    target: float
    draft: float
    tokens: int
    sequences: int = 0
    first: bool | None = None


@dataclass(frozen=True, slots=True)
class DuoOptions:
    """``budget``: tokens of a draft; 0 has it measured, and measured again as the context grows. ``sequences``: how
    many; 0 lets the draft's doubts decide. ``patience``: seconds to wait for a draft."""

    budget: int = 0
    sequences: int = 0
    patience: float = PATIENCE


class Duo:
    """A lossless ``Decoder``: every token is the target's own choice, greedy or with the noise of its position."""

    def __init__(
        self,
        target: LanguageModel,
        draft_model: LanguageModel,
        sampler: Sampler,
        clock: Clock,
        options: DuoOptions | None = None,
        tell: Callable[[Iteration], None] = lambda iteration: None,
    ) -> None:
        """``tell`` gets each iteration that was followed by another."""
        self.statistics = DecodingStatistics()
        self._options = options or DuoOptions()
        self._model, self._draft_size = target, draft_model.context_size
        self._rule, self._now, self._tell = ExactMatch(sampler), clock.now, tell
        self.budget = Budget(self._options.budget)
        self._sequences = sequences_of(draft_model)
        count = self._options.sequences
        self._thread = DraftThread(
            lambda asked, superseded: draft(self._sequences, sampler, asked, count, superseded), clock.now
        )

    def generate(
        self,
        tokens: Sequence[int],
        limit: int,
        is_end: Callable[[int], bool],
        stale: Stale = never,
        position: int = 0,
        guess: Sequence[int] = (),
    ) -> Iterator[int]:
        """The beginning of a guess is verified as if it were left of a draft."""
        context, last, left = list(tokens), position + limit, list(guess[:DUO_LONGEST])
        drafting, measured = self._thread.ready, False
        while position < last and len(context) <= self._model.context_size and not stale():
            left = left[: min(last - position - 1, self._model.context_size - len(context))]
            begun = self._now()
            asked = drafting and self._ask(context, left, position)
            leave(self._model, int(asked))
            try:
                verification = verify(self._model, context, Draft(tuple(left)), self._rule, position, is_end)
            finally:
                leave(self._model, -int(asked))
            verified = self._now()
            self.statistics.work.worked(TARGET, begun, verified)
            path, new = verification.path, verification.tokens
            token = new[-1]
            self.statistics.count(len(left), len(path), len(new))
            if measured and asked:
                self.budget.verified(len(left) + 1, len(path), verified - begun)
            elif measured and not left:
                self.budget.alone(verified - begun)
            for one in new:
                yield one
                if is_end(one):
                    return
            context += new
            position += len(new)
            if len(path) < len(left) or not asked:
                left, measured = [], True
                continue
            resumed = self._now()
            drafted = self._answer()
            drafting = drafted is not None
            if drafted is not None:
                self.statistics.work.worked(DRAFT, drafted.start, drafted.end)
                left = self._follow(drafted, token)
                if measured:
                    right = any(sequence[0] == token for sequence in drafted.sequences)
                    self.budget.drafted(tokens_in(drafted.sequences), drafted.seconds, right)
                    self.statistics.note = _OFF if self.budget.off else ""
                wall = verified - begun + self._now() - resumed
                first = drafted.sequences[0][0] == token
                count = len(drafted.sequences)
                self._tell(Iteration(wall, verified - begun, drafted.seconds, len(new), count, first))
            measured = True

    def close(self) -> None:
        self._thread.close(self._options.patience)
        if not self._thread.alive:
            self._sequences.close()

    def _ask(self, context: list[int], left: list[int], position: int) -> bool:
        """Set the draft to work on what the target gets too; False where that would not pay, or not fit its memory."""
        budget = min(self.budget.next(), self._draft_size - len(context) - len(left) + 1)
        if budget > 0:
            self._thread.ask(Request([*context, *left], budget, position + len(left)))
        return budget > 0

    def _answer(self) -> Drafted | None:
        """None, and a note in the statistics, where the draft is lost: the reply goes on without it."""
        try:
            drafted = self._thread.answer(self._options.patience)
        except Exception as error:
            self.statistics.note = f"the draft is lost ({error}): decoding goes on without it"
            return None
        return drafted

    def _follow(self, drafted: Drafted, token: int) -> list[int]:
        """What is left of the sequence that begins with the target's choice; nothing where none does."""
        chosen = next((sequence for sequence in drafted.sequences if sequence[0] == token), None)
        self.statistics.proposed += 1
        self.statistics.accepted += chosen is not None
        return chosen[1:] if chosen else []


def make(parts: Parts) -> Decoder:
    draft = parts.needed_draft()
    if not same_tokens(parts.target, draft):
        raise PredtuiError(
            f"{draft.name} cannot draft for {parts.target.name}: their vocabularies differ.",
            "Choose a draft of the same family, or --decoder speculative, which bridges them.",
        )
    draft.require("DuoDecoding", top=SEQUENCES)
    return Duo(parts.target.model, draft.model, parts.sampler, parts.clock)
