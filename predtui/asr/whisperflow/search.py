"""Beam search over a decoder, with one beam as far as the round before is confirmed (WhisperFlow, section 4.2).

Inference gives logits, the pruner drafts, the ranker selects; this is the loop around them. Must not know of sound,
words, time or caches.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Sequence
from dataclasses import dataclass, field, replace

from predtui.asr.whisperflow.ct2_weights import Array
from predtui.asr.whisperflow.inference import Inference
from predtui.asr.whisperflow.pruning import Pruning, ReferencePruner
from predtui.asr.whisperflow.selection import BeamRanker, SuppressTokens, TokenSequence


@dataclass(frozen=True, slots=True)
class Rules:
    """What a search may write: up to ``end`` or ``longest`` tokens, never the ``suppressed`` ones. ``skipped``: the
    tokens (marks, special ones) that are not matched with the reference."""

    end: int
    longest: int
    suppressed: tuple[int, ...] = ()
    skipped: Collection[int] = ()


@dataclass(slots=True)
class Effort:
    """Counts of a search or of many: decoder ``forwards``, and of the decoding ``steps`` the sum of their beams and how
    many had one beam thanks to a reference."""

    forwards: int = 0
    steps: int = 0
    beams: int = 0
    pruned: int = 0

    def add(self, other: Effort) -> None:
        self.forwards += other.forwards
        self.steps += other.steps
        self.beams += other.beams
        self.pruned += other.pruned

    @property
    def average_beam(self) -> float:
        return self.beams / self.steps if self.steps else 0.0

    @property
    def reduce_ratio(self) -> float:
        """The share of steps that needed one hypothesis only."""
        return self.pruned / self.steps if self.steps else 0.0


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The likeliest text: its tokens without the end, their mean log-probability, and what finding it took.
    ``prompt_logits`` [rows, vocab]: of the prompt's last tokens."""

    tokens: tuple[int, ...]
    mean_logprob: float
    effort: Effort
    prompt_logits: Array = field(compare=False)


@dataclass(frozen=True, slots=True)
class _Single:
    """The one hypothesis: what it wrote, the logits of what follows, and whether that was the end."""

    written: TokenSequence
    next_logits: Array
    ended: bool = False

    @property
    def length(self) -> int:
        return len(self.written.tokens)


class Search:
    """Searches with ``beam`` hypotheses where no reference prunes them."""

    def __init__(self, rules: Rules, beam: int = 5, pruning: Pruning = "forward") -> None:
        self._rules, self._beam, self._pruning = rules, beam, pruning
        self._filter = SuppressTokens(rules.suppressed)

    def __call__(
        self, inference: Inference, prompt: Sequence[int], reference: Sequence[int] = (), rows: int = 1
    ) -> SearchResult:
        """All ``steps`` at once."""
        steps = self.steps(inference, prompt, reference, rows)
        while True:
            try:
                next(steps)
            except StopIteration as end:
                found: SearchResult = end.value
                return found

    def steps(
        self, inference: Inference, prompt: Sequence[int], reference: Sequence[int] = (), rows: int = 1
    ) -> Generator[int, None, SearchResult]:
        """What is written after ``prompt``; yields after each forward the number of tokens so far. ``reference``: the
        tokens that the round before wrote for about the same sound; ``rows``: see SearchResult."""
        effort = Effort()
        pruner = ReferencePruner(reference if self._pruning != "off" else (), self._rules.skipped)
        draft = pruner.opening(self._rules.longest) if self._pruning == "forward" else []
        logits = inference.logits([[*prompt, *draft]], last=rows + len(draft))[0]
        single = self._confirmed(_Single(TokenSequence(), logits[rows - 1]), draft, logits[rows:], effort)
        inference.rewind(len(draft) - single.length)
        pruner.accept(single.written.tokens)
        yield single.length
        if reference and self._pruning != "off":
            single = yield from self._follow(inference, single, pruner, effort)
        best = single.written if single.ended else (yield from self._widen(inference, single, effort))
        effort.forwards = inference.forwards
        return SearchResult(best.tokens, best.mean_logprob, effort, logits[:rows])

    def _follow(
        self, inference: Inference, single: _Single, pruner: ReferencePruner, effort: Effort
    ) -> Generator[int, None, _Single]:
        """The one hypothesis as far as the reference confirms it, or to its end."""
        while (room := self._rules.longest - single.length) > 0:
            logprobs = self._filter.logprobs(single.next_logits)
            best = int(logprobs.argmax())
            if best == self._rules.end:
                effort.add(Effort(steps=1, beams=1, pruned=1))
                total = single.written.sum_logprob + float(logprobs[best])
                return replace(single, written=TokenSequence(single.written.tokens, total), ended=True)
            draft = pruner.draft(best, 1 if self._pruning == "step" else room)
            if not draft:
                break
            known = single.length
            single = self._confirmed(single, draft, inference.logits([draft])[0], effort)
            inference.rewind(known + len(draft) - single.length)
            pruner.accept(single.written.tokens[known:])
            yield single.length
        return single

    def _confirmed(self, single: _Single, draft: Sequence[int], logits: Array, effort: Effort) -> _Single:
        """``single`` with those of ``draft`` that are likeliest in their turn. ``logits`` [drafted, vocab]: after each
        of them."""
        rows = [single.next_logits, *logits]
        count, total = 0, single.written.sum_logprob
        for token, logprobs in zip(draft, map(self._filter.logprobs, rows), strict=False):
            if int(logprobs.argmax()) != token:
                break
            count, total = count + 1, total + float(logprobs[token])
        effort.add(Effort(steps=count, beams=count, pruned=count))
        return _Single(TokenSequence((*single.written.tokens, *draft[:count]), total), rows[count])

    def _widen(self, inference: Inference, single: _Single, effort: Effort) -> Generator[int, None, TokenSequence]:
        """Beam search from the one hypothesis on."""
        ranker = BeamRanker(self._beam, self._rules.end, single.written)
        logits = single.next_logits[None]
        for length in range(single.length + 1, self._rules.longest + 1):
            effort.add(Effort(steps=1, beams=self._beam))
            sources = ranker.update(self._filter.logprobs(logits))
            if ranker.finished:
                break
            inference.branch(sources)
            logits = inference.logits([[beam.tokens[-1]] for beam in ranker.beams])[:, -1]
            yield length
        return ranker.best()
