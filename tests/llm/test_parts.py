"""A GGUF model in several files is one model, from its first file; what is missing is named."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import numpy as np
import pytest

from predtui.errors import PredtuiError
from predtui.llm.gguf import read_header
from predtui.llm.llamacpp.engine import describe
from predtui.llm.llamacpp.excerpt import write_excerpt
from predtui.llm.load import load
from tests.tiny_gguf import write


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("split") / "big.gguf", split=5, layers=4)


def files_of(first: Path) -> list[Path]:
    return sorted(first.parent.glob("big-*.gguf"))


def test_the_header_of_the_first_part_tells_of_all(first: Path, tmp_path: Path) -> None:
    whole, parts = read_header(write(tmp_path / "whole.gguf", layers=4)), read_header(first)
    assert len(files_of(first)) > 3
    assert parts.parts == tuple(files_of(first))
    assert parts.size == sum(path.stat().st_size for path in files_of(first))
    assert (parts.parameters, parts.weights, parts.tensors.keys()) == (
        whole.parameters,
        whole.weights,
        whole.tensors.keys(),
    )
    assert {tensor.part for tensor in parts.tensors.values()} == set(range(len(files_of(first))))
    assert f"{parts.size / 2**20:.1f} MB" in describe(str(first))


def test_it_computes_what_the_same_model_in_one_file_does(first: Path, tmp_path: Path) -> None:
    rows = []
    for path in (write(tmp_path / "whole.gguf", layers=4), first):
        loaded = load(str(path), threads=1)
        rows.append(loaded.model.forward(list(range(20)), last=20).logits)
        loaded.model.close()
    np.testing.assert_array_equal(*rows)


def test_an_excerpt_takes_tensors_from_all_parts(first: Path, tmp_path: Path) -> None:
    one = write(tmp_path / "one.gguf", layers=1)
    assert write_excerpt(first, tmp_path / "part.gguf")
    assert read_header(tmp_path / "part.gguf").tensors.keys() == read_header(one).tensors.keys()
    rows = []
    for path in (one, tmp_path / "part.gguf"):
        loaded = load(str(path), threads=1)
        rows.append(loaded.model.forward([1, 2, 3], last=3).logits)
        loaded.model.close()
    np.testing.assert_array_equal(*rows)


def test_any_part_that_is_missing_is_named(first: Path, tmp_path: Path) -> None:
    names = [path.name for path in files_of(first)]
    for seed in range(8):
        folder = tmp_path / str(seed)
        shutil.copytree(first.parent, folder)
        gone = sorted(random.Random(seed).sample(names[1:], 1 + seed % (len(names) - 1)))
        for name in gone:
            (folder / name).unlink()
        with pytest.raises(PredtuiError) as refused:
            read_header(folder / first.name)
        assert all(name in str(refused.value) for name in gone[:3])
        assert ("and" in refused.value.message.split("model, and")[1]) == (len(gone) > 3)
        assert "Fetch" in refused.value.remedy


def test_another_part_than_the_first_leads_to_the_first(first: Path) -> None:
    with pytest.raises(PredtuiError, match=rf"part 2 of .*{first.name}"):
        read_header(files_of(first)[1])


def test_parts_that_do_not_belong_together_are_refused(first: Path, tmp_path: Path) -> None:
    folder = tmp_path / "mixed"
    shutil.copytree(first.parent, folder)
    names = [path.name for path in files_of(first)]
    (folder / names[1]).write_bytes((first.parent / names[2]).read_bytes())
    with pytest.raises(PredtuiError, match="another part"):
        read_header(folder / names[0])
    shutil.copy(first, tmp_path / "renamed.gguf")
    with pytest.raises(PredtuiError, match="its name does not say so"):
        read_header(tmp_path / "renamed.gguf")


def test_a_part_that_is_cut_short_is_named(first: Path, tmp_path: Path) -> None:
    folder = tmp_path / "cut"
    shutil.copytree(first.parent, folder)
    last = files_of(first)[-1].name
    data = (folder / last).read_bytes()
    (folder / last).write_bytes(data[:-64])
    with pytest.raises(PredtuiError, match=rf"{last} is cut short"):
        read_header(folder / first.name)
