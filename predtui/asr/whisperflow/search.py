"""Beam search over a decoder, pruned by what the round before wrote (WhisperFlow, section 4.2).

While the likeliest token is the one that the reference has next, one hypothesis is enough; from the first that is not,
the search is as wide as ever. ``step`` looks token by token, as in the paper; ``forward`` checks all of the reference
in one forward, that of the prompt, and finds the same. Must not know of sound, words or time.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from predtui.asr.whisperflow.ct2_weights import Array
from predtui.asr.whisperflow.decoder import Cache, CrossAttention, Decoder, Step, log_softmax

Pruning = Literal["off", "step", "forward"]


@dataclass(frozen=True, slots=True)
class Rules:
    """What a search may write: up to ``end`` or ``longest`` tokens, never the ``suppressed`` ones. ``skipped``: the
    tokens (marks, special ones) that are not compared with the reference."""

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
class Found:
    """The likeliest text: its tokens without the end, their mean log-probability, and what finding it took.

    ``opening``: logits [rows, vocab] of the prompt's last tokens. ``attention`` [alignment heads, 1 + known, positions]
    of the prompt's last token and of the first ``known`` tokens, which one hypothesis wrote; ``cache`` ends with them.
    """

    tokens: tuple[int, ...]
    mean_log_probability: float
    effort: Effort
    opening: Array = field(compare=False)
    attention: Array = field(compare=False)
    cache: Cache = field(compare=False)

    @property
    def known(self) -> int:
        return int(self.attention.shape[1]) - 1


@dataclass(frozen=True, slots=True)
class _Single:
    """The only hypothesis: what was written after the prompt, its log-probability, the logits of what follows, and
    the attention of the prompt's last token and of what was written."""

    tokens: list[int]
    score: float
    next_logits: Array
    attention: Array
    cache: Cache


