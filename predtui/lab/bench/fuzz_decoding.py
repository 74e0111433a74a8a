"""Random patterns of acceptance and rejection against plain decoding: every decoder, sequences and trees, guesses.

A draft is made of what the target will say, with errors and side branches wherever the pattern says so. After each
reply the model's memory is held against what a model that remembers nothing gives. Must not know how tokens are
accepted.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from predtui.clock import RealClock, VirtualClock
from predtui.decoding.accept import Acceptance, ExactMatch, RejectionSampling
from predtui.decoding.assembly import make_decoder
from predtui.decoding.autoregressive import generate
from predtui.decoding.base import Decoder, Sampler
from predtui.decoding.costs.instrument import Instrument
from predtui.decoding.draft import Draft, Verification
from predtui.decoding.duo import Duo, DuoOptions
from predtui.decoding.jacobi import Jacobi
from predtui.decoding.parts import Parts
from predtui.decoding.sampler import Greedy, Seeded
from predtui.decoding.speculative import Speculative
from predtui.errors import PredtuiError
from predtui.lab.bench.report import command, console, machine
from predtui.lab.bench.watch import Gather, Watch
from predtui.lab.commands.options import Json
from predtui.llm.base import LanguageModel, LoadedModel, common_prefix
from predtui.llm.llamacpp.exactness import known_exact
from predtui.llm.load import load
from predtui.llm.rows import ArrayRow
from predtui.registry import DECODERS, DRAFTERS

LIMIT = 24
"""Tokens of a reply."""
NEAR_TIE = 0.3
"""Of an engine that is not exact, logits may differ by as much with the tokens of a forward (logits of deviation 5): a
choice that this turns may go either way."""
WRONG = 0.5
"""A memory is wrong where logits after it differ by more from those of an empty one; of an exact engine, at all."""
_CONTEXT = 8
"""Tokens of a random prompt."""
_REGISTERED = {"comparison": "speculative", "rejection": "sps"}
"""The decoders of a drafter that is named."""
_LEAVES = 6
"""Side branches of a draft, at most."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A pattern whose reply was not plain decoding's, or left the memory wrong (``token`` is then the reply's length).

    ``near_tie``: a rounding of the logits explains it.
    """

    number: int
    decoder: str
    token: int = -1
    near_tie: bool = False
    error: str = ""


class Oracle:
    """Drafts what will follow, a wrong token instead wherever ``wrong`` says so, and side branches of noise."""

    def __init__(self, coming: Sequence[int], start: int, rng: random.Random, chance: float, vocabulary: int) -> None:
        """``coming`` is the reply to a context of ``start`` tokens; a token is wrong with ``chance``."""
        self._coming, self._start, self._rng = coming, start, rng
        self._chance, self._vocabulary = chance, vocabulary
        self._trees = rng.random() < 0.5

    def propose(self, context: Sequence[int], budget: int, position: int = 0) -> Draft:
        rng = self._rng
        ahead = self._coming[len(context) - self._start :][: rng.randint(0, budget)]
        tokens = [rng.randrange(self._vocabulary) if rng.random() < self._chance else token for token in ahead]
        parents = list(range(-1, len(tokens) - 1))
        for _ in range(rng.randint(0, min(_LEAVES, budget - len(tokens))) if self._trees else 0):
            parent, token = rng.randrange(-1, len(tokens)), rng.randrange(self._vocabulary)
            if (parent, token) not in zip(parents, tokens, strict=True):
                parents.append(parent)
                tokens.append(token)
        chances = tuple(itertools.accumulate((rng.uniform(0.5, 1) for _ in tokens), lambda a, b: a * b))
        shape = tuple(parents) if self._trees else ()
        return Draft(tuple(tokens), shape, chances=chances if rng.random() < 0.5 else ())

    def observe(self, verification: Verification) -> None:
        """It knows everything already."""

    def reset(self) -> None:
        """It knows everything already."""


def run(
    patterns: int,
    seed: int,
    target: LoadedModel,
    draft: LoadedModel,
    gather: Gather[Difference | None] = list,
    drafter: str = "",
    decoder: str = "",
) -> list[Difference]:
    """The failures among ``patterns`` random ones, of those that are gathered; with one drafter or decoder of the
    registry, where they are named."""
    return [case for case in gather(_played(patterns, seed, target, draft, drafter, decoder)) if case]


def _played(
    patterns: int, seed: int, target: LoadedModel, draft: LoadedModel, drafter: str, named: str
) -> Iterator[Difference | None]:
    for number in range(patterns):
        rng = random.Random(f"decoding {seed} {number}")
        name, case = "", None
        try:
            name, decoder, sampler, prompt, plain, guess = _pattern(rng, target, draft, drafter, named)
            reply = list(decoder.generate(prompt, len(plain), _never_ends, guesses=[guess]))
            decoder.close()
            if difference := _difference(target.model, sampler, prompt, plain, reply):
                case = Difference(number, name, *difference)
        except Exception as error:
            case = Difference(number, name, error=repr(error))
        yield case


def as_line(case: Difference | None) -> str:
    """What went wrong in a line."""
    if not case:
        return ""
    what = case.error or f"differs at token {case.token}{', by a near tie' if case.near_tie else ''}"
    return f"pattern {case.number}, {case.decoder}: {what}"


def _never_ends(token: int) -> bool:
    return False


def _pattern(
    rng: random.Random, target: LoadedModel, draft: LoadedModel, drafter: str, named: str
) -> tuple[str, Decoder, Sampler, list[int], list[int], list[int]]:
    """A decoder with its name and sampler, a prompt, the reply it must give, and a guess at it."""
    size = target.model.vocab_size
    prompt = [rng.randrange(size) for _ in range(_CONTEXT)]
    made_up = rng.choices(("comparison", "rejection", "jacobi", "duo"), (5, 2, 0, 0) if drafter else (5, 2, 2, 1))[0]
    name = named or (_REGISTERED[made_up] if drafter else made_up)
    sampler: Sampler = Seeded(rng.uniform(0.3, 1.5), seed=rng.randrange(99))
    lossless = DECODERS[name].lossless if named or drafter else name != "rejection"
    if not lossless or rng.random() < 0.5:
        sampler = Greedy()
    plain = list(generate(target.model, prompt, sampler, LIMIT, _never_ends))
    chance = rng.random()
    guess = [rng.randrange(size) if rng.random() < chance else token for token in plain] if rng.random() < 0.3 else []
    decoder: Decoder
    if named or drafter:
        clock = RealClock() if "draft" in DECODERS[name].needs else VirtualClock()  # a thread of its own takes its time
        decoder = _knowing(
            drafter or "model", name, Parts(target, sampler, draft, instrument=Instrument(clock)), prompt
        )
    elif name == "jacobi":
        decoder = Jacobi(target.model, sampler, rng.randint(1, 12))
    elif name == "duo":
        options = DuoOptions(rng.randint(0, 9), rng.randint(0, 4))
        decoder = Duo(target.model, draft.model, sampler, Instrument(RealClock()), options)
    else:
        rule: Acceptance = RejectionSampling(sampler) if name == "rejection" else ExactMatch(sampler)
        oracle = Oracle(plain, len(prompt), rng, chance, size)
        decoder = Speculative(target.model, oracle, rule, Instrument(VirtualClock()))
    return name, decoder, sampler, prompt, plain, guess


def _knowing(drafter: str, name: str, parts: Parts, prompt: list[int]) -> Decoder:
    """The decoder ``name`` of the registry, which has seen the reply once, as has its drafter where it takes one.
    Raises PredtuiError where it cannot be made."""
    decoder = make_decoder(name, parts, drafter)
    for _ in decoder.generate(prompt, LIMIT, _never_ends):
        """What it learns is the drafter's own affair."""
    return decoder


