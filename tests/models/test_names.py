"""What a name says, and what the names of files tell."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui.errors import PredtuiError
from predtui.models.names import USUAL, Name, chosen, first_parts, parse, parts_of, quantisation, safe, title

WORD = st.from_regex(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,12}", fullmatch=True)


@pytest.mark.parametrize(
    ("text", "kind", "repository", "quantisation", "file"),
    [
        ("Qwen/Qwen3-0.6B-GGUF", "hub", "Qwen/Qwen3-0.6B-GGUF", "", ""),
        ("unsloth/Qwen3-4B-GGUF:Q4_K_M", "hub", "unsloth/Qwen3-4B-GGUF", "Q4_K_M", ""),
        ("ollama:qwen3", "ollama", "registry.ollama.ai/library/qwen3", "latest", ""),
        ("ollama:qwen3:8b", "ollama", "registry.ollama.ai/library/qwen3", "8b", ""),
        ("ollama:me/mine:1", "ollama", "registry.ollama.ai/me/mine", "1", ""),
        ("ollama:hf.co/bartowski/X-GGUF:Q8_0", "ollama", "hf.co/bartowski/X-GGUF", "Q8_0", ""),
        ("lmstudio:Qwen/Qwen3-GGUF:Q8_0", "lmstudio", "Qwen/Qwen3-GGUF", "Q8_0", ""),
        ("https://huggingface.co/a/b/resolve/main/sub/x.gguf?download=true", "hub", "a/b", "", "sub/x.gguf"),
        ("https://huggingface.co/a/b", "hub", "a/b", "", ""),
        ("https://example.org/x.gguf", "url", "/", "", ""),
        ("pocket", "path", "/", "", ""),
        ("models/x.gguf", "path", "/", "", ""),
        ("no/such/folder", "path", "/", "", ""),
        ("~/x/y", "path", "/", "", ""),
        ("../b", "path", "/", "", ""),
    ],
)
def test_every_form_of_a_name(text: str, kind: str, repository: str, quantisation: str, file: str) -> None:
    name = parse(text)
    assert (name.kind, name.repository, name.quantisation, name.file) == (kind, repository, quantisation, file)


@pytest.mark.parametrize(
    "text",
    [
        "ollama:", "ollama:../x", "ollama:a/b/c/d", "ollama:x:", "lmstudio:one", "lmstudio:../../x", "https://",
        "http://[::1/x", "https://huggingface.co/a/b/resolve/main/../../x.gguf",
    ],
)  # fmt: skip
def test_what_is_no_name_is_a_line(text: str) -> None:
    with pytest.raises(PredtuiError, match=r"^[^\n]+$"):
        parse(text)


@given(st.text())
def test_any_text_is_a_name_or_a_line(text: str) -> None:
    with suppress(PredtuiError):
        name = parse(text)
        assert name.kind in ("path", "hub", "ollama", "lmstudio", "url")
        assert ".." not in name.repository


@given(st.text())
def test_no_safe_name_leaves_its_folder(text: str) -> None:
    root = Path("/models/here")
    if safe(text):
        inside = (root / text).resolve()
        assert root in inside.parents
        assert "\\" not in text
        assert ":" not in text


@pytest.mark.parametrize("text", ["../x", "a/../../x", "/etc/passwd", "a//b", ".", "C:/x", "a\\b", "x\n", "~/x", ""])
def test_names_that_lead_elsewhere_are_not_safe(text: str) -> None:
    assert not safe(text)


@pytest.mark.parametrize(
    ("file", "told"),
    [
        ("Qwen3-4B-Q4_K_M.gguf", "Q4_K_M"),
        ("Qwen3-4B-UD-Q4_K_XL.gguf", "UD-Q4_K_XL"),
        ("gemma-3-1b-it-qat-Q4_0.gguf", "Q4_0"),
        ("gpt-oss-20b-mxfp4.gguf", "MXFP4"),
        ("model-f16.gguf", "F16"),
        ("x.IQ2_XXS.gguf", "IQ2_XXS"),
        ("Q8_0/x-00001-of-00002.gguf", "Q8_0"),
        ("model.gguf", ""),
        ("Qwen3-8B.gguf", ""),
    ],
)
def test_the_quantisation_stands_in_the_name(file: str, told: str) -> None:
    assert quantisation(file) == told


@given(WORD, st.integers(1, 30))
def test_every_part_knows_all_the_others(stem: str, count: int) -> None:
    parts = parts_of(f"Q8_0/{stem}-00001-of-{count:05}.gguf")
    assert len(parts) == count
    assert all(parts_of(part) == parts for part in parts)
    assert first_parts(parts) == [parts[0]]
    assert title("any", Path(parts[-1])) == stem


@given(st.sets(st.sampled_from([*USUAL, "Q2_K", "F16", "IQ4_XS"]), min_size=1), WORD)
def test_what_is_named_is_chosen_and_else_the_usual(there: set[str], stem: str) -> None:
    files = [f"{stem}-{one}.gguf" for one in there] + [f"mmproj-{stem}-F16.gguf", "imatrix.gguf", "config.json"]
    for one in there:
        assert chosen(files, one) == chosen(files, one.lower()) == f"{stem}-{one}.gguf"
    assert chosen(files, "Q3_K_M") == ""
    usual = next((one for one in USUAL if one in there), min(there))
    assert chosen(files, "") == f"{stem}-{usual}.gguf"


def test_titles() -> None:
    assert title("ollama:qwen3:8b", Path("/x/blobs/sha256-00")) == "qwen3:8b"
    assert title("a/b", Path("/x/Qwen3-Q4_0.gguf")) == "Qwen3-Q4_0"
    assert title("a/b", Path("/x/b.1")) == "b.1"
    assert Name("path", "x").repository == "/"
