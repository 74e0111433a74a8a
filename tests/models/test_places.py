"""A name finds what other programs have put on this machine, where it lies; what is not there is a line."""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import Callable
from pathlib import Path

import huggingface_hub
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from predtui.errors import PredtuiError
from predtui.llm.default import language_model
from predtui.llm.llamacpp.engine import file_of
from predtui.models.places import find, hugging_face, in_folder, inventory, kept_at, pulled
from predtui.settings import AUTO
from tests.models.homes import STUB, alone, cached, in_ollama, write


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    return alone(monkeypatch, tmp_path / "home")


def test_in_the_hugging_face_cache_by_name_and_quantisation(home: Path) -> None:
    names = ("x-Q4_K_M.gguf", "x-Q8_0.gguf", "mmproj-x-F16.gguf")
    folder = cached(hugging_face(), "Qwen/X-GGUF", {name: STUB + name.encode() for name in names})
    assert file_of("Qwen/X-GGUF") == folder / "x-Q4_K_M.gguf"
    assert file_of("Qwen/X-GGUF:q8_0") == folder / "x-Q8_0.gguf"
    assert find("https://huggingface.co/Qwen/X-GGUF/blob/main/x-Q8_0.gguf") == folder / "x-Q8_0.gguf"
    with pytest.raises(PredtuiError, match=r"Qwen/X-GGUF is here, but not as Q2_K. Get it: predtui models pull"):
        find("Qwen/X-GGUF:Q2_K")


def test_the_main_branch_of_the_cache_comes_first(home: Path) -> None:
    cached(hugging_face(), "a/b", {"x-Q8_0.gguf": STUB + b"old"}, commit="aaa", main=False)
    new = cached(hugging_face(), "a/b", {"x-Q8_0.gguf": STUB + b"new"}, commit="bbb")
    assert find("a/b") == new / "x-Q8_0.gguf"


def test_a_split_model_is_there_only_with_all_its_parts(home: Path) -> None:
    parts = {f"Q8_0/x-0000{number}-of-00003.gguf": STUB + bytes([number]) for number in (1, 2, 3)}
    folder = cached(hugging_face(), "a/b", parts)
    assert find("a/b:Q8_0") == folder / "Q8_0" / "x-00001-of-00003.gguf"
    (one,) = inventory()
    assert (one.title, one.size) == ("x", 3 * len(STUB) + 3)
    (folder / "Q8_0" / "x-00003-of-00003.gguf").unlink()
    assert inventory() == []
    with pytest.raises(PredtuiError, match="is here, but not as Q8_0"):
        find("a/b:Q8_0")


def test_in_ollama_by_its_manifest(home: Path) -> None:
    root = home / ".ollama" / "models"
    latest = in_ollama(root, "qwen3", "latest", STUB + b"1")
    other = in_ollama(root, "hf.co/bartowski/X-GGUF", "Q8_0", STUB + b"2")
    assert file_of("ollama:qwen3") == latest
    assert file_of("ollama:hf.co/bartowski/X-GGUF:Q8_0") == other
    assert {(one.model, one.quantisation, one.place) for one in inventory()} == {
        ("ollama:qwen3:latest", "Q4_K_M", "Ollama"),
        ("ollama:hf.co/bartowski/X-GGUF:Q8_0", "Q4_K_M", "Ollama"),
    }
    with pytest.raises(PredtuiError, match=r"Ollama has no model llama3:latest in .*ollama pull llama3:latest$"):
        find("ollama:llama3")


def other_weights(root: Path) -> None:
    in_ollama(root, mediaType="application/vnd.ollama.image.tensor")


def elsewhere(root: Path) -> None:
    in_ollama(root, digest="sha256:../../../etc/passwd")


def garbage(root: Path) -> None:
    in_ollama(root)
    (root / "manifests/registry.ollama.ai/library/qwen3/8b").write_bytes(b'{"layers": 3')


def lost(root: Path) -> None:
    in_ollama(root).unlink()


@pytest.mark.parametrize(
    ("spoil", "said"),
    [(other_weights, "no GGUF file"), (elsewhere, "no GGUF file"), (garbage, "no manifest"), (lost, "are missing")],
)
def test_a_manifest_that_cannot_be_followed_is_a_line(spoil: Callable[[Path], None], said: str, home: Path) -> None:
    spoil(home / ".ollama" / "models")
    with pytest.raises(PredtuiError, match=said):
        find("ollama:qwen3:8b")
    assert inventory() == []


@pytest.mark.parametrize("where", [".lmstudio/models", ".cache/lm-studio/models"])
def test_in_lm_studio_by_publisher_and_name(where: str, home: Path) -> None:
    path = write(home / where / "Qwen" / "X-GGUF" / "x-Q4_K_M.gguf")
    assert find("lmstudio:Qwen/X-GGUF") == find("Qwen/X-GGUF") == path
    with pytest.raises(PredtuiError, match=r"LM Studio's folders. Get it: predtui models pull Qwen/None"):
        find("lmstudio:Qwen/None")


