from __future__ import annotations

from pathlib import Path

import pytest
import torch

from predtui.tts.zonos.checkpoint import load_model
from predtui.tts.zonos.codec import Codec
from predtui.tts.zonos.model import ZonosModel
from tests.tts.zonos import tiny_zonos


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder a variant, and one of the codec."""
    root = tmp_path_factory.mktemp("zonos")
    for name, variant in tiny_zonos.VARIANTS.items():
        tiny_zonos.write(root / name, variant)
    tiny_zonos.write_codec(root / "codec")
    return root


@pytest.fixture(scope="session")
def models(folder: Path) -> dict[str, ZonosModel]:
    """In float64, so that laws of real numbers hold to the last of 16 bits."""
    return {name: load_model(folder / name, "cpu", torch.float64) for name in tiny_zonos.VARIANTS}


@pytest.fixture(scope="session")
def codec(folder: Path) -> Codec:
    return tiny_zonos.codec(folder / "codec")
