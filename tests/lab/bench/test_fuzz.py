"""The fuzz of the speculator finds nothing, and would find something."""

from __future__ import annotations

import gc
import json
import sys
from pathlib import Path

import pytest

from predtui.decoding.base import Verification
from predtui.lab.bench import fuzz
from predtui.predgen.verifiers import GreedyVerifier


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
    def careless(self: GreedyVerifier, prompt: list[int], candidate: list[int], others: object) -> Verification:
        row = self._model.forward([*prompt, *candidate])[-1]
        return Verification(tuple(candidate), self._sampler.choose(row, len(candidate)), True)

    monkeypatch.setattr(GreedyVerifier, "verify", careless)
    assert fuzz.run(150, 5)
