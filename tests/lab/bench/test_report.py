"""The benches that measure the app itself: their rows, on few prompts, without a word on how fast."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from predtui.lab.bench import latency, lossless, startup
from predtui.lab.bench.report import command, write


def test_speculation_commits_what_plain_decoding_gives() -> None:
    result = lossless.run(limit=8, seed=3)
    row = result["rows"][0]
    assert row["n"] >= 8
    assert row["identical_share"] == 1.0
    assert row["nfetfs"] < row["baseline_nfetfs"]
    assert result["diverged"] == []


def test_turns_nobody_heard_are_counted_and_not_averaged() -> None:
    heard = {"audio_latency_ms": 10.0, "baseline_audio_latency_ms": 30.0, "ttfs_ms": 4.0, "lossless": True}
    heard |= {"key_ms": 2.0, "round": 1, "foretold": True}
    late = {**heard, "audio_latency_ms": 40.0, "lossless": False, "round": 2}
    row = latency.row("typed", [heard, {}, late], forward_ms=5.0)
    assert (row["n"], row["of"], row["identical_share"], row["foretold_share"]) == (2, 3, 0.5, 1.0)
    assert (row["audio_latency_ms"], row["baseline_audio_latency_ms"], row["speedup"]) == (25.0, 30.0, 1.2)
    assert (row["first_turn_speedup"], row["slower_turns"], row["most_lost_ms"]) == (3.0, 1, 10.0)
    assert row["key_ms"] == 2.0
    nobody = latency.row("spoken", [{}], forward_ms=5.0)
    assert nobody["audio_latency_ms"] is nobody["key_ms"] is nobody["slower_turns"] is None


def test_prompts_to_time_are_plain_words() -> None:
    prompts = [dialogue.turns[0].text for dialogue in latency.asked("pocket", 10, 1, 600, 1)]
    assert len(set(prompts)) == 10
    assert all(prompt == prompt.lower() and prompt.replace(" ", "").isalpha() for prompt in prompts)


def test_peak_memory_is_read_and_absence_is_zero() -> None:
    assert startup.peak_mb(os.getpid()) > 1
    assert startup.peak_mb(2**22 + 1) == 0


def test_json_is_one_object(tmp_path: Path) -> None:
    write({"rows": []}, tmp_path / "out.json")
    assert json.loads((tmp_path / "out.json").read_text()) == {"rows": []}
    write({"rows": []}, None)


def test_the_command_is_the_same_wherever_its_figures_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["/bin/predtui", "bench", "x", "--json", "a.json", "--limit", "3", "--plot=b.svg"])
    assert command() == "predtui bench x --limit 3"