def _difference(
    model: LanguageModel, sampler: Sampler, prompt: list[int], plain: list[int], reply: list[int]
) -> tuple[int, bool] | None:
    """Where the reply differs, and whether by a near tie; of an equal one, whether the memory is wrong."""
    shared, exact = common_prefix(plain, reply), known_exact(model)
    whole = [*prompt, *plain[:shared]]
    remembered = model.forward(whole).logits[-1]
    model.forget()
    fresh = model.forward(whole).logits[-1]
    if shared == len(plain):
        wrong = bool(np.abs(fresh - remembered).max() > (0 if exact else WRONG))
        return (shared, False) if wrong else None
    if shared < len(reply) and not exact:
        fresh[reply[shared]] += NEAR_TIE
        return shared, sampler.choose(ArrayRow(fresh), shared) == reply[shared]
    return shared, False


def main(
    patterns: int = 10_000,
    seed: int = 0,
    model: str = "",
    json_path: Path | None = None,
    drafter: str = "",
    decoder: str = "",
) -> int:
    """Run, print and write what differs. Exit status 1 where anything does by more than a near tie."""
    names = (model, model) if model else ("7", "8")
    engine = "llamacpp" if model else "scripted"
    target, draft = (load(name, engine) for name in names)
    try:
        watch = Watch(patterns, "patterns", as_line)
        cases = run(patterns, seed, target, draft, watch, drafter, decoder)
    finally:
        draft.model.close()
        target.model.close()
    failed = [case for case in cases if not case.near_tie]
    screen = console()
    screen.print(f"{watch.done - len(cases)} of {watch.done} patterns: the reply is plain decoding's, the memory right")
    if cases:
        screen.print(f"{len(cases) - len(failed)} differ by a near tie, {len(failed)} by more")
    result: dict[str, Any] = {
        "command": command(),
        "machine": machine(1),
        "models": [target.name],
        "rows": [{"patterns": watch.done, "near_ties": len(cases) - len(failed), "failed": len(failed)}],
        "diverged": [asdict(case) for case in cases],
    }
    return watch.leave(result, json_path) or bool(failed)


def cli(
    patterns: Annotated[int, typer.Option(help="Random patterns of acceptance.", min=1)] = 10_000,
    seed: Annotated[int, typer.Option(help="Seed of the patterns.")] = 0,
    model: Annotated[
        str, typer.Option(help="pocket, smollm2, or a GGUF file: real caches. Empty: a scripted model.")
    ] = "",
    drafter: Annotated[str, typer.Option(help="One drafter alone, in place of drafts made up for the pattern.")] = "",
    decoder: Annotated[str, typer.Option(help="One decoder alone; it drafts with --drafter, or else model.")] = "",
    json: Json = None,
) -> None:
    """``predtui bench fuzz-decoding``."""
    if drafter:
        DRAFTERS.find(drafter)
    if decoder and DECODERS.find(decoder).alters:
        raise PredtuiError(f"{decoder} gives other replies than plain decoding.", "Choose another --decoder.")
    raise typer.Exit(main(patterns, seed, model, json, drafter, decoder))
