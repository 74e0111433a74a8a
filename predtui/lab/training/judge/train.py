"""From a causal model in a folder to the head that judges drafts for it: what ``predtui train judge`` runs.

Logistic regression on states, standardised, with weights that make right and wrong ones count alike; the cases that are
held out choose the threshold, at which at most ``HARM`` of the wrong ones pass. Must not know how cases are found.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rich.console import Console
from torch import Tensor
from torch.nn import functional

from predtui.decoding import heads
from predtui.decoding.heads import TOKENS, Heads
from predtui.decoding.lossy import BIAS, JUDGE, THRESHOLD, WEIGHT
from predtui.errors import PredtuiError
from predtui.lab.training.cllm import prompts
from predtui.lab.training.heads.estimate import rate, told_time
from predtui.lab.training.heads.train import WORK
from predtui.lab.training.judge.card import write_card
from predtui.lab.training.judge.cases import Cases, asked, collect
from predtui.lab.training.pocket.report import bar
from predtui.llm.base import LoadedModel, tells_hidden
from predtui.llm.load import load
from predtui.system.exits import terminate_as_interrupt

HARM = 0.05
"""Share of the held-out wrong tokens that may be accepted."""
HELD_OUT = 0.4
"""Share of the cases that choose the threshold."""
DECAY = 0.01
"""Of the weights, per case."""
FEWEST = 10
"""Right ones, and wrong ones, without which there is nothing to learn."""


@dataclass(frozen=True, slots=True)
class JudgeTraining:
    """What is trained of what. ``model``: a shipped model's name, a folder, or a name in the local cache; ``draft``: a
    model with the same tokens; ``prompts``: a file with answers, the pocket corpus without it."""

    model: str
    draft: str
    out: Path
    prompts: Path | None = None
    cases: int = 4000
    seed: int = 0
    threads: int = 0
    resume: bool = True
    command: str = ""
    reply_tokens: int = 96
    work: Path = WORK


@dataclass(frozen=True, slots=True)
class News:
    """How many cases there are of those that are wanted."""

    found: int
    share: float

    def line(self) -> str:
        return f"{self.found:,} cases"


def train_judge(training: JudgeTraining, console: Console) -> None:
    """Collect cases, train and write ``training.out``. What was collected is kept whatever ends the run.

    Raises PredtuiError for a model that has not what a judge needs, for prompts without answers, and where the cases
    are too few.
    """
    target = load(training.model, "torch", training.threads or None)
    draft = load(training.draft, "torch" if Path(training.draft).is_dir() else "llamacpp", training.threads or None)
    _fit(target, draft)
    assert tells_hidden(target.model)
    target.model.tell_hidden()
    all_asked = asked(target, training.prompts, training.seed)
    console.print(f"a judge for {target.name}: about {_expected(target, training)}, less what was kept")
    kept = training.work / target.name / "judge.safetensors", _facts(training, target, draft), training.resume
    with terminate_as_interrupt(), bar(f"cases {target.name}", console, News.line) as report:

        def told(count: int) -> None:
            report(News(count, min(1.0, count / training.cases)))

        cases = collect((target, draft), all_asked, training.cases, training.reply_tokens, kept, told)
    trained, figures = fitted(cases, training.seed)
    tensors = {TOKENS: np.array([0]), **trained}
    heads.write(
        Heads(JUDGE, target.name, target.abilities.hidden, heads.digest(target.tokenizer), tensors), training.out
    )
    about: dict[str, Any] = {"command": training.command, "method": JUDGE, "model": target.name, "draft": draft.name}
    about |= {"seed": training.seed, "prompts": prompts.source(training.prompts)}
    about |= {"bytes": (training.out / heads.WEIGHTS).stat().st_size, "asked": int(cases.used), **figures}
    about |= {"minutes": round(float(cases.seconds) / 60, 1), "threads": training.threads}
    (training.out / "training.json").write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")
    write_card(training.out)
    console.print(
        f"of the right ones {figures['right_accepted']:.0%} pass, of the wrong ones "
        f"{figures['wrong_accepted']:.0%}: {training.out}"
    )


def _fit(target: LoadedModel, draft: LoadedModel) -> None:
    if not tells_hidden(target.model):
        raise PredtuiError(f"{target.name} tells no hidden states, which a judge needs.", "Train for another model.")
    same = draft.model.vocab_size == target.model.vocab_size
    if not same or heads.digest(draft.tokenizer) != heads.digest(target.tokenizer):
        raise PredtuiError(
            f"{draft.name} has other tokens than {target.name}.", "Give a draft of the same family with --draft."
        )


def _facts(training: JudgeTraining, target: LoadedModel, draft: LoadedModel) -> dict[str, Any]:
    """What cases are a function of, but for their number."""
    models = {"model": training.model, "draft": training.draft, "parameters": target.parameters + draft.parameters}
    return {
        **models,
        "prompts": prompts.digest(training.prompts),
        "seed": training.seed,
        "reply_tokens": training.reply_tokens,
    }


def _expected(target: LoadedModel, training: JudgeTraining) -> str:
    """For a person: a case is a prompt, and most of a reply, token by token."""
    tokens = training.cases * (64 + training.reply_tokens)
    seconds = 2 * target.parameters * tokens / rate(target.abilities.hidden, 64)
    return f"{told_time(seconds)} for {training.cases:,} cases"


def fitted(cases: Cases, seed: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """The head's tensors, in the 16 bits that they are kept in, and what it is worth on held-out cases, which are
    those of the last prompts. Raises PredtuiError where there are too few."""
    learned = round(len(cases.right) * (1 - HELD_OUT))
    for right in (cases.right[:learned], cases.right[learned:]):
        if min(int(right.sum()), int((~right).sum())) < FEWEST:
            raise PredtuiError(
                f"Of {len(cases.right)} cases {int(cases.right.sum())} are right: too few to learn from.",
                "Give more --prompts, or a smaller --draft, which says more that is wrong.",
            )
    hidden = cases.hidden.double()
    weight, bias = _regression(hidden[:learned], cases.right[:learned].double())
    weight, bias = weight.half(), bias.half()
    chances = torch.sigmoid(hidden[learned:] @ weight.double() + bias.double())
    right = cases.right[learned:]
    threshold = above(float(torch.quantile(chances[~right], 1 - HARM, interpolation="higher")))
    passed = chances >= threshold
    balanced = (float((chances[right] >= 0.5).double().mean()) + float((chances[~right] < 0.5).double().mean())) / 2
    figures: dict[str, Any] = {"cases": len(cases.right), "right": int(cases.right.sum()), "held_out": len(right)}
    figures |= {"threshold": threshold, "balanced_accuracy": round(balanced, 3)}
    figures |= {"right_accepted": round(float(passed[right].double().mean()), 3)}
    figures |= {"wrong_accepted": round(float(passed[~right].double().mean()), 3)}
    tensors = {WEIGHT: weight.numpy(), BIAS: bias[None].numpy(), THRESHOLD: np.array([threshold], np.float16)}
    return tensors, figures


def _regression(hidden: Tensor, right: Tensor) -> tuple[Tensor, Tensor]:
    """Weights [width] and bias over ``hidden`` [cases, width] as it is, for ``right`` [cases]."""
    mean, spread = hidden.mean(0), hidden.std(0).clamp(min=1e-6)
    inputs = (hidden - mean) / spread
    share = right.mean()
    counts = torch.where(right > 0, 0.5 / share, 0.5 / (1 - share))
    learned = torch.zeros(hidden.shape[1] + 1, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.LBFGS([learned], max_iter=300, line_search_fn="strong_wolfe")

    def loss() -> Tensor:
        optimizer.zero_grad()
        scores = inputs @ learned[:-1] + learned[-1]
        wrong = functional.binary_cross_entropy_with_logits(scores, right, counts)
        total = wrong + DECAY * learned[:-1].square().sum() / 2
        total.backward()  # type: ignore[no-untyped-call]
        return total

    optimizer.step(loss)  # type: ignore[no-untyped-call]
    found = learned.detach()
    weight = found[:-1] / spread
    return weight, found[-1] - weight @ mean


def above(chance: float) -> float:
    """The lowest number of 16 bits above it."""
    near = np.float16(chance)
    return float(near if float(near) > chance else np.nextafter(near, np.float16(2)))  # numpy compares in 16 bits
