"""Where a trainer writes by default: for a model that ships, where it ships; for another, under its own name."""

from __future__ import annotations

from pathlib import Path

import pytest

from predtui.errors import PredtuiError
from predtui.lab.commands.train import CLLM, HEADS, place_for
from predtui.models.shipped import place
from predtui.settings import trained_folder
from tests import tiny_folder

pytest.importorskip("transformers")


def test_what_ships_is_trained_where_it_ships_and_nothing_else_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PREDTUI_DATA_DIR", str(tmp_path / "data"))
    mine = tiny_folder.write(tmp_path / "mine")
    assert place_for("pocket", "heads", HEADS) == HEADS
    assert place_for("pocket", "cllm", CLLM).absolute() == place("pocket-cllm")
    assert place_for(str(mine), "heads", HEADS) == trained_folder() / "mine" / "heads"
    assert place_for(str(mine), "draft", HEADS) == tmp_path / "data" / "trained" / "mine" / "draft"


def test_a_model_that_is_not_here_is_told_of_before_anything_is_trained(tmp_path: Path) -> None:
    with pytest.raises(PredtuiError, match="gone"):
        place_for(str(tmp_path / "gone"), "heads", HEADS)