def test_in_our_own_folder_by_name_and_by_address(home: Path) -> None:
    path = write(home / "own" / "Qwen" / "X-GGUF" / "x-Q4_K_M.gguf")
    address = "https://example.org/models/y.gguf?x=1"
    other = write(home / "own" / "example.org" / "y.gguf")
    assert (find("Qwen/X-GGUF"), pulled("Qwen/X-GGUF"), find(address)) == (path, path.parent, other)
    assert kept_at(address) == other
    write(home / "own" / ".incoming" / "a" / "half-Q4_0.gguf")
    assert {one.path for one in inventory()} == {path, other}
    with pytest.raises(PredtuiError, match=r"not on this machine. Get it: predtui models pull https"):
        find("https://example.org/z.gguf")


def test_in_the_folder_of_the_settings_by_file_and_by_name(home: Path) -> None:
    folder = home / "mine"
    big = write(folder / "big.gguf")
    other = write(folder / "Qwen" / "X" / "x-Q8_0.gguf")
    assert in_folder("big", str(folder)) == in_folder("big.gguf", str(folder)) == str(big)
    assert in_folder("Qwen/X:Q8_0", str(folder)) == str(other)
    assert in_folder("Qwen/Y", str(folder)) == "Qwen/Y"
    assert language_model("big", "llamacpp", folder=str(folder)) == str(big)
    assert language_model("pocket", "llamacpp", folder=str(folder)) == "pocket"
    assert {one.path for one in inventory(str(folder))} == {big, other}


def test_a_path_goes_before_a_name(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(home / "own" / "a" / "b" / "x-Q8_0.gguf")
    monkeypatch.chdir(home)
    assert find("a/b") == home / "own" / "a" / "b" / "x-Q8_0.gguf"
    (home / "a" / "b").mkdir(parents=True)
    assert find("a/b") == Path("a/b")


def test_a_name_of_nothing_says_what_was_looked_for_and_how_to_get_it() -> None:
    with pytest.raises(PredtuiError, match=r"no file a/b:Q4_0, nor a model a/b in .*: predtui models pull a/b:Q4_0;"):
        find("a/b:Q4_0")


def test_a_folder_of_a_language_model_is_found_and_a_recogniser_is_none(home: Path) -> None:
    for name, kind in (("x", "Qwen3ForCausalLM"), ("w", "WhisperForConditionalGeneration")):
        config = json.dumps({"architectures": [kind]}).encode()
        cached(hugging_face(), f"a/{name}", {"config.json": config, "model.safetensors": name.encode()})
    (one,) = inventory()
    assert (one.model, find("a/x", "folder")) == ("a/x", one.path)
    with pytest.raises(PredtuiError, match=r"holds no GGUF file. For a folder: --engine torch"):
        find("a/x")


def test_places_that_cannot_be_read_have_none(home: Path) -> None:
    write(home / "own", b"a file")
    write(home / ".ollama" / "models" / "manifests", b"a file")
    assert inventory("/proc/nothing") == inventory("~nosuchuser/x") == []


FILES = st.dictionaries(
    st.sampled_from(["x-Q4_0.gguf", "x-Q8_0.gguf", "sub/y-F16.gguf", "mmproj-F16.gguf", "README.md"]),
    st.binary(max_size=4),
    max_size=4,
)


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(st.sampled_from(["a/b", "a/c--d", "e/f.g"]), FILES, max_size=3))
def test_it_finds_what_the_library_of_the_cache_finds(home: Path, held: dict[str, dict[str, bytes]]) -> None:
    root = home / f"cache{len(os.listdir(home))}"
    os.environ["HF_HUB_CACHE"] = str(root)
    try:
        root.mkdir()
        for repository, files in held.items():
            cached(root, repository, files)
        theirs = {
            file.file_path
            for repository in huggingface_hub.scan_cache_dir(root).repos
            for revision in repository.revisions
            for file in revision.files
            if file.file_name.endswith(".gguf") and "mmproj" not in file.file_name
        }
        ours = inventory()
        assert {one.path.resolve() for one in ours} == {path.resolve() for path in theirs}
        assert all(find(one.model).resolve() == one.path.resolve() for one in ours)
    finally:
        del os.environ["HF_HUB_CACHE"]


@pytest.mark.parametrize(
    "chosen",
    [{}, {"HF_HOME": "~/hf"}, {"HF_HUB_CACHE": "/x/$USER"}, {"HUGGINGFACE_HUB_CACHE": "/y"}, {"XDG_CACHE_HOME": "/z"}],
)
def test_the_cache_is_where_the_library_has_it(chosen: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as changed:
        for name, value in chosen.items():
            changed.setenv(name, value)
        theirs = importlib.reload(huggingface_hub.constants).HF_HUB_CACHE
        assert str(hugging_face()) == theirs
    importlib.reload(huggingface_hub.constants)


@pytest.mark.parametrize("engine", ["llamacpp", "torch", "numpy"])
def test_a_model_without_a_name_is_the_usual_one(engine: str) -> None:
    assert language_model("", engine) == language_model(AUTO, engine)


@pytest.mark.parametrize("text", ["", "  "])
def test_nothing_is_the_name_of_no_file(text: str) -> None:
    with pytest.raises(PredtuiError, match=r"No model is named\. Name a file, a folder or a model"):
        find(text)
