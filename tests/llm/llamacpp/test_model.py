"""llama.cpp's own, on a tiny random-weight GGUF: branches, files of every kind of wrongness, silence."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from predtui.errors import PredtuiError
from predtui.llm.base import LoadedModel, ModelRequest
from predtui.llm.gguf import GgufHeader, read_header
from predtui.llm.load import inspect, load, preparing
from predtui.llm.threads import default_threads
from tests.tiny_gguf import write


def tokens(count: int, seed: int = 0) -> list[int]:
    return random.Random(seed).choices(range(256), k=count)


def test_a_token_more_is_evaluated_and_counted_once_whatever_goes_with_it(tiny: LoadedModel) -> None:
    model, known = tiny.model, tokens(40)
    whole = model.forward(known, last=39).logits
    model.forget()
    for end in range(2, 41):
        before = model.counters.tokens
        one = model.forward(known[:end]).logits
        assert model.counters.tokens - before == (1 if end > 2 else 2)
        np.testing.assert_array_equal(one[0], whole[end - 2])


def test_nothing_reaches_stderr(tiny_path: Path) -> None:
    code = (
        "import sys; from predtui.llm.load import load; from predtui.errors import PredtuiError\n"
        "load(sys.argv[1], threads=1).model.forward([1, 2, 3]).logits\n"
        "try: load(sys.argv[2])\nexcept PredtuiError: print('refused')"
    )
    other = write(tiny_path.with_name("other.gguf"), arch="nonesuch")
    done = subprocess.run(
        [sys.executable, "-c", code, str(tiny_path), str(other)], capture_output=True, text=True, check=True
    )
    assert (done.stdout.strip(), done.stderr) == ("refused", "")


@pytest.mark.parametrize("content", [b"", b"GG", b"hello, I am not a model", b"GGUF", b"GGUF" + b"\xff" * 400])
def test_what_is_no_gguf_is_named(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "odd.gguf"
    path.write_bytes(content)
    with pytest.raises(PredtuiError, match=r"odd\.gguf") as caught:
        load(str(path))
    assert caught.value.remedy


def test_a_missing_file_and_a_folder_are_named(tmp_path: Path) -> None:
    for path in (tmp_path / "gone.gguf", tmp_path):
        with pytest.raises(PredtuiError, match=path.name):
            load(str(path))


def test_an_unknown_architecture_is_named(tmp_path: Path) -> None:
    with pytest.raises(PredtuiError, match="unknown model architecture: 'nonesuch'") as caught:
        load(str(write(tmp_path / "odd.gguf", arch="nonesuch")))
    assert caught.value.remedy


def test_a_context_too_small_for_any_conversation_is_refused(tiny_path: Path) -> None:
    with pytest.raises(PredtuiError, match="A context of 5 tokens"):
        load(str(tiny_path), context=5)


@pytest.mark.parametrize("name", ["block_count", "embedding_length", "context_length"])
def test_a_model_of_nothing_is_refused(tiny_path: Path, tmp_path: Path, name: str) -> None:
    whole = bytearray(tiny_path.read_bytes())
    at = whole.index(f".{name}".encode()) + len(name) + 1 + 4  # the key, the type of its value, the value
    whole[at : at + 4] = bytes(4)
    path = tmp_path / "nothing.gguf"
    path.write_bytes(whole)
    with pytest.raises(PredtuiError, match=rf"{name} = 0"):
        load(str(path))


def test_a_file_cut_short_anywhere_is_refused(tiny_path: Path, tmp_path: Path) -> None:
    whole = tiny_path.read_bytes()
    path = tmp_path / "cut.gguf"
    points = {0, 4, 8, 23, 24, 100, len(whole) - 1, *random.Random(0).sample(range(len(whole)), 60)}
    for point in sorted(points):
        path.write_bytes(whole[:point])
        with pytest.raises(PredtuiError, match=r"cut\.gguf"):
            load(str(path))


def test_a_model_larger_than_memory_is_refused(tiny_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Little:
        total, available = 2**40, 1000

    monkeypatch.setattr("psutil.virtual_memory", lambda: Little)
    with pytest.raises(PredtuiError, match="memory"):
        load(str(tiny_path))


def test_inspect_reads_a_header(tiny_path: Path) -> None:
    assert "llama" in inspect(str(tiny_path))
    assert str(tiny_path) in inspect(str(tiny_path))


def test_an_unknown_engine_is_named() -> None:
    with pytest.raises(PredtuiError, match="steam"):
        load("pocket", engine="steam")


def test_small_models_take_few_threads() -> None:
    assert default_threads(1_000_000) == 1
    assert default_threads(10_000_000) == 1
    assert default_threads(7_000_000_000) <= 4


def test_a_header_is_read_once_from_the_line_to_the_model(tiny_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[Path] = []

    def reading(path: Path) -> GgufHeader:
        read.append(path)
        return read_header(path)

    for module in ("engine", "weights"):
        monkeypatch.setattr(f"predtui.llm.llamacpp.{module}.read_header", reading)
    as_stored = ModelRequest(str(tiny_path), threads=1, weights="stored")  # else a self-test may come first, and say so
    ((line, _),) = preparing("llamacpp", as_stored)
    assert " of weights, " in line
    load(str(tiny_path), threads=1, weights="stored").model.close()
    assert read == [tiny_path]
    load(str(tiny_path), threads=1, weights="stored").model.close()
    assert read == [tiny_path] * 2
