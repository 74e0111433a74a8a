"""What a judge learns from: tokens that a draft would have said in a target's reply, and whether they did harm.

Where the draft's likeliest other token differs from what the target says, it is put in its place, and the target goes
on from there: the token was right if the reply is still right. Who tells that is the pocket corpus's oracle, or the
answers in a file. Must not know of heads, or of how they are trained.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count, islice
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from predtui.errors import PredtuiError
from predtui.lab.bench.streams import answers_as
from predtui.lab.training.cllm import prompts, replies
from predtui.lab.training.cllm.windows import Reply
from predtui.lab.training.corpus import oracle
from predtui.lab.training.corpus.compose import sample
from predtui.lab.training.heads import states
from predtui.lab.training.heads.states import Facts
from predtui.llm.base import LoadedModel
from predtui.predgen.prompts import SYSTEM_PROMPT
from predtui.state.events import Message

FRUITLESS = 1024
"""Prompts that give nothing, after which no more are tried."""
AT_ONCE = 128
"""Prompts between two savings."""
_A_REPLY = 4
"""Cases of one reply, at most: those of a reply are alike."""
LONGEST = 192
"""Tokens of a prompt of the corpus, at most: each case reads it anew."""
LONGER = 12
"""Tokens that may follow one that was put in, beyond as many as the longest of the replies beside it has."""
Right = Callable[[str], bool]


class Asked(NamedTuple):
    """A prompt's tokens, and whether a reply answers it."""

    prompt: list[int]
    right: Right


@dataclass(frozen=True, slots=True)
class Cases:
    """``hidden`` [cases, width], 16 bits: the target's state behind a token that was put in place of its own; ``right``
    [cases]: whether its reply was still right; ``used``: how many prompts they come from, answered wrongly or not;
    ``seconds``: what that took."""

    hidden: Tensor
    right: Tensor
    used: Tensor
    seconds: Tensor
    prompts: tuple[tuple[int, ...], ...] = ()


class Forced(NamedTuple):
    """``token`` in place of what follows ``said`` in the reply to ``asked``."""

    asked: Asked
    said: tuple[int, ...]
    token: int


def asked(target: LoadedModel, path: Path | None, seed: int) -> Iterator[Asked]:
    """Of the pocket corpus without end, or of the JSONL file at ``path`` once, in an order by ``seed``. Raises
    PredtuiError for a file that cannot be read, or that lacks answers."""
    if path is None:
        return _of_corpus(target, seed)
    pairs, lacking = [], []
    for conversation, data, where in prompts.lines(path):
        answer = data.get("answer")
        pairs.append((conversation, str(answer)))
        if not isinstance(answer, str | int | float) or not str(answer).strip():
            lacking.append(where)
    if lacking:
        raise PredtuiError(
            f"{len(lacking)} of {len(pairs)} prompts have no answer, {lacking[0]} for one.",
            'A judge learns from replies that can be told to be right: {"prompt": .., "answer": ..}.',
        )
    random.Random(f"judge:{seed}").shuffle(pairs)
    return (Asked(_prompt(target, said), partial(answers_as, answer)) for said, answer in pairs)


def _of_corpus(target: LoadedModel, seed: int) -> Iterator[Asked]:
    """Raises PredtuiError where none of many prompts is short enough."""
    misses = 0
    for number in count():
        example = sample(random.Random(f"judge:{seed}:{number}"))
        if example.kind == "reply" and len(prompt := _prompt(target, example.messages)) <= LONGEST:
            misses = 0
            yield Asked(prompt, partial(oracle.right, example))
        elif (misses := misses + 1) > FRUITLESS:
            long = f"{target.name} makes more than {LONGEST} tokens of each prompt of the pocket corpus"
            raise PredtuiError(f"{long}, which is too long to learn from.", "Give --prompts with answers.")


def _prompt(target: LoadedModel, conversation: Sequence[Message]) -> list[int]:
    """Of a conversation up to its last question."""
    last = max(n for n, message in enumerate(conversation) if message.role == "user")
    system = next((m for m in conversation if m.role == "system"), Message("system", SYSTEM_PROMPT))
    return target.prompt_tokens([system, *(m for m in conversation[: last + 1] if m.role != "system")])


