"""What a draft wins by learning from the turns of one user, block by block, and what others lose by it.

The user asks for reminders and lists about a few things of their own, in wordings of their own, none of which is in the
corpus that the pocket models were made of. Each turn is drafted twice, with what was learnt so far and by the draft
alone, and then learnt from; drafts have eight tokens, so that no clock and no stop decides what is accepted. Others are
asked by turns with earlier ones of the user's, and not learnt from. Must not know how learning is done.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain, cycle
from statistics import median
from typing import Annotated, Any

import typer
from rich.table import Table

from predtui.decoding.accept import ExactMatch, verify
from predtui.decoding.base import Drafter
from predtui.decoding.draft import Verification
from predtui.decoding.drafters.model import ModelDrafter
from predtui.decoding.drafters.osd import OnlineDrafter
from predtui.decoding.learner import Learner
from predtui.decoding.sampler import Greedy
from predtui.lab.bench.report import command, console, machine
from predtui.lab.bench.watch import Gather, Watch
from predtui.lab.commands.options import Json, MaxTokens, Threads
from predtui.lab.training.corpus import compose
from predtui.llm.base import LoadedModel, never, tells_hidden
from predtui.llm.load import load
from predtui.models.shipped import POCKET, POCKET_DRAFT, asset
from predtui.state.events import Message

USERS, BLOCK, DRAFTED, OTHERS = 3, 25, 8, 100
AGAIN = "again, between others"
THINGS = """smoker, brood frame, nuc box, queen excluder, pollen patty, varroa board, honey extractor, hive tool;
shackle, mooring line, jib sheet, bilge pump, flare kit, winch handle, rigging knife, life raft;
stoneware clay, celadon glaze, kiln shelf, wax resist, cobalt oxide, trimming tool, pyrometric cone, slip trailer"""
VERBS = """inspect, requeen, treat, feed, weigh, split; rig, patch, splice, grease, winterise, sand; fire, glaze, trim,
wedge, recycle, decorate"""
OBJECTS = """north hive, langstroth, apiary fence, swarm trap, observation hive; dinghy, mainsail, tiller, keel bolts,
outboard; raku kiln, teapot lids, slab vases, pug mill, wheel head"""
ASKED = """remind me to {verb} the {object}; i want a reminder to {verb} the {object}; do not let me forget to {verb}
the {object} {when}; note for later, i still have to {verb} the {object}; add a {thing} and another {other} to the
shopping list; put two {thing}s on my list; we are out of {thing}s, put some on the list; i need another {thing}, write
it down; add a {thing} to my packing list"""
WHEN = "tomorrow, at seven, on friday, at half past nine, this evening, in an hour"


def _listed(text: str, mark: str = ",") -> list[str]:
    return [" ".join(part.split()) for part in text.split(mark)]


def turns(count: int, seed: int) -> list[str]:
    """``count`` prompts of one user, a function of ``seed``: beekeeper, sailor or potter by turns."""
    rng = random.Random(f"own topics {seed}")
    things, verbs, objects = (_listed(_listed(text, ";")[seed % 3]) for text in (THINGS, VERBS, OBJECTS))
    asked, when = _listed(ASKED, ";"), _listed(WHEN)
    return [
        rng.choice(asked).format(
            verb=rng.choice(verbs),
            object=rng.choice(objects),
            thing=rng.choice(things),
            other=rng.choice(things),
            when=rng.choice(when),
        )
        for _ in range(count)
    ]


def others(seed: int) -> dict[str, list[Sequence[Message]]]:
    """Prompts of other kinds, which nothing is learnt from."""
    lines = asset("prompts", "everyday.txt").read_text(encoding="utf-8").splitlines()
    return {
        "the corpus": [one.messages[:-1] for one in compose.heldout("slots", OTHERS, seed)],
        "the corpus, other wordings": [one.messages[:-1] for one in compose.heldout("frames", OTHERS, seed)],
        "everyday questions": [[Message("user", line)] for line in lines if line],
    }


@dataclass(slots=True)
class Tally:
    """Tokens that were proposed, accepted, and brought, in so many forwards."""

    proposed: int = 0
    accepted: int = 0
    tokens: int = 0
    forwards: int = 0

    def count(self, found: Verification) -> None:
        """One more forward."""
        self.proposed += len(found.draft.tokens)
        self.accepted += len(found.path)
        self.tokens += len(found.tokens)
        self.forwards += 1

    @property
    def acceptance(self) -> float:
        return self.accepted / max(1, self.proposed)

    @property
    def per_forward(self) -> float:
        return self.tokens / max(1, self.forwards)


class User:
    """Two drafters of one user's turns, of which one learns."""

    def __init__(self, target: LoadedModel, draft: LoadedModel, limit: int, seed: int) -> None:
        """``limit``: tokens of a reply."""
        if tells_hidden(draft.model):
            draft.model.tell_hidden()
        self._target, self._limit, self.seed = target, limit, seed
        self._learner = Learner(draft.model)
        alone, adapted = (ModelDrafter(draft.model, Greedy(), draft.tokenizer.is_end, 0.0) for _ in range(2))
        self._drafters: tuple[Drafter, Drafter] = alone, OnlineDrafter(adapted, draft.model, self._learner)
        self.tallies: dict[str, tuple[Tally, Tally]] = {}
        """Of blocks of turns, and of other kinds: without learning, and with it."""

    def all(self, count: int) -> Iterator[str]:
        """``count`` turns, learning after each, then prompts of other kinds, each after one of those turns, so that
        nothing found out about the kind of one prompt holds for the next."""
        known = turns(count, self.seed)
        for number, prompt in enumerate(known):
            begin = number - number % BLOCK
            self._answer(f"turns {begin + 1} to {min(begin + BLOCK, count)}", [Message("user", prompt)])
            while self._learner.learn(never):
                pass
            yield prompt
        for name, asked in others(self.seed).items():
            for messages, prompt in zip(asked, cycle(known), strict=False):
                self._answer(AGAIN, [Message("user", prompt)])
                self._answer(name, messages)

    def _answer(self, name: str, messages: Sequence[Message]) -> None:
        prompt = self._target.prompt_tokens(messages)
        for drafter, tally in zip(self._drafters, self.tallies.setdefault(name, (Tally(), Tally())), strict=True):
            self._drafted(prompt, drafter, tally)

    def _drafted(self, prompt: Sequence[int], drafter: Drafter, tally: Tally) -> None:
        context, rule = list(prompt), ExactMatch(Greedy())
        model, is_end = self._target.model, self._target.tokenizer.is_end
        limit, over = min(self._limit, model.context_size - len(prompt)), False
        while (position := len(context) - len(prompt)) < limit and not over:
            draft = drafter.propose(context, min(DRAFTED, limit - position - 1), position)
            found = verify(model, context, draft, rule, position, is_end)
            drafter.observe(found)
            tally.count(found)
            context += found.tokens
            over = is_end(context[-1])


