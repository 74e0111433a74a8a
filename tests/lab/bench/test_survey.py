"""The table of all drafters: two runs joined, and what each method's training took."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from predtui.lab.bench.survey import as_markdown, cells, joined, trained
from predtui.models.shipped import asset


def row(method: str, **changes: Any) -> dict[str, Any]:
    plain = {
        "method": method, "n": 3, "tokens_per_forward": 2.0, "acceptance_rate": 0.5, "accepted_by_depth": [1.0, 0.5],
        "draft_share": 0.1, "speedup": 1.5, "identical_share": 1.0, "right_share": None,
    }  # fmt: skip
    return plain | changes


def test_drafts_are_told_by_the_priced_run_and_time_by_both() -> None:
    real = row("eagle", speedup=1.1, draft_share=0.4, tokens_per_forward=9.0, identical_share=0.5)
    (found,) = joined([real], [row("eagle")])
    assert (found["real"], found["priced"], found["draft_share"]) == (1.1, 1.5, 0.4)
    assert (found["tokens_per_forward"], found["identical_share"]) == (2.0, 0.5)


def test_the_training_is_that_of_the_weights_a_method_drafts_with(tmp_path: Path) -> None:
    (tmp_path / "eagle").mkdir()
    (tmp_path / "eagle" / "heads.safetensors").write_bytes(bytes(10))
    (tmp_path / "eagle" / "training.json").write_text(json.dumps({"minutes": 8.5}), encoding="utf-8")
    draft = asset("pocket", "draft")
    assert trained("eagle", tmp_path, draft) == {"bytes": 10, "minutes": 8.5}
    assert trained("model", tmp_path, draft)["bytes"] == (draft / "model.gguf").stat().st_size
    assert trained("lookup", tmp_path, draft) == trained("hydra", tmp_path, draft) == {"bytes": None, "minutes": None}


def test_weights_that_a_draft_has_for_two_engines_count_once(tmp_path: Path) -> None:
    for name, size in (("model.gguf", 7), ("model.safetensors", 9)):
        (tmp_path / name).write_bytes(bytes(size))
    (tmp_path / "training.json").write_text(json.dumps({"seconds": 60}), encoding="utf-8")
    assert trained("model", tmp_path, tmp_path) == {"bytes": 7, "minutes": 1.0}


def test_a_row_has_a_cell_for_each_column_of_the_head() -> None:
    rows = [{**one, "bytes": None, "minutes": None} for one in joined([row("vanilla")], [row("vanilla")])]
    found = {"rows": rows, "machine": "here", "priced": "there", "command": "predtui bench survey"}
    head, line = cells(found)
    assert len(head) == len(line)
    assert line[:3] == ["vanilla", "2.00", "1.00, 0.50"]
    assert as_markdown(found).splitlines()[2].startswith("| vanilla | 2.00 |")
