"""Does speculation commit exactly what plain greedy decoding gives? On held-out pocket prompts, word by word.

Drives the "llm" stage itself, as a host does, without waiting between words. Must not know of sound.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from predtui.clock import RealClock
from predtui.lab.bench.paired import mean
from predtui.lab.bench.report import command, console, machine
from predtui.lab.bench.watch import Gather, Watch
from predtui.lab.commands.options import Json, Limit, MaxTokens, Seed
from predtui.lab.training.corpus import compose
from predtui.llm.llamacpp.exactness import cost, exactness_of
from predtui.llm.load import load
from predtui.predgen.options import SpeculationOptions
from predtui.predgen.stage import SpeculationStage
from predtui.state.events import Baseline, Event, MeasureBaseline, Message, ReplyFinished, Transcript, TurnStarted
from predtui.state.stage import StageContext

REPLY_TOKENS = SpeculationOptions().reply_tokens
Compared = tuple[ReplyFinished, Baseline]
"""A turn: its reply, and what plain decoding gives."""


def run(
    limit: int, seed: int, model: str = "pocket", max_tokens: int = REPLY_TOKENS, gather: Gather[Compared] = list
) -> dict[str, Any]:
    """One row: share of identical replies, of first sentences accepted at once (NFETFS at most 1), mean NFETFS with
    and without speculation; and every divergence with its logit gap."""
    turns = gather(_turns(limit, seed, SpeculationOptions(model=model, reply_tokens=max_tokens)))
    row = {
        "method": "greedy",
        "n": len(turns),
        "identical_share": mean([plain.identical for _, plain in turns]),
        "nfetfs": mean([reply.nfetfs for reply, _ in turns]),
        "baseline_nfetfs": mean([plain.nfetfs for _, plain in turns]),
        "nfetfs_1_share": mean([reply.nfetfs <= 1 for reply, _ in turns]),
        **_exactness(model),
    }
    diverged = [
        {"prompt": reply.prompt, "token": plain.divergence, "logit_gap": plain.logit_gap}
        for reply, plain in turns
        if not plain.identical
    ]
    return {"command": command(), "machine": machine(), "models": [model], "rows": [row], "diverged": diverged}


def _exactness(name: str) -> dict[str, Any]:
    """Whether the model's logits depend on how many tokens are evaluated at once, and what a token of plain decoding
    takes with what is done about it, and without, in ms."""
    model = load(name).model
    exactness = exactness_of(model)
    exact_ms, fastest_ms = cost(model, exactness.padding)
    model.close()
    return {"exactness": str(exactness), "plain_ms": exact_ms, "plain_inexact_ms": fastest_ms}


def _turns(limit: int, seed: int, options: SpeculationOptions) -> Iterator[Compared]:
    stage = SpeculationStage(options)
    list(stage.open(StageContext(RealClock(), lambda: False, logging.getLogger("predtui.lab.bench"))))
    try:
        for number, (history, prompt) in enumerate(_dialogues(limit, seed), 1):
            yield _turn(stage, number, history, prompt)
    finally:
        stage.close()


def _dialogues(limit: int, seed: int) -> Iterator[tuple[tuple[Message, ...], str]]:
    for example in compose.heldout("slots", limit, seed):
        yield example.messages[:-2], example.messages[-2].content


def _turn(
    stage: SpeculationStage, number: int, history: tuple[Message, ...], prompt: str
) -> tuple[ReplyFinished, Baseline]:
    words = prompt.split()
    inputs: list[Event] = [TurnStarted(turn=number, history=history)]
    for count in range(1, len(words)):
        inputs.append(Transcript(turn=number, stable=" ".join(words[:count]), unfinished=False))
    inputs.append(Transcript(turn=number, stable=prompt, unfinished=False, final=True))
    now = RealClock().now
    outputs = [out for event in inputs for out in stage.handle(replace(event, time=now()))]
    reply = next(out for out in outputs if isinstance(out, ReplyFinished))
    ask = MeasureBaseline(turn=number, prompt=reply.prompt, reply=reply.text, history=history)
    return reply, next(out for out in stage.handle(ask) if isinstance(out, Baseline))


def as_line(turn: Compared) -> str:
    """A turn in a line."""
    reply, plain = turn
    same = "identical" if plain.identical else f"diverged at token {plain.divergence} (logit gap {plain.logit_gap:.4f})"
    return f"{reply.nfetfs:>3} forwards, without {plain.nfetfs:>3}  {same}  {reply.prompt[:60]}"


def main(
    limit: int = 200,
    seed: int = 1,
    model: str = "pocket",
    max_tokens: int = REPLY_TOKENS,
    json_path: Path | None = None,
) -> int:
    """Measure, print, write; the exit status."""
    watch = Watch(limit, "turns", as_line)
    result = run(limit, seed, model, max_tokens, watch)
    row = result["rows"][0]
    screen = console()
    screen.print(f"{row['n']} held-out prompts, {result['machine']}")
    if row["n"]:
        screen.print(f"identical to plain greedy decoding  {row['identical_share']:.1%}")
        screen.print(f"forwards to the first sentence      {row['nfetfs']:.1f} (without: {row['baseline_nfetfs']:.1f})")
        screen.print(f"at most one forward                 {row['nfetfs_1_share']:.1%}")
    plain, fastest = row["plain_ms"], row["plain_inexact_ms"]
    screen.print(f"a token of plain decoding           {plain:.1f} ms ({fastest:.1f} if it need not be exact)")
    screen.print(row["exactness"])
    for case in result["diverged"]:
        screen.print(f"diverged at token {case['token']} (logit gap {case['logit_gap']:.4f}): {case['prompt']}")
    return watch.leave(result, json_path)


def cli(
    limit: Limit = 200,
    seed: Seed = 1,
    model: Annotated[str, typer.Option(help="pocket, smollm2, or the path of a GGUF file.")] = "pocket",
    max_tokens: MaxTokens = 256,
    json: Json = None,
) -> None:
    """``predtui bench lossless``."""
    raise typer.Exit(main(limit, seed, model, max_tokens, json))
