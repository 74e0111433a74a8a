"""The fuzz of the decoders finds nothing, and would find something."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from predtui.decoding.accept import ExactMatch
from predtui.decoding.draft import Draft
from predtui.lab.bench import fuzz_decoding
from predtui.llm.base import LoadedModel
from predtui.llm.load import load
from predtui.llm.rows import Rows
from predtui.llm.scripted import ScriptedModel
from predtui.registry import DECODERS, DRAFTERS
from tests.tiny_gguf import write


def test_nothing_fails(tmp_path: Path) -> None:
    assert fuzz_decoding.main(400, 5, json_path=tmp_path / "f.json") == 0
    (row,) = json.loads((tmp_path / "f.json").read_text())["rows"]
    assert row == {"patterns": 400, "near_ties": 0, "failed": 0}


def test_caches_of_llama_cpp_are_right_after_every_pattern(tmp_path: Path) -> None:
    models = [load(str(write(tmp_path / f"{seed}.gguf", seed)), threads=1) for seed in (0, 1)]
    cases = fuzz_decoding.run(100, 3, *models)
    for loaded in models:
        loaded.model.close()
    assert cases == []


def test_a_rule_that_lets_everything_pass_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def careless(self: ExactMatch, draft: Draft, rows: Rows, position: int) -> tuple[list[int], int]:
        path = list(range(len(draft.best_path().tokens))) if not draft.parents else []
        return path, self._choose(rows[path[-1] + 1 if path else 0], position + len(path))

    monkeypatch.setattr(ExactMatch, "walk", careless)
    assert any(case.decoder == "comparison" for case in fuzz_decoding.run(60, 5, *scripted()))


def test_a_memory_that_is_wrong_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    target, draft = scripted()
    assert isinstance(target.model, ScriptedModel)
    table = target.model._table
    monkeypatch.setattr(target.model, "forget", lambda keep=0: table.__iadd__(1))
    assert fuzz_decoding.run(5, 5, target, draft)


def scripted() -> tuple[LoadedModel, LoadedModel]:
    return load("7", "scripted"), load("8", "scripted")


@pytest.mark.parametrize(
    "drafter", [name for name, entry in DRAFTERS.items() if not entry.needs & {"datastore", "heads"}]
)
def test_every_drafter_gives_what_plain_decoding_gives(drafter: str) -> None:
    assert fuzz_decoding.run(20, 2, *scripted(), drafter=drafter) == []


@pytest.mark.parametrize("decoder", [name for name, entry in DECODERS.items() if not entry.alters])
def test_every_decoder_gives_what_plain_decoding_gives(decoder: str) -> None:
    cases = fuzz_decoding.run(4, 2, *scripted(), drafter="copyspec", decoder=decoder)
    assert cases == []