def run(
    model: str, draft: str, count: int, seed: int, threads: int, limit: int, gather: Gather[str] = list
) -> dict[str, Any]:
    """Three users, of ``seed`` and the next two; a row for each block of turns and each other kind, with medians over
    the users who came to their end, and the gain of the one who gained the least."""
    with ExitStack() as stack:
        target, drafting = (load(name, threads=threads or None) for name in (model, draft))
        for one in (target, drafting):
            stack.callback(one.model.close)
        users = [User(target, drafting, limit, user) for user in range(seed, seed + USERS)]
        gather(chain.from_iterable(user.all(count) for user in users))
    kinds = max((user.tallies for user in users), key=len)
    found = [{name: _row(name, *tallies) for name, tallies in user.tallies.items()} for user in users]
    rows = [_median([one[name] for one in found if name in one]) for name in kinds]
    return {
        "command": command(),
        "machine": machine(threads),
        "rows": rows,
        "users": [[*one.values()] for one in found],
    }


def _row(name: str, alone: Tally, learnt: Tally) -> dict[str, Any]:
    return {
        "of": name,
        "acceptance": alone.acceptance,
        "learnt": learnt.acceptance,
        "gain": learnt.acceptance / max(1e-9, alone.acceptance) - 1,
        "tokens_per_forward": alone.per_forward,
        "learnt_per_forward": learnt.per_forward,
    }


def _median(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    numbers = {name: round(median(row[name] for row in rows), 4) for name in rows[0] if name != "of"}
    return {"of": rows[0]["of"], **numbers, "least": round(min(row["gain"] for row in rows), 4), "users": len(rows)}


def table(result: dict[str, Any]) -> Table:
    """The rows for a terminal."""
    headings = ("", "accepted", "learnt", "gain", "least", "tokens/forward", "learnt", "users")
    drawn = Table(*headings, title="A draft that learns", caption=result["machine"])
    for row in result["rows"]:
        shares = f"{row['acceptance']:.1%}", f"{row['learnt']:.1%}", f"{row['gain']:+.1%}", f"{row['least']:+.1%}"
        tokens = f"{row['tokens_per_forward']:.2f}", f"{row['learnt_per_forward']:.2f}"
        drawn.add_row(row["of"], *shares, *tokens, str(row["users"]))
    return drawn


def cli(
    model: Annotated[str, typer.Option(help="The model that replies.")] = POCKET,
    draft: Annotated[str, typer.Option(help="The draft that learns.")] = POCKET_DRAFT,
    limit: Annotated[int, typer.Option(help="Turns of each user.", min=1)] = 200,
    seed: Annotated[int, typer.Option(help="Seed of the first user's turns.")] = 1,
    threads: Threads = 0,
    max_tokens: MaxTokens = 96,
    json: Json = None,
) -> None:
    """``predtui bench learning``."""
    watch = Watch[str](USERS * limit, "turns", lambda prompt: prompt)
    result = run(model, draft, limit, seed, threads, max_tokens, watch)
    console().print(table(result))
    raise typer.Exit(watch.leave(result, json))
