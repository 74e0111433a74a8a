"""``predtui train asr``: corpus, tokenizer, training, export and card of the pocket Whisper, from a seed.

Runs in a process of its own, whose allocator settings make training faster (see predtui.lab.training.pocket.train).
Work in progress stands in its own folder; the shipped one changes when the model is finished.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import torch
from tokenizers import Tokenizer

from predtui.asr.whisperflow.files import FAST, fast_form
from predtui.commands.console import console
from predtui.lab.training.alone import alone
from predtui.lab.training.asr.batches import Batches
from predtui.lab.training.asr.card import write_card
from predtui.lab.training.asr.config import FRAMES_A_SECOND, ONWARDS, Crops, Recipe, Shape
from predtui.lab.training.asr.corpus import build
from predtui.lab.training.asr.evaluate import quality
from predtui.lab.training.asr.export import export, grown, load_whisper
from predtui.lab.training.asr.loop import CHECKPOINT, Run, Trainee, describe, teach_head
from predtui.lab.training.asr.sentences import sentences
from predtui.lab.training.asr.tokenizer import TEXT_TOKENS, add_timestamps, save_tokenizer, train_tokenizer
from predtui.lab.training.pocket.config import Budget
from predtui.lab.training.pocket.report import bar
from predtui.models.shipped import output

WORK = Path("build/asr")
EXPORTED = "exported"
"""Folder in the work folder for both forms of the finished model; the 8-bit one ships."""
UTTERANCES = 32_000
TOKENIZER_SENTENCES = 30_000
MEASURED = 300
"""Held-out sentences a row of the card."""
MEASURED_SEED = 2
"""Theirs: all runs are measured on the same."""


@dataclass(frozen=True, slots=True)
class AsrTraining:
    """What to train, and where the work stands."""

    minutes: float
    seed: int
    threads: int
    resume: bool
    utterances: int
    work: Path
    command: str
    start: Path | None = None
    """A folder, in either form, of a model of the same shape or with a shorter window, whose weights and words the run
    begins with."""


def train_asr(
    out: Path,
    minutes: float,
    seed: int,
    threads: int,
    resume: bool,
    start: Path | None = None,
    utterances: int = UTTERANCES,
) -> int:
    """Train and write ``out``. The exit status, where there is still a process to have it."""
    options = ["--out", str(out), "--minutes", str(minutes), "--seed", str(seed), "--threads", str(threads)]
    options += ["--utterances", str(utterances), *(["--start", str(start)] if start else [])]
    return alone("predtui.lab.training.asr.train", [*options, *(["--resume"] if resume else [])], threads)


def train(out: Path, training: AsrTraining) -> None:
    """Corpus, tokenizer and checkpoint into ``training.work``; the finished model, measured, into ``out``."""
    torch.set_num_threads(training.threads)
    screen = console()
    record = training.start / "training.json" if training.start else None
    before = json.loads(record.read_text(encoding="utf-8")) if record and record.exists() else None
    screen.print("corpus: speaking")
    corpus = build(training.work / "corpus", training.utterances, training.seed, training.threads)
    screen.print(f"corpus: {len(corpus)} utterances, {corpus.hours:.1f} h")
    shape = Shape()
    tokenizer = vocabulary(training, shape)
    if tokenizer.get_vocab_size() != shape.vocab:
        raise RuntimeError(f"a vocabulary of {tokenizer.get_vocab_size()} tokens, not {shape.vocab}")
    trainee = Trainee(shape, TEXT_TOKENS, training.seed)
    if training.start:
        trainee.whisper.load_state_dict(grown(load_whisper(training.start), shape).state_dict())
    recipe = ONWARDS if training.start else Recipe()
    batches = Batches(corpus, tokenizer, shape, recipe.batch, Crops(), training.seed)
    if training.start and not (training.resume and (training.work / CHECKPOINT).exists()):
        teach_head(trainee, batches)
    with bar("pocket Whisper", screen, describe) as report:
        run = Run(trainee, batches, recipe, Budget(minutes=training.minutes), training.work, report)
        counters = run(training.seed, training.resume)
    export(trainee.whisper, tokenizer, training.work / EXPORTED)
    shutil.copytree(training.work / EXPORTED / FAST, out / FAST, dirs_exist_ok=True)
    screen.print("measuring")
    facts = {
        "command": training.command,
        "hours": round(corpus.hours, 1),
        "utterances": len(corpus),
        "threads": training.threads,
        "count": MEASURED,
        "before": before,
    }
    write_card(out, shape, counters, facts, quality(out / FAST, MEASURED, MEASURED_SEED, training.threads))


def vocabulary(training: AsrTraining, shape: Shape) -> Tokenizer:
    """The run's tokenizer: that of what it goes on from, else learned from the sentences."""
    seconds = shape.window / FRAMES_A_SECOND
    if training.start:
        tokenizer = Tokenizer.from_file(str(fast_form(training.start) / "tokenizer.json"))
        add_timestamps(tokenizer, seconds)
        return tokenizer
    path = training.work / "tokenizer.json"
    if training.resume and path.exists() and (training.work / CHECKPOINT).exists():
        return Tokenizer.from_file(str(path))
    tokenizer = train_tokenizer(islice(sentences(training.seed), TOKENIZER_SENTENCES), seconds)
    save_tokenizer(tokenizer, training.work)
    return tokenizer


def main() -> int:
    """Returns the exit status: 130 when interrupted, after a checkpoint."""
    parser = argparse.ArgumentParser(prog="python -m predtui.lab.training.asr.train", description=__doc__)
    parser.add_argument("--out", type=Path, default=output("whisper"))
    parser.add_argument("--minutes", type=float, default=45.0)
    parser.add_argument("--utterances", type=int, default=UTTERANCES)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--resume", action="store_true", help="go on from the last checkpoint, if any")
    parser.add_argument("--start", type=Path, help="a finished model of no longer window, to go on from")
    chosen = parser.parse_args()
    command = f"predtui train asr --minutes {chosen.minutes:g} --seed {chosen.seed}"
    command += f" --utterances {chosen.utterances}" if chosen.utterances != UTTERANCES else ""
    command += f" --start {chosen.start}" if chosen.start else ""
    threads = chosen.threads or os.cpu_count() or 1
    training = AsrTraining(
        chosen.minutes, chosen.seed, threads, chosen.resume, chosen.utterances, WORK, command, chosen.start
    )
    try:
        train(chosen.out, training)
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
