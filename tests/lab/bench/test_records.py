"""Turns as rows: means over the turns that have the figure, shares, and methods held against the baseline."""

from __future__ import annotations

from typing import Any

import pytest

from predtui.lab.bench.records import TurnRecord, histograms, rows

PLAIN: dict[str, Any] = {
    "model": "m", "seed": 0, "dialogue": 0, "round": 1, "prompt": "why", "reply": "so", "outcome": "accept",
    "ttfs_ms": 40.0, "nfetfs": 4, "audio_latency_ms": 100.0, "identical": True, "logit_gap": 0.0, "right": None,
    "input_forwards": None, "foreseen": None, "tokens": 10, "generated": 10, "speech_forwards": None,
    "speech_positions": None, "forward_ms": 10.0, "foretold": False,
}  # fmt: skip


def turn(method: str, **changes: Any) -> TurnRecord:
    return TurnRecord(**PLAIN | {"method": method} | changes)


def test_a_method_is_held_against_the_baseline_turn_by_turn() -> None:
    table = rows(
        [
            turn("baseline"),
            turn("baseline", dialogue=1, audio_latency_ms=300.0),
            turn("greedy", audio_latency_ms=50.0, nfetfs=0, tokens=10, generated=40),
            turn("greedy", dialogue=1, audio_latency_ms=150.0, nfetfs=1, right=True, logit_gap=0.5, identical=False),
        ]
    )
    plain, ours = table
    assert [row["method"] for row in table] == ["baseline", "greedy"]
    assert plain["speedup"] == 1.0
    assert plain["accuracy"] is None
    assert (ours["speedup"], ours["audio_latency_ms"], ours["p50_ms"]) == (2.0, 100.0, 100.0)
    assert (ours["nfetfs"], ours["nfetfs_1_share"]) == (0.5, 1.0)
    assert (ours["identical_share"], ours["largest_gap"], ours["accuracy"]) == (0.5, 0.5, 1.0)
    assert ours["wasted_token_share"] == pytest.approx(1 - 20 / 50)


def test_a_turn_without_a_reply_counts_nowhere_but_in_n() -> None:
    row = rows([turn("greedy"), turn("greedy", dialogue=1, ttfs_ms=None, audio_latency_ms=None, nfetfs=0)])[0]
    assert (row["n"], row["ttfs_ms"], row["nfetfs"], row["audio_latency_ms"]) == (2, 40.0, 4.0, 100.0)
    assert row["speedup"] is None


def test_turns_are_counted_by_round_and_forwards() -> None:
    seen = [turn("greedy", nfetfs=n, round=number) for n, number in ((1, 1), (0, 1), (1, 1), (7, 2))]
    assert histograms([*seen, turn("greedy", ttfs_ms=None)]) == {"greedy": {1: {0: 1, 1: 2}, 2: {7: 1}}}
