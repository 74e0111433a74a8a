"""The table of Jacobi decoding, on models without sense."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from predtui.errors import PredtuiError
from predtui.lab.bench.jacobi import main, run


def test_a_row_a_decoder_and_every_reply_identical() -> None:
    result = run(["3", "4"], "scripted", [4, 8], limit=3, seed=1, threads=0)
    assert [row["decoder"] for row in result["rows"]] == ["ar", "jacobi 4", "jacobi 8"] * 2
    assert all(row["identical_share"] == 1 for row in result["rows"])
    assert [row["tokens_per_forward"] for row in result["rows"] if row["decoder"] == "ar"] == [1, 1]
    assert all(row["tokens_per_forward"] >= 1 for row in result["rows"])


def test_the_figures_go_into_a_file_and_wrong_blocks_are_named(tmp_path: Path) -> None:
    main(["3"], "scripted", "4", 2, 1, 0, 40, tmp_path / "figures.json")
    assert len(json.loads((tmp_path / "figures.json").read_text())["rows"]) == 2
    for blocks in ("4,x", "0", ""):
        with pytest.raises(PredtuiError, match="--blocks"):
            main(["3"], "scripted", blocks, 2, 1, 0, 40, None)
