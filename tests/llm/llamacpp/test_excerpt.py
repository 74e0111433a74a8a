"""The first layers of a GGUF file are a model of their own, with every type and shape of the whole."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

from predtui.llm.gguf import read_header
from predtui.llm.llamacpp import repacking
from predtui.llm.llamacpp.excerpt import write_excerpt
from predtui.llm.load import load
from tests.tiny_gguf import quantise, write


def rows(path: Path) -> np.ndarray:
    loaded = load(str(path), threads=1)
    logits = loaded.model.forward(list(range(20)), last=20).logits
    loaded.model.close()
    return logits


def test_it_computes_what_a_model_of_so_many_layers_does(tmp_path: Path) -> None:
    whole, one = write(tmp_path / "whole.gguf", layers=6), write(tmp_path / "one.gguf", layers=1)
    assert write_excerpt(whole, tmp_path / "part.gguf")
    assert read_header(tmp_path / "part.gguf").metadata == read_header(one).metadata
    np.testing.assert_array_equal(rows(tmp_path / "part.gguf"), rows(one))


@pytest.mark.parametrize("kind", ["Q8_0", "Q4_K", "Q2_K"])
def test_it_has_every_type_and_shape_of_a_mixture(kind: str, tmp_path: Path) -> None:
    plain = write(tmp_path / "plain.gguf", hidden=256, feed_forward=512, layers=16)
    whole = quantise(plain, tmp_path / "whole.gguf", kind, pure=False)
    part = tmp_path / "part.gguf"
    assert write_excerpt(whole, part)
    assert read_header(part).weights == read_header(whole).weights
    assert int(read_header(part).metadata["llama.block_count"]) < 16
    assert part.stat().st_size < whole.stat().st_size / 2


def test_one_that_would_be_all_of_it_is_not_written(tmp_path: Path) -> None:
    assert not write_excerpt(write(tmp_path / "one.gguf", layers=1), tmp_path / "part.gguf")
    assert not (tmp_path / "part.gguf").exists()


@pytest.mark.parametrize(("end", "files"), [("os.kill(os.getpid(), 11)", 1), ("sys.exit('no')", 2)])
def test_a_large_file_is_tested_by_its_first_layers_or_where_these_are_refused_whole(
    end: str, files: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PREDTUI_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(repacking, "_SMALL", 0)
    log = tmp_path / "log"
    code = f"import os, sys; open({str(log)!r}, 'a').write(os.path.basename(sys.argv[1]) + '\\n'); {end}"
    monkeypatch.setattr(repacking, "_CHILD", code)
    path = write(tmp_path / "whole.gguf", layers=6)
    assert not repacking.may_repack(path, read_header(path).weights, 1)
    assert log.read_text().split() == ["excerpt.gguf", "whole.gguf"][:files]
    assert not list((tmp_path / "cache").glob(".excerpt*"))


def test_a_tensor_beyond_4_gb_is_no_damage(tmp_path: Path) -> None:
    """A sparse file with one tensor far into it."""
    path, far = tmp_path / "large.gguf", 5 * 2**30
    tensor = struct.pack("<Q1sIQIQ", 1, b"x", 1, 8, 0, far)
    with path.open("wb") as file:
        file.write(b"GGUF" + struct.pack("<IQQ", 3, 1, 0) + tensor)
        file.truncate(far + 4096)
    assert read_header(path).parameters == 8
