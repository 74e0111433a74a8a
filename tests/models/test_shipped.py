"""Where the shipped files are, seen from inside the checkout and from elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from predtui.models.shipped import MODELS, asset, model_folder, output, place, themes_folder


def test_every_shipped_model_has_one_file_of_weights_and_a_card() -> None:
    for name in MODELS:
        assert [path.name for path in model_folder(name).glob("model.*")] == ["model.gguf"]
        assert (model_folder(name) / "README.md").is_file()


def test_a_path_is_itself_and_a_name_is_a_folder() -> None:
    assert place("pocket") == model_folder("pocket")
    assert place("~/models/large.gguf") == Path.home() / "models" / "large.gguf"
    assert place("no/such/folder") == Path("no/such/folder")


def test_an_output_is_relative_inside_the_checkout_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(asset().parent)
    assert output("pocket") == Path("assets/pocket")
    monkeypatch.chdir(tmp_path)
    assert output("pocket") == asset("pocket")


def test_themes_ship() -> None:
    assert len(list(themes_folder().glob("*.toml"))) >= 8
