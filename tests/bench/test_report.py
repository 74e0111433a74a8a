"""The benches that measure the app itself: their rows, on few prompts, without a word on how fast."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from predtui.bench import latency, lossless, startup
from predtui.bench.report import command, write


def test_speculation_commits_what_plain_decoding_gives() -> None:
    result = lossless.run(limit=8, seed=3)
    row = result["rows"][0]
    assert row["n"] >= 8
    assert row["identical_share"] == 1.0
    assert row["nfetfs"] < row["baseline_nfetfs"]
    assert result["diverged"] == []


def test_turns_nobody_heard_are_counted_and_not_averaged() -> None:
    heard = {"audio_latency_ms": 10.0, "baseline_audio_latency_ms": 30.0, "ttfs_ms": 4.0, "lossless": True}
    heard["key_ms"] = 2.0
    row = latency._row("typed", [heard, {}, {**heard, "audio_latency_ms": 20.0, "lossless": False}])
    assert (row["n"], row["of"], row["identical"]) == (2, 3, 1)
    assert (row["audio_latency_ms"], row["baseline_audio_latency_ms"]) == (15.0, 30.0)
    assert row["key_ms"] == 2.0
    nobody = latency._row("spoken", [{}])
    assert nobody["audio_latency_ms"] is nobody["key_ms"] is None


def test_prompts_to_time_are_plain_words() -> None:
    prompts = latency._prompts(10, seed=1)
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
