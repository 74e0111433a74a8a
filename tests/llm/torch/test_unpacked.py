"""GGUF files in the torch engine: the same model as in llama.cpp, under the same name, or a refusal that says why."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from predtui.decoding.heads import digest
from predtui.errors import PredtuiError
from predtui.llm.load import load
from tests.llm.families import FAMILIES, write

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

KNOWN = {family.name: family for family in FAMILIES}


def file_of(folder: Path, name: str) -> Path:
    return write(folder / f"{name.replace(' ', '-')}.gguf", KNOWN[name])


@pytest.mark.parametrize("name", ["Llama 3", "Qwen2.5", "Mistral"])
def test_a_file_is_the_model_that_llama_cpp_runs(name: str, tmp_path: Path) -> None:
    path = file_of(tmp_path, name)
    unpacked, plain = load(str(path), "torch"), load(str(path), "llamacpp", threads=1)
    try:
        tokens = plain.tokenizer.encode("the tin hat of the inn")
        assert unpacked.tokenizer.encode("the tin hat of the inn") == tokens
        assert (unpacked.name, digest(unpacked.tokenizer)) == (plain.name, digest(plain.tokenizer))
        rows = [one.model.forward(tokens, len(tokens)).logits for one in (unpacked, plain)]
        np.testing.assert_allclose(rows[0][:, : rows[1].shape[1]], rows[1], atol=0.3)
        assert rows[0].argmax(axis=1).tolist() == rows[1].argmax(axis=1).tolist()
    finally:
        plain.model.close()


def test_an_architecture_that_transformers_does_not_unpack_is_named(tmp_path: Path) -> None:
    with pytest.raises(PredtuiError, match="architecture granite"):
        load(str(file_of(tmp_path, "Granite 3")), "torch")


def test_a_model_that_says_something_else_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from predtui.llm.torch import unpacked

    whole = unpacked.network

    def wrong(*about: Any) -> Any:
        network = whole(*about)
        with torch.no_grad():
            network.lm_head.weight.mul_(-1)
        return network

    path = file_of(tmp_path, "Llama 3")
    monkeypatch.setattr(unpacked, "network", wrong)
    with pytest.raises(PredtuiError, match=r"makes another model of .* than llama\.cpp does"):
        load(str(path), "torch")


def test_what_is_missing_or_cut_short_is_told(tmp_path: Path) -> None:
    path = file_of(tmp_path, "Llama 3")
    path.write_bytes(path.read_bytes()[:5000])
    with pytest.raises(PredtuiError, match="damaged or cut short"):
        load(str(path), "torch")
    with pytest.raises(PredtuiError, match="neither a folder nor a GGUF file"):
        load(str(tmp_path / "gone.gguf"), "torch")
