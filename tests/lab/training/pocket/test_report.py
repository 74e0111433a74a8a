"""News of a run: a line with units, now and then in a log file, always at the end."""

from __future__ import annotations

import io
from dataclasses import replace

from rich.console import Console

from predtui.lab.training.pocket.loop import Progress
from predtui.lab.training.pocket.report import describe, reporter

NEWS = Progress(step=3, loss=1.25, judge_accuracy=0.5, rate=0.5, tokens_per_second=1234.4, share=0.25, seconds=20.4)


def test_a_line_says_everything_with_its_unit() -> None:
    assert describe(NEWS) == "step 3  loss 1.250 nats  judge 50 %  rate 0.50  1,234 tok/s  1:01 left"
    assert "judge" not in describe(replace(NEWS, judge_accuracy=None))


def test_a_log_tells_the_first_and_the_last_of_many() -> None:
    log = io.StringIO()
    with reporter("draft", Console(file=log)) as report:
        for share in (0.25, 0.5, 0.75, 1.0):
            report(replace(NEWS, share=share))
    lines = log.getvalue().splitlines()
    assert [line.split()[:2] for line in lines] == [["draft", "25"], ["draft", "100"]]
