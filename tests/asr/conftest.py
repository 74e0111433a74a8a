"""A tiny Whisper of random weights, and its decoder, for whoever needs one."""

from __future__ import annotations

from pathlib import Path

import pytest

from predtui.asr.whisperflow import ct2_weights
from predtui.asr.whisperflow.decoder import NumpyDecoder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its CTranslate2 folder, which PyTorch makes."""
    from tests.asr import tiny_whisper

    return tiny_whisper.make(tmp_path_factory.mktemp("tiny"))


@pytest.fixture(scope="module")
def decoder(folder: Path) -> NumpyDecoder:
    return NumpyDecoder(ct2_weights.read(folder, "decoder/"))
