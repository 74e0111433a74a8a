"""Both pocket models from one call: tokenizer, target, draft, their exports and cards.

Work in progress stands in a folder of its own, checkpoints and all; a shipped folder changes when its model is
finished, not before. ``train_pocket`` runs in a process of its own, because the allocator settings that make training
a fifth faster are read when a process starts.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from rich.console import Console
from tokenizers import Tokenizer

from predtui.lab.training.alone import alone
from predtui.lab.training.pocket.card import write_cards
from predtui.lab.training.pocket.config import (
    DRAFT,
    GENTLER,
    JUDGE_LAYERS,
    JUDGING,
    TARGET,
    TEACHING,
    Budget,
    Recipe,
    Shape,
    TrainingRecord,
)
from predtui.lab.training.pocket.data import Sampler
from predtui.lab.training.pocket.export import export, load_exported
from predtui.lab.training.pocket.loop import CHECKPOINT, train
from predtui.lab.training.pocket.model import PocketModel
from predtui.lab.training.pocket.report import reporter
from predtui.lab.training.pocket.tokenizer import corpus_texts, load_tokenizer, save_tokenizer, train_tokenizer

TOKENIZER_EXAMPLES = 40_000
FOLDERS = ("target", "judge", "draft")
"""Where the checkpoints of the three runs stand."""
WORK = Path("build/pocket")
"""Where checkpoints stand, relative to where the command is run."""


def train_pocket(
    out: Path,
    target_minutes: float = 45.0,
    judge_minutes: float = 15.0,
    draft_minutes: float = 8.0,
    seed: int = 0,
    threads: int = 2,
    resume: bool = False,
    work: Path = WORK,
    start: Path | None = None,
) -> int:
    """Train target and draft and write ``<out>/target`` and ``<out>/draft``; ``threads`` 0 takes all cores.

    Ctrl-C saves; ``resume`` goes on from the checkpoints in ``work``. ``start`` holds finished models, of the same
    shapes, to train on.

    The exit status, where there is still a process to have it.
    """
    options = ["--out", str(out), "--seed", str(seed), "--threads", str(threads), "--work", str(work)]
    options += ["--target-minutes", str(target_minutes), "--judge-minutes", str(judge_minutes)]
    options += ["--draft-minutes", str(draft_minutes), *(["--start", str(start)] if start else [])]
    return alone("predtui.lab.training.pocket", [*options, *(["--resume"] if resume else [])], threads)


@dataclass(frozen=True, slots=True)
class PocketTraining:
    """What to train: budgets of the three runs, and the options that they share."""

    target: Budget
    judge: Budget
    draft: Budget
    seed: int = 0
    threads: int = 2
    workers: int = 1
    resume: bool = False
    work: Path = WORK
    start: Path | None = None
    """A folder of a target and a draft whose weights and vocabulary the run begins with."""
    command: str = ""
    teaching: Recipe = TEACHING
    judging: Recipe = JUDGING
    drafting: Recipe = field(default_factory=Recipe)
    tokenizer_examples: int = TOKENIZER_EXAMPLES
    shapes: tuple[Shape, Shape] = (TARGET, DRAFT)
    judge_layers: int = JUDGE_LAYERS


@dataclass(frozen=True, slots=True)
class Lessons:
    """What each run is shown. The samplers must be importable by name, for the data workers."""

    target: Sampler
    judge: Sampler
    draft: Sampler
    known: int = 0
    """Pools of the target's stream that a model which is trained on has no need of."""


def train_pair(out: Path, training: PocketTraining, lessons: Lessons, console: Console) -> None:
    """Train in this process. The vocabulary is that of the draft's examples: the whole mixture."""
    if not (training.resume and (training.work / "tokenizer.json").exists()):
        for name in FOLDERS:  # of an earlier run, with another vocabulary: a later resume must not find them
            (training.work / name / CHECKPOINT).unlink(missing_ok=True)
        save_tokenizer(_vocabulary(training, lessons, console), training.work, training.shapes[0].context)
    tokenizer = load_tokenizer(training.work)
    target, draft = (replace(shape, vocab=tokenizer.get_vocab_size()) for shape in training.shapes)
    below = replace(target, layers=target.layers - training.judge_layers)
    start = {name: load_exported(training.start / name) for name in ("target", "draft")} if training.start else {}
    if training.start:
        start["judge"] = start["target"]

    def run(
        name: str,
        shape: Shape,
        recipe: Recipe,
        budget: Budget,
        sampler: Sampler,
        base: PocketModel | None = None,
        teacher: PocketModel | None = None,
    ) -> tuple[PocketModel, TrainingRecord]:
        save_tokenizer(tokenizer, training.work / name, shape.context)
        with reporter(f"pocket {name} ({shape.parameters / 1e6:.1f}M)", console) as report:
            model, record = train(
                shape,
                recipe,
                budget,
                training.work / name,
                sampler,
                base=base,
                start=start.get(name),
                teacher=teacher,
                first_pool=lessons.known if training.start and name == "target" else 0,
                seed=training.seed,
                threads=training.threads or os.cpu_count() or 1,
                workers=training.workers,
                resume=training.resume,
                report=report,
            )
        console.print(f"{name}: {record.steps} steps, {record.tokens:,} tokens, loss {record.loss:.3f} nats")
        return model, record

    def ship(name: str, model: PocketModel, record: TrainingRecord, **more: object) -> None:
        export(model, tokenizer, out / name, f"predtui pocket {name}")
        facts = {"command": training.command, "parameters": model.shape.parameters, **asdict(record), **more}
        (out / name / "training.json").write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")

    teaching = training.teaching.slowed(GENTLER) if training.start else training.teaching
    base, record = run("target", below, teaching, training.target, lessons.target)
    judging = run("judge", target, training.judging, training.judge, lessons.judge, base)
    ship("target", judging[0], record, judging=asdict(judging[1]))
    taught = run("draft", draft, training.drafting, training.draft, lessons.draft, teacher=judging[0])
    ship("draft", *taught, teacher="target")
    write_cards(out)


def _vocabulary(training: PocketTraining, lessons: Lessons, console: Console) -> Tokenizer:
    """The tokenizer of what the run begins with, else learned from the draft's examples."""
    if training.start:
        return load_tokenizer(training.start / "target")
    console.print("tokenizer: learning the vocabulary")
    texts = corpus_texts(lambda rng: lessons.draft(rng, 0), training.tokenizer_examples, training.seed)
    return train_tokenizer(texts, training.shapes[0].vocab)
