"""What is no language model is told what it is, and what to choose."""

from __future__ import annotations

import json
import pickle
import zipfile
from pathlib import Path

import pytest

from predtui.errors import PredtuiError
from predtui.llm.load import inspect, load
from tests.tiny_gguf import write


@pytest.mark.parametrize("look", [load, inspect])
@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"arch": "clip"}, "a vision projector"),
        ({"general__type": "mmproj"}, "a vision projector"),
        ({"general__type": "adapter"}, "a LoRA adapter"),
        ({"general__type": "imatrix"}, "how much weights matter"),
        ({"arch": "bert"}, "embeddings"),
        ({"arch": "qwen3", "qwen3__pooling_type": 3}, "embeddings"),
        ({"arch": "qwen3", "qwen3__pooling_type": 4}, "ranks texts"),
        ({"arch": "t5"}, "T5"),
    ],
)
def test_a_gguf_file_of_another_kind_is_refused_in_words(look, facts, words, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    path = write(tmp_path / "other.gguf", **facts)
    with pytest.raises(PredtuiError, match=words) as refused:
        look(str(path))
    assert str(path) in refused.value.message
    assert refused.value.remedy
    assert len(str(refused.value).splitlines()) == 1


def test_a_model_whose_file_says_that_it_is_one_is_none_of_them(tmp_path: Path) -> None:
    path = write(tmp_path / "model.gguf", general__type="model", llama__pooling_type=0)
    assert str(path) in inspect(str(path))


def test_files_of_other_forms_are_told_what_they_are(tmp_path: Path) -> None:
    header = json.dumps({"w": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}).encode()
    (tmp_path / "a.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + bytes(4))
    (tmp_path / "old.pt").write_bytes(pickle.dumps({"weights": [1.0]}))
    with zipfile.ZipFile(tmp_path / "pytorch_model.bin", "w") as archive:
        archive.writestr("data.pkl", pickle.dumps({}))
    (tmp_path / "page.gguf").write_text("<!DOCTYPE html><title>404</title>")
    (tmp_path / "pointer.gguf").write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n")
    (tmp_path / "ggml.bin").write_bytes(b"lmgg" + bytes(60))
    said = {
        "a.safetensors": "safetensors file, .*--engine torch --model FOLDER",
        "old.pt": "a pickle, which can run any code",
        "pytorch_model.bin": "a pickle, which can run any code",
        "page.gguf": "a web page",
        "pointer.gguf": "Git LFS",
        "ggml.bin": "given up",
    }
    for name, words in said.items():
        with pytest.raises(PredtuiError, match=words):
            inspect(str(tmp_path / name))
