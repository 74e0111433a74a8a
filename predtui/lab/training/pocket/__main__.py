"""``python -m predtui.lab.training.pocket``: train the pocket models that ship with predtui."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from predtui.commands.console import console
from predtui.lab.training.alone import ALLOCATOR, environment
from predtui.lab.training.pocket.config import Budget
from predtui.lab.training.pocket.train import WORK, Lessons, PocketTraining, train_pair
from predtui.models.shipped import output


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m predtui.lab.training.pocket", description=__doc__)
    parser.add_argument("--out", type=Path, default=output("pocket"), help="folder of the two models")
    parser.add_argument("--target-minutes", type=float, default=45.0)
    parser.add_argument("--judge-minutes", type=float, default=15.0, help="of the target's upper layers, which judge")
    parser.add_argument("--draft-minutes", type=float, default=8.0)
    parser.add_argument("--target-steps", type=int, help="reproducible: overrides the minutes")
    parser.add_argument("--judge-steps", type=int, help="reproducible: overrides the minutes")
    parser.add_argument("--draft-steps", type=int, help="reproducible: overrides the minutes")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--workers", type=int, default=1, help="processes that draw and tokenise data")
    parser.add_argument("--work", type=Path, default=WORK, help="folder of the checkpoints")
    parser.add_argument("--start", type=Path, help="folder of finished models to train on")
    parser.add_argument("--resume", action="store_true", help="go on from the last checkpoints, if any")
    return parser


def _budget(steps: int | None, minutes: float) -> Budget:
    return Budget(steps=steps) if steps is not None else Budget(minutes=minutes)


def main() -> int:
    """Returns the exit status: 130 when interrupted, after a checkpoint."""
    options = _parser().parse_args()
    if sys.platform == "linux" and any(os.environ.get(name) != value for name, value in ALLOCATOR.items()):
        command = [sys.executable, "-m", "predtui.lab.training.pocket", *sys.argv[1:]]
        os.execve(sys.executable, command, environment(options.threads))
    from predtui.lab.training.pocket.curriculum import WHOLE_MIXTURE, draft_lesson, judge_lesson, target_lesson

    training = PocketTraining(
        target=_budget(options.target_steps, options.target_minutes),
        judge=_budget(options.judge_steps, options.judge_minutes),
        draft=_budget(options.draft_steps, options.draft_minutes),
        seed=options.seed,
        threads=options.threads,
        workers=options.workers,
        resume=options.resume,
        work=options.work,
        start=options.start,
        command=" ".join(["python -m predtui.lab.training.pocket", *sys.argv[1:]]),
    )
    screen = console()
    try:
        train_pair(options.out, training, Lessons(target_lesson, judge_lesson, draft_lesson, WHOLE_MIXTURE), screen)
    except KeyboardInterrupt:
        screen.print("interrupted: saved; go on with --resume")
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
