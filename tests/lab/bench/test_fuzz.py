"""The fuzz of the speculator finds nothing, and would find something."""

from __future__ import annotations

import gc
import json
import sys
from pathlib import Path

import pytest

from predtui.decoding.accept import ExactMatch, Walk
from predtui.decoding.draft import Draft
from predtui.lab.bench import fuzz
from predtui.llm.rows import Rows


def test_nothing_fails(tmp_path: Path) -> None:
    assert fuzz.main(150, 5, tmp_path / "f.json") == 0
    (row,) = json.loads((tmp_path / "f.json").read_text())["rows"]
    assert (row["histories"], row["failed"]) == (150, 0)


def test_nothing_of_a_history_stays_in_memory() -> None:
    blocks = []
    for seed in range(3):
        fuzz.run(60, seed)
        gc.collect()
        blocks.append(sys.getallocatedblocks())
    assert blocks[2] - blocks[1] < 60


def test_a_verifier_that_lets_everything_pass_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def careless(self: ExactMatch, draft: Draft, rows: Rows, position: int) -> Walk:
        last = draft.evaluated
        return Walk([*range(last)], self._choose(rows[last], position + last))

    monkeypatch.setattr(ExactMatch, "walk", careless)
    assert fuzz.run(150, 5)
