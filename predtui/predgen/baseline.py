"""What a turn would have been without speculation, measured, and whether its reply is the one that was committed.

Must not know of events' delivery or of verifiers.
"""

from __future__ import annotations

from collections.abc import Sequence

from predtui.clock import Clock
from predtui.decoding.autoregressive import generate
from predtui.decoding.base import Sampler
from predtui.llm.base import LoadedModel, Stale, aside, common_prefix
from predtui.llm.rows import Row, Unanswered
from predtui.predgen.window import Window
from predtui.state.events import Baseline, Message
from predtui.text import first_sentence


def measure(
    loaded: LoadedModel,
    sampler: Sampler,
    window: Window,
    history: Sequence[Message],
    user: str,
    reply: Sequence[int],
    reply_limit: int,
    clock: Clock,
    stale: Stale,
) -> Baseline | None:
    """Plain decoding of the reply to ``user``, from what a cascade would have in its cache: system prompt and history.

    ``reply``: the committed tokens to compare with, as far as they go. None when stale. What the model remembers of the
    turn it remembers afterwards too, where its engine can: the next turn goes on from it at once.
    """
    whole = window.tokens(history, user)
    cached = common_prefix(whole, window.tokens(history, ""))
    limit = min(reply_limit, loaded.model.context_size - len(whole))
    with aside(loaded.model, [*whole, *reply], len(whole) - cached + limit + 1):
        if stale():
            return None
        if cached:
            loaded.model.forward(whole[:cached])
        return _measured(loaded, sampler, window, history, user, reply, limit, clock, stale)


def _measured(
    loaded: LoadedModel,
    sampler: Sampler,
    window: Window,
    history: Sequence[Message],
    user: str,
    reply: Sequence[int],
    limit: int,
    clock: Clock,
    stale: Stale,
) -> Baseline | None:
    """``measure``, with the cache as the cascade would have it; from the end of the user's words on."""
    model, tokenizer = loaded.model, loaded.tokenizer
    start, forwards = clock.now(), model.counters.forwards
    prompt = window.tokens(history, user)
    plain: list[int] = []
    sentence: str | None = None
    ttfs_ms, nfetfs = 0.0, 0
    for token in generate(model, prompt, sampler, limit, tokenizer.is_end, stale):
        plain.append(token)
        if sentence is None:
            ended = tokenizer.is_end(token) or len(plain) == limit
            sentence = first_sentence(tokenizer.decode(plain), ended)
            ttfs_ms, nfetfs = (clock.now() - start) * 1000, model.counters.forwards - forwards
    if stale():
        return None
    divergence = diverges(plain, reply)
    gap = 0.0
    if divergence >= 0:
        row = model.forward([*prompt, *plain[:divergence]])[-1]
        gap = _gap(row, reply[divergence], model.answers.top) if divergence < len(reply) else 0.0
    return Baseline(
        ttfs_ms=ttfs_ms,
        nfetfs=nfetfs,
        first_sentence=sentence or "",
        identical=divergence < 0,
        divergence=divergence,
        logit_gap=gap,
    )


def _gap(row: Row, token: int, told: int) -> float:
    """How far the logit of ``token`` is below the highest: where it is not among the ``told`` likeliest ones, no less
    than this."""
    try:
        return row.gap(token)
    except Unanswered:
        return row.gap(row.top(told)[-1])


def diverges(plain: Sequence[int], reply: Sequence[int]) -> int:
    """Index of the first token of ``reply`` that plain decoding did not choose; -1 if there is none. A reply that was
    cut short is compared as far as it goes."""
    shared = common_prefix(plain, reply)
    return -1 if shared == len(reply) else shared
