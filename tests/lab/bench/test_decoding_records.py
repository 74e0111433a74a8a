"""Replies as rows: speeds over all tokens and seconds, and against vanilla on the same task."""

from __future__ import annotations

from typing import Any

import pytest

from predtui.decoding.costs.iterations import Iteration
from predtui.lab.bench.decoding_records import ReplyRecord, as_line, iterations, rows


def reply(method: str, seconds: float, task: str = "t", **changes: Any) -> ReplyRecord:
    plain: dict[str, Any] = {
        "prompt": "why", "tokens": 11, "ttft_ms": 100.0, "forwards": 11, "proposed": 0, "accepted": 0,
        "drafting": 0.0, "drafts": 0, "depths": (0, 0),
        "divergence": -1, "logit_gap": 0.0,
    }  # fmt: skip
    return ReplyRecord(task=task, method=method, seconds=seconds, **plain | changes)


def test_a_method_is_compared_with_vanilla_on_its_own_task() -> None:
    table = rows(
        [
            reply("vanilla", 1.1),
            reply("fast", 0.6, forwards=5, proposed=8, accepted=6, drafting=0.15, drafts=4, depths=(3, 2)),
            reply("vanilla", 2.2, "u"),
            reply("fast", 2.2, "u", ttft_ms=None),
        ]
    )
    fast, slow = table[1], table[3]
    assert (fast["speedup"], fast["relative_ttft"]) == (pytest.approx(1.1 / 0.6, abs=1e-3), 1.0)
    assert fast["decode_speedup"] == 2.0  # a second after the first token, against half a second
    assert (fast["acceptance_rate"], fast["tokens_per_forward"]) == (0.75, 2.2)
    assert (fast["draft_share"], fast["accepted_by_depth"]) == (0.25, [0.75, 0.5])
    assert (slow["speedup"], slow["ttft_ms"], slow["relative_ttft"], slow["acceptance_rate"]) == (1.0, None, None, None)


def test_a_reply_that_differs_says_where_and_by_how_much() -> None:
    record = reply("fast", 1.0, divergence=3, logit_gap=0.25)
    assert rows([reply("vanilla", 1.0), record])[1]["identical_share"] == 0.0
    assert "differs at 3 (gap 0.25)" in as_line(record)
    assert "identical" in as_line(reply("fast", 0.0))


def test_iterations_that_run_side_by_side_overlap() -> None:
    one = Iteration(wall=0.3, target=0.3, draft=0.2, tokens=2, sequences=1, first=True)
    two = Iteration(wall=0.3, target=0.3, draft=0.2, tokens=4, sequences=3, first=False)
    row = iterations({("t", "duo"): [one, two]})[0]
    assert (row["overlap"], row["tokens"], row["sequences"]) == (1.0, 3.0, {1: 1, 3: 1})
    assert row["table_4"] == {"actual =1, predicted =1": 0.5, "actual >1, predicted >1": 0.5}
