"""What was trained for a model has a folder of its own, whatever the model is called."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui.decoding.assembly import DecodingOptions
from predtui.models.trained import trained_for


@given(st.text())
def test_no_name_leads_out_of_the_folder(name: str) -> None:
    place = trained_for(name, "heads", Path("/data/trained"))
    assert place.parent.parent == Path("/data/trained")
    assert place.parent.name not in ("", ".", "..")


@pytest.mark.parametrize("model", ["smollm2", "qwen3:8b", "hf.co/some/one", "SmolLM2-135M-Instruct.Q4_1"])
def test_heads_and_a_draft_are_found_where_no_others_are_named(model: str, tmp_path: Path) -> None:
    options = DecodingOptions(trained=str(tmp_path))
    assert options.of(model) == options
    heads, draft = (trained_for(model, kind, tmp_path) for kind in ("heads", "draft"))
    for folder in (heads, draft):
        folder.mkdir(parents=True)
    found = options.of(model)
    assert (found.heads, found.draft) == (str(heads), str(draft))
    named = DecodingOptions(trained=str(tmp_path), heads="mine", draft="small.gguf").of(model)
    assert (named.heads, named.draft) == ("mine", "small.gguf")
    assert options.of("another") == options


def test_what_ships_keeps_its_draft(tmp_path: Path) -> None:
    trained_for("pocket", "draft", tmp_path).mkdir(parents=True)
    assert DecodingOptions(trained=str(tmp_path)).of("pocket").draft == "pocket-draft"
