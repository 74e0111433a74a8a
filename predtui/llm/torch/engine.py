"""Folders of the Hugging Face hub, and GGUF files, in PyTorch, as an engine of the registry. Imports PyTorch when it is
asked for one.

Must not know of networks.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from contextlib import suppress

from predtui.errors import PredtuiError
from predtui.llm.base import LoadedModel, ModelRequest
from predtui.llm.torch.planning import find, planned
from predtui.settings import cache_folder


def load(request: ModelRequest) -> LoadedModel:
    """As ``folder.load``. Raises PredtuiError where there is no PyTorch, too."""
    _check(request.model)
    from predtui.llm.torch import folder

    return folder.load(request)


def describe(model: str) -> str:
    """As ``folder.describe``. Raises PredtuiError where there is no PyTorch, too."""
    _check(model)
    from predtui.llm.torch import folder

    return folder.describe(model)


def prepare(request: ModelRequest) -> Iterator[tuple[str, float]]:
    """What loading is about to do, and that nobody knows how far it is."""
    line = f"loading {request.model}"
    with suppress(PredtuiError):
        line += f": {planned(find(request.model), request).line}"
    yield line, -1.0


def _check(model: str) -> None:
    """Before PyTorch is imported, which takes seconds, and makes a folder: by its own choice a temporary one, where a
    stage may not write."""
    if importlib.util.find_spec("torch") is None:
        raise PredtuiError("The torch engine needs PyTorch.", "Install it: pip install 'predtui[torch]'")
    find(model)
    os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", str(cache_folder() / "torch"))