class Search:
    """Searches with ``beam`` hypotheses over one decoder."""

    def __init__(self, decoder: Decoder, rules: Rules, beam: int = 5, pruning: Pruning = "forward") -> None:
        self._decoder, self._rules, self._beam, self._pruning = decoder, rules, beam, pruning

    def __call__(
        self, prompt: Sequence[int], memory: CrossAttention, reference: Sequence[int] = (), rows: int = 1
    ) -> Found:
        """All ``steps`` at once."""
        steps = self.steps(prompt, memory, reference, rows)
        while True:
            try:
                next(steps)
            except StopIteration as end:
                found: Found = end.value
                return found

    def steps(
        self, prompt: Sequence[int], memory: CrossAttention, reference: Sequence[int] = (), rows: int = 1
    ) -> Generator[int, None, Found]:
        """What is written after ``prompt`` over ``memory``; yields after each forward the number of tokens so far.
        ``reference``: the tokens that the round before wrote for about the same sound; ``rows``: see Found.opening."""
        effort = Effort()
        known = list(reference) if self._pruning != "off" else []
        ahead = known[: self._rules.longest] if self._pruning == "forward" else []
        step = self._forward([[*prompt, *ahead]], memory, Cache(), effort, last=rows + len(ahead))
        opening, follows = step.logits[0, :rows], step.logits[0, rows:]
        start = len(prompt)
        single = _Single([], 0.0, opening[-1], step.attention[:, start - 1 : start], step.cache.cut(start))
        single = self._confirmed(
            single, ahead, replace(step, logits=follows, attention=step.attention[:, start:]), effort
        )
        yield len(single.tokens)
        ended = False
        if known:
            single, ended = yield from self._follow(single, memory, known, effort)
        tokens, score = (single.tokens, single.score) if ended else (yield from self._widen(single, memory, effort))
        mean = score / (len(tokens) + 1)
        shared = _common(single.tokens, tokens)
        attention, cache = single.attention[:, : shared + 1], single.cache.cut(start + shared)
        return Found(tuple(tokens), mean, effort, opening, attention, cache)

    def _follow(
        self, single: _Single, memory: CrossAttention, reference: list[int], effort: Effort
    ) -> Generator[int, None, tuple[_Single, bool]]:
        """One hypothesis as far as the reference confirms it, and whether it ends there (section 4.2.2). What both
        have of the ``skipped`` tokens is confirmed with the rest, what only one of them has is passed over."""
        skipped = self._rules.skipped
        index = len(single.tokens) or -1
        while len(single.tokens) < self._rules.longest:
            scores = self._scores(single.next_logits)
            token = int(scores.argmax())
            if token == self._rules.end:
                effort.add(Effort(steps=1, beams=1, pruned=1))
                return replace(single, score=single.score + float(scores[token])), True
            if index < 0 and token not in skipped:
                index = reference.index(token) if token in reference else len(reference)
            if token not in skipped:
                while 0 <= index < len(reference) and reference[index] in skipped:
                    index += 1
            follows = 0 <= index < len(reference) and reference[index] == token
            if not follows and token not in skipped:
                break
            room = self._rules.longest - len(single.tokens)
            ahead = reference[index : index + (1 if self._pruning == "step" else room)] if follows else [token]
            written = len(single.tokens)
            step = self._forward([ahead], memory, single.cache, effort)
            single = self._confirmed(single, ahead, replace(step, logits=step.logits[0]), effort)
            index += len(single.tokens) - written if follows else 0
            yield len(single.tokens)
        return single, False

    def _confirmed(self, single: _Single, tokens: list[int], step: Step, effort: Effort) -> _Single:
        """``single`` with those of ``tokens`` that are likeliest in their turn. ``step``: the forward over them, its
        logits [tokens, vocab]."""
        rows = [single.next_logits, *step.logits]
        kept, score = 0, single.score
        for token, scores in zip(tokens, map(self._scores, rows), strict=False):
            if int(scores.argmax()) != token:
                break
            kept, score = kept + 1, score + float(scores[token])
        effort.add(Effort(steps=kept, beams=kept, pruned=kept))
        attention = np.concatenate([single.attention, step.attention[:, :kept]], axis=1)
        cache = step.cache.cut(single.cache.length + kept)
        return _Single([*single.tokens, *tokens[:kept]], score, rows[kept], attention, cache)

    def _widen(
        self, single: _Single, memory: CrossAttention, effort: Effort
    ) -> Generator[int, None, tuple[list[int], float]]:
        """Beam search from the only hypothesis on: the best by mean log-probability, and its sum."""
        beams, sums = [single.tokens], np.array([single.score], np.float32)
        logits, cache = single.next_logits[None], single.cache
        ended: list[tuple[list[int], float]] = []
        while len(beams[0]) < self._rules.longest:
            effort.add(Effort(steps=1, beams=self._beam))
            kept: list[tuple[int, int, float]] = []
            for beam, token, score in _best(sums[:, None] + self._scores(logits), 2 * self._beam):
                if len(kept) == self._beam:  # an end that is less likely than all that go on is none
                    break
                if token == self._rules.end:
                    ended.append((beams[beam], score))
                else:
                    kept.append((beam, token, score))
            beams = [[*beams[beam], token] for beam, token, _ in kept]
            sums = np.array([score for _, _, score in kept], np.float32)
            if ended and max(score for _, score in ended) >= sums[0]:  # all that go on only become less likely
                break
            cache = cache.take([beam for beam, _, _ in kept])
            step = self._forward([[tokens[-1]] for tokens in beams], memory, cache, effort)
            logits, cache = step.logits[:, -1], step.cache
            yield len(beams[0])
        choices = ended or list(zip(beams, sums.tolist(), strict=True))
        return max(choices, key=lambda one: one[1] / (len(one[0]) + 1))

    def _forward(
        self, tokens: list[list[int]], memory: CrossAttention, cache: Cache, effort: Effort, last: int | None = None
    ) -> Step:
        effort.forwards += 1
        return self._decoder.forward(np.array(tokens), memory, cache, last)

    def _scores(self, logits: Array) -> Array:
        scores = log_softmax(logits)
        if self._rules.suppressed:
            scores[..., list(self._rules.suppressed)] = -np.inf
        return scores


def _best(scores: Array, count: int) -> list[tuple[int, int, float]]:
    """The ``count`` highest of ``scores`` [beams, vocab] as (beam, token, score), best first."""
    flat = scores.ravel()
    count = min(count, flat.size)
    places = np.argpartition(-flat, count - 1)[:count]
    return [(*divmod(int(place), scores.shape[1]), float(flat[place])) for place in places[np.argsort(-flat[places])]]


def _common(one: Sequence[int], other: Sequence[int]) -> int:
    """How many tokens both begin with."""
    return next(
        (index for index, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]),
        min(len(one), len(other)),
    )
