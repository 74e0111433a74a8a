"""DuoDecoding (Lv et al. 2025): the draft and the target run at the same time, in two threads, on two processors.

In each iteration both get the same input. The target verifies what is left of the previous draft, which brings the
distribution that judges the first tokens of the present one; the sequence whose first token is the target's choice is
what is left for the next iteration. Must not know of engines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from predtui.decoding.accept import ExactMatch, verify
from predtui.decoding.base import Decoder, DecodingStatistics, Sampler
from predtui.decoding.costs.budget import Budget
from predtui.decoding.costs.constants import DUO_LONGEST
from predtui.decoding.costs.instrument import Instrument
from predtui.decoding.costs.iterations import Iteration, Iterations
from predtui.decoding.distant import Distant, distant
from predtui.decoding.draft import Draft, Verification
from predtui.decoding.drafters.bridge import same_draft
from predtui.decoding.duo_draft import Drafted, DraftThread, Request, draft
from predtui.decoding.parts import Parts
from predtui.llm.base import LanguageModel, Stale, leave, never
from predtui.llm.sequences import SEQUENCES, sequences_of

PATIENCE = 2.0
"""Seconds after which a reply goes on without its draft."""


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
        instrument: Instrument,
        options: DuoOptions | None = None,
        notify: Callable[[Iteration], None] = lambda iteration: None,
        far: Distant | None = None,
    ) -> None:
        """``instrument``: what measures the target's forwards. ``notify`` gets each iteration that was followed by
        another. ``far``: the target, where it is behind a network: the draft works while a request is under way."""
        self.statistics = DecodingStatistics(work=instrument.spans)
        self._options = options or DuoOptions()
        self._iterations = Iterations(instrument, Budget(self._options.budget), notify)
        self._model, self._rule, self._far = instrument.around(target), ExactMatch(sampler), far
        self._draft_size, self._sequences = draft_model.context_size, sequences_of(draft_model)
        count = self._options.sequences
        self._thread = DraftThread(
            lambda asked, superseded: draft(self._sequences, sampler, asked, count, superseded), instrument.now
        )
        self._drafting = True
        """Whether the reply goes on with its draft."""

    def generate(
        self,
        tokens: Sequence[int],
        limit: int,
        is_end: Callable[[int], bool],
        stale: Stale = never,
        position: int = 0,
        guesses: Sequence[Sequence[int]] = (),
    ) -> Iterator[int]:
        """The beginning of the first guess is verified as if it were left of a draft."""
        context, last, left = list(tokens), position + limit, tuple(guesses[0][:DUO_LONGEST] if guesses else ())
        self._drafting = self._thread.ready
        self._iterations.begin()
        unknown = False  # whether the server alone knows if the next token is the end
        while position < last and len(context) <= self._model.context_size and not stale():
            left = left[: min(last - position - 1, self._model.context_size - len(context))]
            asked = not unknown and self._ask([*context, *left], position + len(left))
            if self._far and not asked:
                told = self.statistics, self._streamed
                yield from self._far.rest(context, last - position, is_end, stale, *told)
                return
            verification = self._verify(context, Draft(left), position, is_end, asked)
            tokens = self._far.brought(verification, is_end) if self._far else verification.tokens
            for token in tokens:
                yield token
                if is_end(token):
                    return
            context += tokens
            position += len(tokens)
            unknown = len(tokens) < len(verification.tokens)
            left = self._follow(verification) if asked and verification.accepted == left else ()

    def observe(self, verification: Verification) -> None:
        """It learns nothing."""

    def close(self) -> None:
        self._thread.close(self._options.patience)
        if not self._thread.alive:
            self._sequences.close()

    def _streamed(self, tokens: int) -> str:
        """So many tokens came in one request; the note for that."""
        self._iterations.streamed(tokens)
        return self._iterations.note if self._drafting else self.statistics.note

    def _ask(self, context: list[int], position: int) -> bool:
        """Set the draft to work on what the target gets too; False where that would not pay, or not fit its memory."""
        room = self._draft_size - len(context) + 1
        budget = min(self._iterations.budget(), room) if self._drafting else 0
        if budget > 0:
            self._thread.ask(Request(context, budget, position))
        return budget > 0

    def _verify(
        self, context: list[int], draft: Draft, position: int, is_end: Callable[[int], bool], asked: bool
    ) -> Verification:
        """The target's forward, which leaves a core to a draft that was ``asked`` for."""
        leave(self._model, int(asked))
        try:
            verification = verify(self._model, context, draft, self._rule, position, is_end)
        finally:
            leave(self._model, -int(asked))
        self._iterations.verified(verification, asked)
        accepted, ended = len(verification.path), verification.next_token is None
        self.statistics.judged(verification)
        self.statistics.count(accepted if ended else len(draft.tokens), accepted, len(verification.tokens))
        return verification

    def _follow(self, verification: Verification) -> tuple[int, ...]:
        """What is left of the sequence that begins with the target's choice; nothing where none does."""
        drafted = self._answer()
        if drafted is None:
            return ()
        chosen = next((one for one in drafted.sequences if one[0] == verification.next_token), None)
        self.statistics.proposed += 1
        self.statistics.accepted += chosen is not None
        self._iterations.followed(verification, drafted)
        self.statistics.note = self._iterations.note
        return tuple(chosen[1:]) if chosen else ()

    def _answer(self) -> Drafted | None:
        """None, and a note in the statistics, where the draft is lost: the reply goes on without it."""
        try:
            return self._thread.answer(self._options.patience)
        except Exception as error:
            self._drafting = False
            self.statistics.note = f"the draft is lost ({error}): decoding goes on without it"
            return None


def make(parts: Parts, options: DuoOptions | None = None) -> Decoder:
    """Raises PredtuiError for a draft with another vocabulary, or one that does not tell its likeliest tokens."""
    draft = same_draft(parts, "draft for", "--decoder speculative")
    draft.require("DuoDecoding", top=SEQUENCES)
    return Duo(parts.target.model, draft.model, parts.sampler, parts.instrument, options, far=distant(parts))
