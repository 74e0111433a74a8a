"""Voices in ONNX are pulled whole, and nothing but them, under the name by which they are spoken with."""

from __future__ import annotations

from pathlib import Path

import pytest

from predtui.errors import PredtuiError
from predtui.models.curated import source
from predtui.models.keep import kept
from predtui.models.names import parse
from predtui.settings import TtsSettings, models_folder
from predtui.tts.stage import synthesizer
from tests.models.hub import HubServer
from tests.models.test_pull import held, offered, pull, running, server  # noqa: F401
from tests.tts import onnx_voices

EVIL = {"pytorch_model.bin": b"\x80\x02", "voices/evil.pt": b"PK", "voices/evil/x.bin": b"PK", "README.md": b"#"}


def files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(("engine", "name"), [("kokoro", "kokoro-82m"), ("supertonic", "supertonic-3")])
def test_a_folder_of_a_voice_is_pulled_and_speaks(server: HubServer, tmp_path: Path, engine: str, name: str) -> None:  # noqa: F811
    published = files(getattr(onnx_voices, engine)(tmp_path / engine))
    repository = parse(source(name)).repository
    server.repositories[repository] = published | EVIL | {"onnx/model_q4.onnx": b"\x08"}
    if engine == "supertonic":
        del server.repositories[repository]["onnx/model_q4.onnx"]
    assert pull(server, name)
    assert held() == {f"{repository}/{file}": data for file, data in published.items()}
    assert offered(server, name).model == name
    assert list(synthesizer(TtsSettings(engine=engine)).synthesize("Hello."))
    assert list(synthesizer(TtsSettings(engine=engine, model=repository)).synthesize("Hello."))
    assert len(kept(name)) >= len(published)


def test_one_voice_of_a_repository_of_many_is_pulled_and_speaks(server: HubServer, tmp_path: Path) -> None:  # noqa: F811
    name = parse(source("piper-ljspeech"))
    own = onnx_voices.piper(tmp_path / "piper")
    there = {name.file: own.read_bytes(), f"{name.file}.json": Path(f"{own}.json").read_bytes()}
    server.repositories[name.repository] = {**there, "de/other.onnx": b"\x08", "de/other.onnx.json": b"{}", **EVIL}
    assert pull(server, "piper-ljspeech")
    assert set(held()) == {f"{name.repository}/{file}" for file in there}
    assert list(synthesizer(TtsSettings(engine="piper")).synthesize("Hello."))
    address = f"https://huggingface.co/{name.repository}/resolve/main/{name.file}"
    assert offered(server, address).model == address
    assert list(synthesizer(TtsSettings(engine="piper", model=address)).synthesize("Hello."))
    assert (models_folder() / name.repository / name.file) in kept("piper-ljspeech")


def test_a_size_that_is_named_is_the_one_that_comes(server: HubServer) -> None:  # noqa: F811
    server.repositories["a/v"] = {"onnx/model.onnx": b"\x08", "onnx/model_q8f16.onnx": b"\x08", "voices/a.bin": b"0"}
    assert pull(server, "a/v:q8f16")
    assert set(held()) == {"a/v/onnx/model_q8f16.onnx", "a/v/voices/a.bin"}
    with pytest.raises(PredtuiError, match=r"a/v lacks onnx/model_q2.onnx"):
        pull(server, "a/v:q2")


def test_a_network_that_does_not_begin_as_one_is_not_kept(server: HubServer) -> None:  # noqa: F811
    server.repositories["a/v"] = {"onnx/model.onnx": b"\x80\x02}q\x00.", "voices/a.bin": b"0"}
    with pytest.raises(PredtuiError, match=r"model.onnx is not what its name says, and is not kept"):
        pull(server, "a/v")
    assert not held()


def test_networks_without_voices_are_no_voice(server: HubServer) -> None:  # noqa: F811
    server.repositories["a/v"] = {"onnx/model.onnx": b"\x08", "config.json": b"{}"}
    with pytest.raises(PredtuiError, match="holds no GGUF and no safetensors"):
        offered(server, "a/v")
