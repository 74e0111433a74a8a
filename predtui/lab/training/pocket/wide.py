"""A target of the pocket kind with four times the parameters: the pocket target, widened, and trained further.

Net2Net (Chen et al. 2016): each neuron becomes two that share its work, so that the wide network begins by saying what
the narrow one says. It is for measuring what drafts are worth where a forward costs more, and does not ship. Must not
know of drafts or of benches.
"""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path

import torch
from rich.console import Console
from torch import Tensor

from predtui.lab.training.pocket.config import GENTLER, TEACHING, Budget
from predtui.lab.training.pocket.curriculum import WHOLE_MIXTURE, target_lesson
from predtui.lab.training.pocket.export import export, load_exported
from predtui.lab.training.pocket.loop import train
from predtui.lab.training.pocket.model import PocketModel
from predtui.lab.training.pocket.report import reporter
from predtui.lab.training.pocket.tokenizer import load_tokenizer, save_tokenizer

WORK = Path("build/wide")
"""Where the checkpoint stands, relative to where the command is run."""
FFN = 7 / 3
"""Width of the feed-forward network, relative to the narrow one's: what doubling leaves over begins at nothing."""
NOISE = 0.1
"""By which the two halves of a neuron differ, relative to its weights: else they would learn the same for ever."""


def widened(base: PocketModel, seed: int) -> PocketModel:
    """Twice as wide as ``base``, with as many layers, and the same logits. ``seed`` draws where halves differ."""
    shape = base.shape
    wide = PocketModel(replace(shape, hidden=2 * shape.hidden, heads=2 * shape.heads, ffn=int(FFN * shape.ffn)), seed)
    generator = torch.Generator().manual_seed(seed)
    weights = wide.state_dict()
    for name, weight in base.state_dict().items():
        if weight.ndim == 1:
            found = torch.cat((weight, weight)) / (2 if name == "model.norm.weight" else 1)
        elif name.endswith("embed_tokens.weight"):
            found = torch.cat((weight, weight), dim=1)
        else:
            found = _doubled(weight, generator)
        kept = weights[name]
        if name.endswith("down_proj.weight"):
            kept.zero_()
        kept[tuple(slice(size) for size in found.shape)] = found
    wide.load_state_dict(weights)
    return wide


def _doubled(weight: Tensor, generator: torch.Generator) -> Tensor:
    """``weight`` [out, in] as [2 out, 2 in]: of equal halves of an input it makes equal halves of an output."""
    noise = NOISE * weight.std() * torch.randn(2 * weight.shape[0], weight.shape[1], generator=generator)
    half = torch.cat((weight, weight)) / 2
    return torch.cat((half + noise, half - noise), dim=1)


def train_wide(
    out: Path, narrow: Path, budget: Budget, seed: int, threads: int, resume: bool, console: Console, work: Path = WORK
) -> None:
    """Widen the target in the folder ``narrow``, train it and write the folder ``out``. Ctrl-C saves a checkpoint, then
    KeyboardInterrupt."""
    tokenizer = load_tokenizer(narrow)
    start = widened(load_exported(narrow), seed)
    save_tokenizer(tokenizer, work, start.shape.context)
    with reporter(f"wide target ({start.shape.parameters / 1e6:.1f}M)", console) as report:
        model, record = train(
            start.shape,
            TEACHING.slowed(GENTLER),
            budget,
            work,
            target_lesson,
            start=start,
            first_pool=WHOLE_MIXTURE,
            seed=seed,
            threads=threads,
            resume=resume,
            report=report,
        )
    export(model, tokenizer, out, "predtui wide")
    facts = {"parameters": model.shape.parameters, **asdict(record)}
    (out / "training.json").write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")
    console.print(f"{record.steps} steps, {record.tokens:,} tokens, loss {record.loss:.3f} nats: {out}")
