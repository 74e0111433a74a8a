"""The header of a GGUF file, whole or damaged."""

from __future__ import annotations

import itertools
import struct
import tempfile
from contextlib import nullcontext, suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from predtui.errors import PredtuiError
from predtui.llm.gguf import read_header
from predtui.llm.sizes.of_gguf import network_of
from tests.tiny_gguf import LAYERS


def test_what_a_file_says_of_itself_is_read(tiny_path: Path) -> None:
    header = read_header(tiny_path)
    assert header.metadata["general.architecture"] == "llama"
    assert header.metadata["llama.block_count"] == LAYERS
    assert "tokenizer.ggml.tokens" not in header.metadata
    assert header.size == tiny_path.stat().st_size
    assert header.weights == {(tensor.type, tensor.shape) for tensor in header.tensors.values()}
    spans = sorted((tensor.begin, tensor.end) for tensor in header.tensors.values())
    assert all(end <= begin for (_, end), (begin, _) in itertools.pairwise(spans))
    assert spans[-1][1] <= header.size


def test_what_is_no_model_is_refused_with_a_remedy(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("not a model")
    (tmp_path / "old").write_bytes(b"GGUF" + (1).to_bytes(4, "little") + bytes(64))
    for name, reason in (("text", "not a GGUF"), ("old", "version 1"), ("absent", "no model file"), (".", "a folder")):
        with pytest.raises(PredtuiError, match=reason) as refused:
            read_header(tmp_path / name)
        assert refused.value.remedy


@pytest.mark.parametrize("depth", [5, 2_000, 100_000])
def test_arrays_within_arrays_are_refused(depth: int, tmp_path: Path) -> None:
    key = struct.pack("<Q1sI", 1, b"a", 9)
    (tmp_path / "deep.gguf").write_bytes(
        b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + key + struct.pack("<IQ", 9, 1) * depth + struct.pack("<IQ", 0, 0)
    )
    with pytest.raises(PredtuiError, match="arrays within arrays"):
        read_header(tmp_path / "deep.gguf")


@pytest.mark.parametrize("words", [(b"a", b"b", b"a"), (b"a", b"a\0b")])
def test_a_vocabulary_with_a_word_twice_is_refused_and_with_nameless_ones_is_not(
    words: tuple[bytes, ...], tmp_path: Path
) -> None:
    for said, refused in ((words, True), ((b"a", b"", b"", b"b"), False)):
        key, texts = b"tokenizer.ggml.tokens", b"".join(struct.pack("<Q", len(word)) + word for word in said)
        (tmp_path / "a.gguf").write_bytes(
            b"GGUF"
            + struct.pack("<IQQQ", 3, 0, 1, len(key))
            + key
            + struct.pack("<IIQ", 9, 8, len(said))
            + texts
            + bytes(64)
        )
        with pytest.raises(PredtuiError, match="twice") if refused else nullcontext():
            read_header(tmp_path / "a.gguf")


@given(cut=st.floats(0, 1, exclude_max=True), damage=st.lists(st.tuples(st.integers(0, 400), st.integers(0, 255))))
@settings(deadline=None, max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_file_that_is_cut_short_is_refused_and_a_damaged_one_read_or_refused(
    cut: float, damage: list[tuple[int, int]], tiny_path: Path, tmp_path: Path
) -> None:
    content, end = tiny_path.read_bytes(), max(one.end for one in read_header(tiny_path).tensors.values())
    (tmp_path / "part.gguf").write_bytes(content[: int(cut * end)])
    with pytest.raises(PredtuiError):
        read_header(tmp_path / "part.gguf")
    changed = bytearray(content)
    for at, byte in damage:
        changed[at] = byte
    (tmp_path / "damaged.gguf").write_bytes(changed)
    with suppress(PredtuiError):
        header = read_header(tmp_path / "damaged.gguf")
        assert header.size == len(content)
        assert network_of(header).cache(256) >= 0


def test_a_header_that_ends_too_early_is_told_in_plain_words(tmp_path: Path) -> None:
    (tmp_path / "short.gguf").write_bytes(b"GGUF\3\0\0\0")
    with pytest.raises(PredtuiError, match=r"cut short in its header\. Fetch"):
        read_header(tmp_path / "short.gguf")


@given(st.lists(st.integers(0, 2**31 - 1), max_size=40), st.booleans())
def test_short_arrays_of_whole_numbers_are_kept(numbers: list[int], flags: bool) -> None:
    values = [number % 2 for number in numbers] if flags else numbers
    kind, form = (7, "B") if flags else (5, "i")
    key = b"llama.attention.head_count_kv"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.gguf"
        path.write_bytes(
            b"GGUF"
            + struct.pack("<IQQQ", 3, 0, 1, len(key))
            + key
            + struct.pack(f"<IIQ{len(values)}{form}", 9, kind, len(values), *values)
            + bytes(64)
        )
        assert read_header(path).arrays == {key.decode(): tuple(values)}
