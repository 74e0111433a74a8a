"""Is what speculation commits what plain greedy decoding gives? On held-out pocket prompts, streamed word by word.

Drives the "llm" stage itself, as a host does, without waiting between words. Must not know of sound.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from predtui.bench.report import command, console, machine, write
from predtui.clock import RealClock
from predtui.events import Baseline, Event, MeasureBaseline, Message, ReplyFinished, Transcript, TurnStarted
from predtui.llm.exactness import cost, exactness_of
from predtui.llm.load import load
from predtui.predgen.options import SpeculationOptions
from predtui.predgen.stage import SpeculationStage
from predtui.stage import StageContext
from predtui.training.corpus import compose


def run(limit: int, seed: int, model: str = "pocket") -> dict[str, Any]:
    """One row: share of identical replies, of first sentences accepted at once (NFETFS at most 1), mean NFETFS with
    and without speculation; and every divergence with its logit gap."""
    stage = SpeculationStage(SpeculationOptions(model=model))
    list(stage.open(StageContext(RealClock(), lambda: False, logging.getLogger("predtui.bench"))))
    exactness = _exactness(model)
    same: Counter[bool] = Counter()
    forwards: list[tuple[int, int]] = []
    diverged: list[dict[str, Any]] = []
    for number, (history, prompt) in enumerate(_dialogues(limit, seed), 1):
        reply, baseline = _turn(stage, number, history, prompt)
        same[baseline.identical] += 1
        forwards.append((reply.nfetfs, baseline.nfetfs))
        if not baseline.identical:
            diverged.append({"prompt": prompt, "token": baseline.divergence, "logit_gap": baseline.logit_gap})
    stage.close()
    count = len(forwards)
    row = {
        "method": "greedy",
        "n": count,
        "identical_share": same[True] / count,
        "nfetfs": sum(ours for ours, _ in forwards) / count,
        "baseline_nfetfs": sum(plain for _, plain in forwards) / count,
        "nfetfs_1_share": sum(ours <= 1 for ours, _ in forwards) / count,
        **exactness,
    }
    return {"command": command(), "machine": machine(), "models": [model], "rows": [row], "diverged": diverged}


def _exactness(name: str) -> dict[str, Any]:
    """Whether the model's logits depend on how many tokens are evaluated at once, and what a token of plain decoding
    takes with what is done about it, and without, in ms."""
    model = load(name).model
    exactness = exactness_of(model)
    exact_ms, fastest_ms = cost(model, exactness.padding)
    model.close()
    return {"exactness": str(exactness), "plain_ms": exact_ms, "plain_inexact_ms": fastest_ms}


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
    outputs = [out for event in inputs for out in stage.handle(event)]
    reply = next(out for out in outputs if isinstance(out, ReplyFinished))
    ask = MeasureBaseline(turn=number, prompt=reply.prompt, reply=reply.text, history=history)
    return reply, next(out for out in stage.handle(ask) if isinstance(out, Baseline))


def main(limit: int = 200, seed: int = 1, model: str = "pocket", json_path: Path | None = None) -> None:
    """Measure, print, write."""
    result = run(limit, seed, model)
    row = result["rows"][0]
    screen = console()
    screen.print(f"{row['n']} held-out prompts, {result['machine']}")
    screen.print(f"identical to plain greedy decoding  {row['identical_share']:.1%}")
    screen.print(f"forwards to the first sentence      {row['nfetfs']:.1f} (without: {row['baseline_nfetfs']:.1f})")
    screen.print(f"at most one forward                 {row['nfetfs_1_share']:.1%}")
    screen.print(
        f"a token of plain decoding           {row['plain_ms']:.1f} ms ({row['plain_inexact_ms']:.1f} inexactly)"
    )
    screen.print(row["exactness"])
    for case in result["diverged"]:
        screen.print(f"diverged at token {case['token']} (logit gap {case['logit_gap']:.4f}): {case['prompt']}")
    write(result, json_path)
