"""``python -m predtui.lab.training.cllm``: tune a model for Jacobi decoding, in the environment that trains fastest."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from predtui.commands.console import console
from predtui.errors import PredtuiError
from predtui.lab.training.alone import ALLOCATOR, environment
from predtui.lab.training.cllm.config import Recipe
from predtui.lab.training.pocket.config import Budget

WORK = Path("build/cllm")
"""Where replies and checkpoint stand, in a folder for each way to tune, relative to where the command is run."""


def parser() -> argparse.ArgumentParser:
    """The options of this command."""
    found = argparse.ArgumentParser(prog="python -m predtui.lab.training.cllm", description=__doc__)
    found.add_argument("--model", required=True, help="pocket, a folder, or a name in the local cache")
    found.add_argument("--out", type=Path, required=True, help="where the tuned model goes")
    found.add_argument("--prompts", type=Path, help="JSONL of conversations; the pocket corpus without it")
    found.add_argument("--minutes", type=float, default=8.0, help="collecting included")
    found.add_argument("--steps", type=int, help="reproducible: overrides the minutes")
    found.add_argument("--full", action="store_true", help="tune all weights, not adapters")
    found.add_argument("--muon-lr", type=float, default=Recipe().muon_lr, help="learning rate of matrices")
    found.add_argument("--seed", type=int, default=0)
    found.add_argument("--threads", type=int, default=2)
    found.add_argument("--work", type=Path, help=f"folder of replies and checkpoint; default: under {WORK}")
    found.add_argument("--resume", action="store_true", help="go on from the last checkpoint, if any")
    return found


def main(arguments: Sequence[str]) -> int:
    """The exit status: 130 when interrupted, after a checkpoint; 2 for what cannot be tuned."""
    options = parser().parse_args(arguments)
    from predtui.lab.training.cllm.tune import CllmTraining, tune

    training = CllmTraining(
        model=options.model,
        out=options.out,
        budget=Budget(steps=options.steps) if options.steps is not None else Budget(minutes=options.minutes),
        work=options.work or WORK / ("full" if options.full else "lora"),
        prompts=options.prompts,
        full=options.full,
        seed=options.seed,
        threads=options.threads,
        resume=options.resume,
        command=" ".join(["python -m predtui.lab.training.cllm", *arguments]),
        recipe=Recipe(muon_lr=options.muon_lr, adam_lr=options.muon_lr / 5),
    )
    screen = console()
    try:
        tune(training, screen)
    except KeyboardInterrupt:
        screen.print("interrupted: saved; go on with --resume")
        return 130
    except PredtuiError as error:
        print(f"predtui: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    if sys.platform == "linux" and any(os.environ.get(name) != value for name, value in ALLOCATOR.items()):
        threads = parser().parse_args().threads
        os.execve(
            sys.executable,
            [sys.executable, "-m", "predtui.lab.training.cllm", *sys.argv[1:]],
            environment(threads),
        )
    sys.exit(main(sys.argv[1:]))
