from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from predtui.llm.base import LoadedModel
from predtui.llm.load import load
from tests.tiny_gguf import write


@pytest.fixture(scope="session")
def tiny_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("tiny") / "tiny.gguf")


@pytest.fixture(scope="module")
def tiny(tiny_path: Path) -> Iterator[LoadedModel]:
    loaded = load(str(tiny_path), threads=1)
    yield loaded
    loaded.model.close()
