"""The table of drafts for a target behind a network, on models without sense and a clock that is none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from predtui.clock import VirtualClock
from predtui.errors import PredtuiError
from predtui.lab.bench.hybrid import METHODS, WARM, HybridBench, main, milliseconds, result
from predtui.llm.load import load


def bench(ways: list[float]) -> HybridBench:
    target, draft = load("3", "scripted"), load("3", "scripted")
    prompts = [target.tokenizer.encode(text) for text in ("what is", "the sun", "made of", "and why")]
    return HybridBench(target, draft, prompts, ways, [20.0], 30, VirtualClock())


def test_a_row_a_way_and_method_and_every_reply_the_same() -> None:
    found = result(bench([0.0, 100.0]))["rows"]
    assert [(row["way_ms"], row["method"]) for row in found] == [
        (way, name) for way in (0.0, 100.0) for name in METHODS
    ]
    assert all(row["identical_share"] == 1 and row["n"] == 4 - WARM for row in found)
    streamed = [row for row in found if row["method"] == "streamed"]
    assert [row["requests"] for row in streamed] == [1, 1]
    assert streamed[0]["ms_per_token"] == pytest.approx(20)
    assert streamed[1]["ms_per_token"] > 20
    assert all(row["first_sentence_ms"] > 0 for row in found)


def test_the_figures_go_into_a_file_and_what_is_no_time_is_named(tmp_path: Path) -> None:
    main(bench([1.0]), tmp_path / "figures.json")
    assert len(json.loads((tmp_path / "figures.json").read_text())["rows"]) == len(METHODS)
    assert milliseconds("1,2.5", "--ways") == [1, 2.5]
    for given in ("", "1,x", "-1", "nan"):
        with pytest.raises(PredtuiError, match="--ways"):
            milliseconds(given, "--ways")
