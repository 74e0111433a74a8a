"""What predtui keeps of models: taken in without a copy where that can be, and removed without a trace of others'."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from predtui.errors import PredtuiError
from predtui.models.keep import kept, remove, sources, take_in
from predtui.models.places import find, hugging_face
from tests.models.homes import STUB, alone, cached, write


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    return alone(monkeypatch, tmp_path / "home")


def test_a_file_is_taken_in_by_a_link_and_found_by_its_name(home: Path) -> None:
    path = write(home / "downloads" / "My model (1)-Q8_0.gguf")
    name = take_in(path, sources(path))
    assert name == "imported/My-model-1-Q8_0"
    assert find(name).read_bytes() == STUB
    assert find(name).stat().st_ino == path.stat().st_ino
    path.unlink()
    assert find(name).exists()


def test_where_there_are_no_links_it_is_copied(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def link(source: Path, final: Path) -> None:
        raise OSError("another disk")

    monkeypatch.setattr(os, "link", link)
    path = write(home / "x-Q8_0.gguf")
    assert find(take_in(path, sources(path))).stat().st_ino != path.stat().st_ino


def test_all_parts_are_taken_in_or_none(home: Path) -> None:
    parts = [write(home / f"x-0000{number}-of-00002.gguf") for number in (1, 2)]
    assert sources(parts[0]) == tuple(parts)
    name = take_in(parts[0], sources(parts[0]))
    assert find(name).name == "x-00001-of-00002.gguf"
    parts[1].unlink()
    with pytest.raises(PredtuiError, match=r"x-00002-of-00002.gguf is missing"):
        sources(parts[0])


def test_of_a_folder_weights_and_data_alone(home: Path) -> None:
    for name in ("config.json", "model.safetensors", "tokenizer.json", "evil.py", "pytorch_model.bin"):
        write(home / "m" / name)
    names = {path.name for path in sources(home / "m")}
    assert names == {"config.json", "model.safetensors", "tokenizer.json"}
    assert find(take_in(home / "m", sources(home / "m")), "folder").name == "m"
    for path in (home / "nothing", write(home / "x.bin")):
        path.parent.mkdir(exist_ok=True)
        with pytest.raises(PredtuiError, match=r"no .gguf file"):
            sources(path)
    with pytest.raises(PredtuiError, match="holds no safetensors"):
        sources(home)


def test_one_quantisation_is_removed_or_all(home: Path) -> None:
    own = home / "own" / "a" / "m"
    small, large = write(own / "x-Q4_0.gguf"), write(own / "Q8_0" / "x-Q8_0.gguf")
    write(own / ".digests.json", b"{}")
    assert kept("a/m:Q8_0") == (large,)
    remove(kept("a/m:Q8_0"))
    assert small.exists()
    assert not large.parent.exists()
    remove(kept("a/m"))
    assert not (home / "own" / "a").exists()
    assert (home / "own").exists()


def test_nothing_of_others_is_removed(home: Path) -> None:
    folder = cached(hugging_face(), "a/m", {"x-Q8_0.gguf": STUB})
    outside = write(home / "x.gguf")
    for text, said in (
        ("a/m", "not predtui's to remove: .*x-Q8_0.gguf. Remove it where you got it."),
        (str(outside), "not predtui's to remove"),
        ("ollama:qwen3", "Remove it there: ollama rm qwen3"),
        ("a/none", "not among the models that predtui keeps"),
        (str(home / "own" / ".." / "x.gguf"), "not predtui's to remove"),
    ):
        with pytest.raises(PredtuiError, match=said):
            kept(text)
    assert (folder / "x-Q8_0.gguf").exists()
    assert outside.exists()