def collect(
    models: tuple[LoadedModel, LoadedModel],
    all_asked: Iterator[Asked],
    wanted: int,
    limit: int,
    kept: tuple[Path, Facts, bool],
    told: Callable[[int], None],
) -> Cases:
    """At least ``wanted`` cases of target and draft, or all there are, out of replies of at most ``limit`` tokens.
    ``kept``: where they are saved on the way, what they are a function of, and whether to go on with what is there;
    ``told`` hears how many there are. Raises PredtuiError where many prompts give none."""
    target, draft = models
    path, facts, resume = kept
    known = states.read(path, facts, Cases) if resume else None
    width = target.abilities.hidden
    nothing = torch.empty(0, width, dtype=torch.float16), torch.empty(0).bool()
    found = known or Cases(*nothing, torch.tensor([0]), torch.tensor([0.0]))
    rest = islice(all_asked, int(found.used), None)
    while (
        len(found.right) < wanted
        and (len(found.right) or found.used < FRUITLESS)
        and (some := list(islice(rest, AT_ONCE)))
    ):
        begun = time.perf_counter()
        hidden, right = _of(target, draft, some, limit)
        spent = found.used + len(some), found.seconds + time.perf_counter() - begun
        found = Cases(torch.cat((found.hidden, hidden)), torch.cat((found.right, right)), *spent)
        states.save(path, found, facts)
        told(len(found.right))
    if not len(found.right):
        none = f"{target.name} answers none rightly, or {draft.name} would say the same"
        raise PredtuiError(
            f"{int(found.used):,} prompts gave nothing to learn from: {none}.",
            "Give other --prompts or another --draft.",
        )
    return found


def _of(target: LoadedModel, draft: LoadedModel, some: Sequence[Asked], limit: int) -> tuple[Tensor, Tensor]:
    """States [cases, width] and whether each was right [cases], of the prompts that the target answers rightly."""
    room = min(target.model.context_size - 2 * limit - LONGER, draft.model.context_size - limit)
    some = [one for one in some if len(one.prompt) <= room]
    said = _answered(target, [one.prompt for one in some], limit)
    forced = [
        case
        for one, reply in zip(some, said, strict=True)
        if one.right(target.tokenizer.decode(reply.tokens))
        for case in _differing(draft, one, reply.tokens, target.tokenizer.is_end)
    ]
    if not forced:
        return torch.empty(0, target.abilities.hidden, dtype=torch.float16), torch.empty(0).bool()
    contexts = [[*asked.prompt, *said, token] for asked, said, token in forced]
    hidden = torch.stack([_state(target, context) for context in contexts])
    rest = _answered(target, contexts, max(len(reply.tokens) for reply in said) + LONGER)
    whole = [(*case.said, case.token, *after.tokens) for case, after in zip(forced, rest, strict=True)]
    right = [case.asked.right(target.tokenizer.decode(tokens)) for case, tokens in zip(forced, whole, strict=True)]
    return hidden, torch.tensor(right)


def _differing(draft: LoadedModel, one: Asked, said: Sequence[int], is_end: Callable[[int], bool]) -> Iterator[Forced]:
    """Where the draft says something else; then, with its second choice, where it is least sure of what is said."""
    rows = draft.model.forward([*one.prompt, *said[:-1]], len(said))
    places = []
    for place, (token, row) in enumerate(zip(said, rows, strict=True)):
        first, second = row.top(2)
        other = first if first != token else second
        if not is_end(other):
            places.append((row.logprob(token) - row.logprob(other), place, other))
    for _, place, other in sorted(places)[:_A_REPLY]:
        yield Forced(one, tuple(said[:place]), other)


def _state(target: LoadedModel, context: Sequence[int]) -> Tensor:
    """[width], behind the last token."""
    hidden = target.model.forward(context).hidden
    assert hidden is not None, "the trainer has seen to it"
    return torch.from_numpy(hidden[-1]).half()


def _answered(target: LoadedModel, all_prompts: Sequence[Sequence[int]], limit: int) -> list[Reply]:
    """The target's own greedy replies, in order; prompts of like length are answered together."""
    network = target.model.network  # type: ignore[attr-defined]
    order = sorted(range(len(all_prompts)), key=lambda place: len(all_prompts[place]))
    said: list[Reply] = []
    for some in replies.batches([all_prompts[place] for place in order], limit):
        said += replies.answered(network, some, target.tokenizer.is_end, limit)
    found = dict(zip(order, said, strict=True))
    target.model.forget()
    return [found[place] for place in range(len(order))]
