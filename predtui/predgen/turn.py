"""One turn of the user: partial prompts in, candidates and verdicts out, then the verified reply.

Must not know of queues, of how a stage is opened, or of what is done in idle time.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from functools import cached_property, partial

from predtui.llm.base import Stale, common_prefix, never
from predtui.predgen.algorithm import Progress, Prompt
from predtui.predgen.assembly import SpeculationParts
from predtui.predgen.baseline import BaselineMeter
from predtui.predgen.lookahead.idle import IdleWork
from predtui.predgen.notes.passages import Passage
from predtui.predgen.preemption import Preemption
from predtui.predgen.revision import Revision
from predtui.predgen.sentences import Sentences
from predtui.predgen.spending import WORDS
from predtui.state.events import EndOfTurn, Event, Message, Notice, ReplyFinished, Retrieved, Transcript
from predtui.state.stage import StageContext

TOO_LONG = "That is more than this model has room for: it read the last {:,} tokens, not the beginning."
"""Of what the user said; with how many tokens a prompt may have."""


class SpeculatedTurn:
    """Speculates on what is said until it is final, and then replies to it. ``history``: the conversation before."""

    def __init__(
        self,
        parts: SpeculationParts,
        context: StageContext,
        preemption: Preemption,
        idle: IdleWork,
        baseline: BaselineMeter,
        history: Sequence[Message] = (),
    ) -> None:
        self.history = history
        self.sentences = Sentences()
        self._parts, self._options, self._context = parts, parts.options, context
        self._preemption, self._idle, self._baseline = preemption, idle, baseline
        self._heard = Transcript()
        self._forwards = parts.loaded.model.counters.forwards
        """Of the model, before this turn."""
        self._passages: Sequence[Passage] | None = None
        self._retrievals = 0, 0
        """So far, and those that found the ``_passages`` of the one before."""
        self._unfinished: tuple[Revision, Progress] | None = None
        """A final revision whose reply is still being generated."""

    @cached_property
    def opening(self) -> Sequence[int]:
        """What stands before the user's words. Raises as the tokenizer does, which may be a server's."""
        return self._parts.window.tokens(self.history, "")

    def hear(self, heard: Transcript) -> Iterator[Event]:
        """What is said so far, or all of it. An unfinished word changes nothing."""
        last, self._heard = self._heard, heard
        self.sentences.heard()
        if heard.prompt and heard.changes(last):
            yield from self._speculate(heard)
        elif heard.final:
            yield ReplyFinished(verifier=self._parts.speculator.verifier.name)

    def interrupt(self) -> Iterator[Event]:
        """A reply that was still being generated ends with what is committed of it."""
        if self._unfinished is not None:
            revision, progress = self._unfinished
            self._unfinished = None
            yield revision.reply(progress, interrupted=True)

    def risk(self, prompt: Sequence[int]) -> float:
        """Seconds that may be lost on ``prompt``, were it final now, so that its reply is at most a forward later than
        without speculation."""
        costs = self._parts.costs
        if costs is None:
            return math.inf
        known = common_prefix(prompt, self.opening)
        reader = self._parts.lookahead if self._idle.looked else self._parts.speculator
        read = max(known, reader.read(prompt))
        saved = costs.seconds(len(prompt) - known) - costs.seconds(len(prompt) - read)
        return saved + costs.seconds(1)

    def _speculate(self, heard: Transcript) -> Iterator[Event]:
        """One round of Algorithm 1, if it may cost that; after the final prompt, the whole reply. Nothing more is said
        once it is stale."""
        self._preemption.answering = heard.prompt
        asking = self._parts.distance.asking
        if not heard.final and (self._parts.spending.used_up(_share(heard)) or not asking.admits(heard)):
            return
        revision = self._revision(heard)
        self._unfinished = (revision, Progress((), (), (), False, True)) if heard.final else None
        stale = self._context.stale if self._options.preempts or heard.final else never
        if self._parts.notes:
            yield from self._parts.notes.look(at_once=heard.final)
            yield self._retrieved(heard)
        if heard.final and not self._parts.window.holds(heard.prompt):
            yield Notice(text=TOO_LONG.format(self._parts.window.budget), severity="warning")
        tokens = self._parts.window.tokens(self.history, heard.prompt, guess=not heard.final)
        ends, progress = self._ends(heard, tokens), None
        for progress in self._advance(heard, tokens, revision, stale):
            if stale():
                return
            yield from ends
            if heard.final:
                self._unfinished = (revision, progress)
                self._baseline.replied(heard.prompt, progress.tokens)
            yield from revision.emit(progress)
            yield from self._parts.report.events()
        if progress is not None and not stale():
            self._unfinished = None
            yield from revision.finish(progress)
        yield from self._parts.report.events(over=True)

    def _retrieved(self, heard: Transcript) -> Retrieved:
        """What the notes say to it."""
        passages = self._parts.window.passages(heard.prompt, guess=not heard.final)
        last, self._passages = self._passages, passages
        count, held = self._retrievals
        self._retrievals = count, held = count + 1, held + (passages == last)
        names = tuple(dict.fromkeys(one.note for one in passages))
        return Retrieved(notes=names, passages=len(passages), count=count, held=held, final=heard.final)

    def _ends(self, heard: Transcript, tokens: Sequence[int]) -> Iterator[EndOfTurn]:
        """Once it is known, how likely that was all."""
        probability = None if heard.final else self._parts.ends.probability(tokens)
        if probability is not None:
            yield EndOfTurn(prompt=heard.prompt, probability=probability)

    def _advance(
        self, heard: Transcript, tokens: Sequence[int], revision: Revision, stale: Stale
    ) -> Iterator[Progress]:
        """The round's steps."""
        speculator = self._parts.speculator
        spare = self._spare(heard, tokens)
        self._idle.prompted(len(speculator.candidate_for(tokens)))
        if heard.final:
            return speculator.advance(Prompt(tokens, stale, spare=spare))
        most = self._options.candidate_tokens + self._parts.loaded.room_to_think
        longest = sys.maxsize if self._options.rounds else most
        enough = partial(self._enough, revision, _share(heard))
        return speculator.advance(Prompt(tokens, stale, spare=spare, enough=enough, longest=longest))

    def _spare(self, heard: Transcript, prompt: Sequence[int]) -> float:
        """Seconds that the verification for ``prompt`` may lose: any number while more is to come; ``risk`` where the
        user pauses; at the end ``risk`` less the delay so far, but at least a forward, or nothing would be verified."""
        if heard.final:
            costs = self._parts.costs
            least = 0.0 if costs is None else costs.seconds(1)
            return max(self.risk(prompt) - self._preemption.late(heard), least)
        return self.risk(prompt) if heard.paused else math.inf

    def _enough(self, revision: Revision, share: float, progress: Progress) -> bool:
        """Whether the candidate need not grow before the input does; ``share``: of the budget, what it may cost."""
        if rounds := self._options.rounds:
            begins = not progress.kept and not progress.rejected
            return rounds.ends(len(progress.new), begins) and self._context.stale()
        length, sentence = len(progress.tokens), revision.sentence_tokens
        beyond = sentence and length >= sentence + self._options.beyond_sentence
        long_enough = bool(beyond) or length - progress.before >= self._options.candidate_tokens
        return long_enough or self._parts.spending.used_up(share)

    def _revision(self, heard: Transcript) -> Revision:
        now, counters = self._context.clock.now, self._parts.loaded.model.counters
        start, forwards = now(), counters.forwards
        return Revision(
            heard.prompt,
            self._parts.loaded.tokenizer,
            self._parts.speculator.verifier.name,
            elapsed_ms=lambda: (now() - start) * 1000,
            forwards=lambda: counters.forwards - forwards,
            in_turn=lambda: counters.forwards - self._forwards,
            sentences=self.sentences,
            final=heard.final,
            clause=self._options.clause,
            stops=self._parts.loaded.stops,
            thinking=self._parts.loaded.thinking,
        )


def _share(heard: Transcript) -> float:
    """Of the budget, what may be spent on it."""
    return 1.0 if heard.paused else WORDS
