"""Turns work into events: the progress of one revision, and what the decoder did for it.

Must not know of models, or of how work is stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from predtui.decoding.base import Decoder, DecodingStatistics
from predtui.llm.base import Tokenizer
from predtui.llm.thoughts import Thinking
from predtui.predgen.algorithm import Progress
from predtui.predgen.drafted import Decode, branches
from predtui.predgen.reply_text import ReplyText
from predtui.predgen.sentences import Sentences
from predtui.state.events import (
    Candidate,
    Decoding,
    Event,
    Notice,
    Outcome,
    ReplyCommitted,
    ReplyFinished,
    Thought,
    Verdict,
    Work,
)
from predtui.text import clause_end, first_clause, first_sentence, sentence_end

COALESCE_MS = 30.0
COALESCE_TOKENS = 8
"""A ``Candidate`` is emitted at most so often, whichever comes first."""
LAST_WORDS = 2000
"""Characters of a thought that are told, its last ones."""


class Revision:
    """One prompt, from its arrival to its first sentence and, where it is final, to the end of its reply.

    ``elapsed_ms`` and ``forwards``: time and forwards since the arrival; ``in_turn``: forwards since the turn began.
    ``sentences`` are those that are synthesised ahead. By ``clause``, the first clause of the reply is emitted, and
    spoken, as a sentence of its own. ``stops`` and ``thinking`` as ``ReplyText`` has them.
    """

    def __init__(
        self,
        prompt: str,
        tokenizer: Tokenizer,
        verifier: str,
        elapsed_ms: Callable[[], float],
        forwards: Callable[[], int],
        in_turn: Callable[[], int],
        sentences: Sentences | None = None,
        final: bool = False,
        clause: bool = False,
        stops: Sequence[str] = (),
        thinking: Thinking | None = None,
    ) -> None:
        self.prompt = prompt
        self.final = final
        self.committed: list[str] = []
        self.sentence_tokens = 0
        """Tokens of the candidate when its first sentence stood; 0 before."""
        self._verifier, self._sentences = verifier, sentences or Sentences()
        self._reply, kept, former = (ReplyText(tokenizer, stops, thinking) for _ in range(3))
        self._text, self._kept, self._former = self._reply.text, kept.text, former.text
        """Of the candidate, of what was kept of the former one, and of the former one."""
        self._first, self._first_end = (first_clause, clause_end) if clause else (first_sentence, sentence_end)
        self._former_over = former.over
        self._elapsed_ms, self._forwards, self._in_turn = elapsed_ms, forwards, in_turn
        self._outcome: Outcome | None = None
        self._verdict: Verdict | None = None
        self._end = 0
        self._thinks, self._thought_ms = True, 0.0
        """Whether the reply was in its thought at the last step, and how long that took."""
        self._emitted_tokens, self._emitted_ms = -COALESCE_TOKENS, 0.0

    def emit(self, progress: Progress) -> Iterator[Event]:
        """What this step of the work brings; call it for each, in order."""
        text = self._text(progress.tokens)
        self._think(progress.tokens)
        stands = progress.ended or self._first(text) is not None
        if self._outcome is None and (stands or not progress.verifying):
            self._outcome = self._judge(progress, text)
        if not self.sentence_tokens and stands:
            yield from self._first_sentence(progress, text)
        elif self._due(progress):
            yield self._candidate(progress, text)
        if self.final:
            yield from self._commit(text.lstrip(), progress.ended)

    def finish(self, progress: Progress) -> Iterator[Event]:
        """The work on this revision is over, and was not pre-empted."""
        if self._emitted_tokens != len(progress.tokens):
            yield self._candidate(progress, self._text(progress.tokens))
        if self._verdict is None:
            yield self._judged(progress)
        if self.final:
            yield from self._unanswered(progress.tokens)
            yield self.reply(progress)

    def reply(self, progress: Progress, interrupted: bool = False) -> ReplyFinished:
        """The reply as far as it is committed."""
        verdict = self._verdict or self._judged(progress)
        ended = self._reply.over(progress.tokens)
        return ReplyFinished(
            prompt=self.prompt,
            text="".join(self.committed),
            sentences=len(self.committed),
            tokens=len(progress.tokens),
            thought=self._thought(progress.tokens),
            generated=progress.generated,
            forwards=self._forwards(),
            ttfs_ms=verdict.ms,
            nfetfs=verdict.forwards,
            outcome=verdict.outcome,
            verifier=self._verifier,
            lossless=progress.lossless,
            reason="interrupted" if interrupted else "end" if ended else "length",
        )

    def _unanswered(self, tokens: Sequence[int]) -> Iterator[Notice]:
        """Says why there is nothing to say, where a reply has ended within its thought."""
        if self._reply.thinks(tokens) and not self.committed:
            why = f"The reply ended within its thought, after {len(tokens)} tokens: there is no answer."
            yield Notice(text=f"{why} Set llm.thinking to off or brief, or llm.context higher.", severity="warning")

    def _think(self, tokens: Sequence[int]) -> None:
        """Keep count of how long the thought takes."""
        if self._thinks:
            self._thought_ms = self._elapsed_ms()
        self._thinks = self._reply.thinks(tokens)

    def _thought(self, tokens: Sequence[int]) -> Thought:
        count = len(tokens) - self._reply.answered(tokens)
        return Thought(self._reply.thought(tokens)[-LAST_WORDS:], count, self._thought_ms) if count else Thought()

    def _judge(self, progress: Progress, text: str) -> Outcome:
        """Accept: the first sentence of a candidate was accepted, or recalled. Partial: some tokens were."""
        sentence = self._first(text, progress.ended)
        if sentence and sentence == self._sentence_of(progress.kept + progress.rejected):
            return "accept"
        return "partial" if progress.kept else "reject"

    def _sentence_of(self, candidate: Sequence[int]) -> str | None:
        return self._first(self._former(candidate), self._former_over(candidate))

    def _first_sentence(self, progress: Progress, text: str) -> Iterator[Event]:
        """The first sentence is complete: it is emitted before what only describes it."""
        self.sentence_tokens = len(progress.tokens)
        sentence = self._first(text, progress.ended) or ""
        verdict = self._judged(progress)
        if self.final:
            yield from self._commit(text.lstrip(), progress.ended)
        else:
            yield from self._sentences.likeliest(sentence)
        yield verdict
        yield self._candidate(progress, text)

    def _judged(self, progress: Progress) -> Verdict:
        self._verdict = Verdict(
            outcome=self._outcome or "reject",
            accepted=len(progress.kept),
            of=len(progress.kept) + len(progress.rejected),
            forwards=self._forwards(),
            ms=self._elapsed_ms(),
            verifier=self._verifier,
            lossless=progress.lossless,
            final=self.final,
        )
        return self._verdict

    def _due(self, progress: Progress) -> bool:
        waited = self._elapsed_ms() - self._emitted_ms >= COALESCE_MS
        return waited or len(progress.tokens) - self._emitted_tokens >= COALESCE_TOKENS

    def _candidate(self, progress: Progress, text: str) -> Candidate:
        self._emitted_tokens, self._emitted_ms = len(progress.tokens), self._elapsed_ms()
        kept = self._kept(progress.kept)
        rejected = self._former(progress.kept + progress.rejected)
        return Candidate(
            prompt=self.prompt,
            kept=kept,
            new=text[len(kept) :],
            rejected=rejected[len(kept) :],
            tokens=len(progress.tokens),
            thought=self._thought(progress.tokens),
            complete=progress.ended,
            generated=progress.generated,
            forwards=self._in_turn(),
        )

    def _commit(self, text: str, ended: bool) -> Iterator[ReplyCommitted]:
        """Sentences that have ended since the last call; each but the first carries the space before it."""
        while (end := (sentence_end if self.committed else self._first_end)(text, self._end, ended)) >= 0:
            sentence = text[self._end : end]
            self._end = end
            self.committed.append(sentence.rstrip() if end == len(text) else sentence)
            yield ReplyCommitted(index=len(self.committed) - 1, text=self.committed[-1])


class DecoderReport:
    """How the drafts of one decoder fare, and when its target and its draft were at work."""

    def __init__(self, title: str, decoder: Decoder, decode: Decode) -> None:
        """``title``: the ``decoder``'s name, as a person reads it; ``decode``: tokens to text."""
        self._title, self._decoder, self._decode = title, decoder, decode
        self._reported = DecodingStatistics()

    def events(self, over: bool = False) -> Iterator[Event]:
        """What is new since the last call, of the drafts once a forward at most; all of the work once the revision is
        ``over``."""
        now, reported = self._decoder.statistics, self._reported
        for span in now.work.take(over):
            yield Work(stage=span.worker, start=span.start, end=span.end)
        if now.proposed != reported.proposed or now.note != reported.note:
            tree, chosen = branches(now.verified, self._decode) if now.verified else ((), "")
            yield Decoding(
                decoder=self._title,
                proposed=now.last[0],
                accepted=now.last[1],
                acceptance_rate=now.acceptance_rate,
                tokens_per_forward=now.tokens_per_forward,
                note=now.note,
                drafters=now.drafters(),
                tree=tree,
                chosen=chosen,
            )
            self._reported = replace(now)
