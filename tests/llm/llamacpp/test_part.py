"""Some layers of a GGUF file are a file of their own: what llama.cpp computes with it is a network of these layers."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from predtui.errors import PredtuiError
from predtui.lab import random_gguf
from predtui.llm.gguf import read_header
from predtui.llm.llamacpp import part
from predtui.llm.load import load
from tests.tiny_gguf import write


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PREDTUI_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache" / part.FOLDER


def test_the_file_holds_these_layers_and_all_that_belongs_to_none(tmp_path: Path) -> None:
    whole = read_header(write(tmp_path / "whole.gguf", layers=5))
    path = part.file_of(whole, [1, 4])
    found = read_header(path)
    assert found.metadata == {**whole.metadata, "llama.block_count": 2}
    places = {"blk.1.": "blk.0.", "blk.4.": "blk.1."}
    source, data = whole.parts[0].read_bytes(), path.read_bytes()
    kept = 0
    for name, tensor in whole.tensors.items():
        layer = name[: name.index(".", 4) + 1] if name.startswith("blk.") else ""
        if layer in ("", *places):
            copied = found.tensors[places.get(layer, "") + name.removeprefix(layer)]
            assert data[copied.begin : copied.end] == source[tensor.begin : tensor.end]
            assert (copied.type, copied.shape) == (tensor.type, tensor.shape)
            kept += tensor.end - tensor.begin
    assert len(found.tensors) < len(whole.tensors)
    assert part.size_of(whole, [1, 4]) == kept


def test_it_is_written_once_and_the_ones_used_last_are_kept(tmp_path: Path, cache: Path) -> None:
    header = read_header(write(tmp_path / "whole.gguf", layers=6))
    first = part.file_of(header, [0])
    for number in range(part.KEPT):
        os.utime(first, (1, 1))
        state = first.stat().st_ino
        assert part.file_of(header, [0]) == first
        assert first.stat().st_ino == state
        os.utime(part.file_of(header, [number // 5, 5]), (2 + number, 2 + number))
        part.file_of(header, [0, 1 + number % 4])
    assert first.is_file()
    assert len([*cache.iterdir()]) <= part.KEPT, "and nothing that was half written"


def test_another_file_at_the_same_place_has_parts_of_its_own(tmp_path: Path) -> None:
    first = part.file_of(read_header(write(tmp_path / "whole.gguf", layers=3)), [0])
    assert part.file_of(read_header(write(tmp_path / "whole.gguf", 7, layers=3)), [0]) != first


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    header = read_header(write(tmp_path / "whole.gguf", layers=3))
    cache.parent.write_text("a file")
    with pytest.raises(PredtuiError, match="layers that draft cannot be written") as refused:
        part.file_of(header, [0])
    assert "PREDTUI_CACHE_DIR" in refused.value.remedy
    cache.parent.unlink()

    def full(_whole: Path, out: Path, _layers: object) -> None:
        out.write_bytes(b"GG")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(part, "write_layers", full)
    with pytest.raises(PredtuiError, match=r"\(\d+ MB\): No space left on device"):
        part.file_of(header, [0])
    assert not [*cache.iterdir()]


@pytest.mark.parametrize(
    ("family", "window"), [("gemma2", 16), ("lfm2", 0), ("mamba", 0), ("falcon-h1", 0), ("llama", 16)]
)
def test_layers_that_are_not_alike_stay_together(family: str, window: int, tmp_path: Path) -> None:
    path = random_gguf.write(tmp_path / "it.gguf", random_gguf.Shape(family, window=window))
    assert part.cuttable(read_header(path)) == 0


def test_what_a_file_tells_of_each_layer_keeps_them_together(tmp_path: Path) -> None:
    header = read_header(write(tmp_path / "whole.gguf", layers=3))
    assert part.cuttable(header) == 3
    assert part.cuttable(replace(header, arrays={"llama.attention.head_count": (2, 2, 2)})) == 0


def test_the_first_layers_are_a_network_of_so_many(tmp_path: Path) -> None:
    """The first ones of a file are those that a shorter file has."""
    long, short = (write(tmp_path / f"{layers}.gguf", layers=layers) for layers in (4, 2))
    whole, wanted = load(str(long), threads=1), load(str(short), threads=1)
    tokens = list(range(30))
    part_of = whole.model.part([0, 1])  # type: ignore[attr-defined]
    np.testing.assert_array_equal(part_of.forward(tokens, 9).logits, wanted.model.forward(tokens, 9).logits)
    whole.model.close()
    assert part_of.handle == 0, "closed with the model"
    wanted.model.close()
