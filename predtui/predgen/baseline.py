"""What a turn would have been without speculation, measured, and whether its reply is the one that was committed.

Must not know of events' delivery or of verifiers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

from predtui.clock import Clock
from predtui.decoding.autoregressive import generate
from predtui.decoding.base import Sampler
from predtui.llm.base import LoadedModel, Stale, aside, common_prefix
from predtui.llm.rows import Row, Unanswered
from predtui.predgen.reply_text import ReplyText
from predtui.predgen.window import Window
from predtui.state.events import Baseline, MeasureBaseline
from predtui.text import first_sentence


class BaselineMeter:
    """Plain decoding of a turn's reply, from what a cascade would have in its cache: system prompt and history."""

    def __init__(self, loaded: LoadedModel, sampler: Sampler, window: Window, reply_limit: int, clock: Clock) -> None:
        """``sampler``: that of the reply. ``reply_limit``: the most tokens of one, without thoughts."""
        self._model, self._tokenizer = loaded.model, loaded.tokenizer
        self._text = partial(ReplyText, loaded.tokenizer, loaded.stops, loaded.thinking)
        self._sampler, self._window = sampler, window
        self._reply_limit, self._longest, self._now = reply_limit, reply_limit + loaded.room_to_think, clock.now
        self._committed: tuple[str, tuple[int, ...]] = ("", ())
        """The last final prompt with the tokens of its reply."""

    def replied(self, prompt: str, tokens: tuple[int, ...]) -> None:
        """So far, the reply to the final ``prompt`` is ``tokens``."""
        self._committed = prompt, tokens

    def measure(self, asked: MeasureBaseline, stale: Stale) -> Iterator[Baseline]:
        """Of the turn that is ``asked`` for; nothing once ``stale``. What the model remembers of the turn it remembers
        afterwards too, where its engine can: the next turn goes on from it at once."""
        prompt = self._window.tokens(asked.history, asked.prompt)
        cached = common_prefix(prompt, self._window.tokens(asked.history, ""))
        reply = self._reply(asked)
        limit = min(self._longest, self._model.context_size - len(prompt))
        with aside(self._model, [*prompt, *reply], len(prompt) - cached + limit + 1):
            if stale():
                return
            if cached and self._model.abilities.top:
                self._model.forward(prompt[:cached])
            plain = self._decoded(prompt, limit, stale)
            if stale():
                return
            divergence = diverges(plain.tokens, reply)
            yield Baseline(
                ttfs_ms=plain.ttfs_ms,
                nfetfs=plain.nfetfs,
                first_sentence=plain.sentence,
                identical=divergence < 0,
                divergence=divergence,
                logit_gap=self._gap(prompt, plain.tokens, reply, divergence),
            )

    def _reply(self, asked: MeasureBaseline) -> tuple[int, ...]:
        """The committed tokens to compare with, as far as they go."""
        prompt, reply = self._committed
        if prompt == asked.prompt and self._text().text(reply).strip().startswith(asked.reply):
            return reply
        return tuple(self._tokenizer.encode(asked.reply))

    def _decoded(self, prompt: Sequence[int], limit: int, stale: Stale) -> _Plain:
        """The reply to ``prompt``, timed from the end of the user's words."""
        start, forwards = self._now(), self._model.counters.forwards
        reply, plain = self._text(), _Plain()
        for token in generate(self._model, prompt, self._sampler, limit, self._tokenizer.is_end, stale):
            plain.tokens.append(token)
            over = reply.over(plain.tokens) or reply.answered(plain.tokens) >= self._reply_limit
            if not plain.stands:
                sentence = first_sentence(reply.text(plain.tokens), over or len(plain.tokens) == limit)
                plain.stands, plain.sentence = sentence is not None, sentence or ""
                plain.ttfs_ms = (self._now() - start) * 1000
                plain.nfetfs = self._model.counters.forwards - forwards
            if over:
                break
        return plain

    def _gap(self, prompt: Sequence[int], plain: Sequence[int], reply: Sequence[int], divergence: int) -> float:
        """By how much the logit of the reply's token at ``divergence`` (-1: none) is below the highest; 0 where it
        tells text alone."""
        if divergence < 0 or not self._model.abilities.top:
            return 0.0
        row = self._model.forward([*prompt, *plain[:divergence]])[-1]
        return _gap(row, reply[divergence], self._model.abilities.top) if divergence < len(reply) else 0.0


@dataclass(slots=True)
class _Plain:
    """A reply by plain decoding, and what its first sentence took once it ``stands``."""

    tokens: list[int] = field(default_factory=list)
    stands: bool = False
    sentence: str = ""
    ttfs_ms: float = 0.0
    nfetfs: int = 0


def _gap(row: Row, token: int, top: int) -> float:
    """How far the logit of ``token`` is below the highest: where it is not among the ``top`` likeliest ones, no less
    than this."""
    try:
        return row.gap(token)
    except Unanswered:
        return row.gap(row.top(top)[-1])


def diverges(plain: Sequence[int], reply: Sequence[int]) -> int:
    """Index of the first token of ``reply`` that plain decoding did not choose; -1 if there is none. A reply that was
    cut short is compared as far as it goes."""
    shared = common_prefix(plain, reply)
    return -1 if shared == len(reply) else shared
