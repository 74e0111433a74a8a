"""A model's folder with a named pipe in the place of a file: a line, in every engine that opens folders."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from predtui.asr.faster_whisper import check as check_whisper
from predtui.asr.whisperflow.files import find_model
from predtui.errors import PredtuiError
from predtui.files import only_files
from predtui.llm.base import ModelRequest
from predtui.settings import AsrSettings

HANG = 20.0
"""Seconds after which whoever reads the pipe is let go, and the test fails."""
LLAMA = (
    '{"model_type": "llama", "num_attention_heads": 1, "hidden_size": 2, "num_hidden_layers": 0, "rms_norm_eps": 1,'
    '"max_position_embeddings": 8, "vocab_size": 1, "intermediate_size": 1, "num_key_value_heads": 1}'
)


def in_torch(folder: Path) -> None:
    pytest.importorskip("transformers")
    from predtui.llm.torch.folder import describe

    describe(str(folder))


def in_numpy(folder: Path) -> None:
    from predtui.llm.numpy.folder import load

    load(ModelRequest(str(folder)))


def in_whisper(folder: Path) -> None:
    check_whisper(AsrSettings(model=str(folder)))


def in_whisperflow(folder: Path) -> None:
    find_model(AsrSettings(engine="whisperflow", model=str(folder)))


@contextmanager
def pipe(path: Path) -> Iterator[None]:
    """A named pipe that nobody writes to, until it is clear that somebody waits for it."""

    def let_go() -> None:
        with suppress(OSError):
            os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))

    path.parent.mkdir(exist_ok=True)
    os.mkfifo(path)
    timer = threading.Timer(HANG, let_go)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


@pytest.mark.parametrize("opens", [in_torch, in_numpy, in_whisper, in_whisperflow])
@pytest.mark.parametrize(
    "name", ["tokenizer.json", "tokenizer_config.json", "generation_config.json", "a.safetensors", "ctranslate2/a.json"]
)
def test_a_pipe_in_a_models_folder_is_a_line(opens: Callable[[Path], None], name: str, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(LLAMA, encoding="utf-8")
    with pipe(tmp_path / name), pytest.raises(PredtuiError, match="is a named pipe, not a file") as refused:
        opens(tmp_path)
    assert len(str(refused.value).splitlines()) == 1


@pytest.mark.parametrize("opens", [in_torch, in_numpy, in_whisper, in_whisperflow])
def test_a_pipe_for_a_configuration_is_a_line(opens: Callable[[Path], None], tmp_path: Path) -> None:
    with pipe(tmp_path / "config.json"), pytest.raises(PredtuiError, match=r"named pipe|holds no config") as refused:
        opens(tmp_path)
    assert len(str(refused.value).splitlines()) == 1


def test_links_to_files_and_to_nothing_are_no_pipes(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("", encoding="utf-8")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    (tmp_path / "c").symlink_to(tmp_path / "nothing")
    assert only_files(tmp_path) == tmp_path
