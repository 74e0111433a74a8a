"""Folders of the Hugging Face hub in PyTorch, as an engine of the registry. Imports PyTorch when it is asked for one.

Must not know of networks.
"""

from __future__ import annotations

import importlib.util

from predtui.errors import PredtuiError
from predtui.llm.base import LoadedModel, ModelRequest
from predtui.llm.weights import no_gguf


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


def _check(model: str) -> None:
    no_gguf(model, "torch")
    if importlib.util.find_spec("torch") is None:
        raise PredtuiError("The torch engine needs PyTorch.", "Install it: pip install 'predtui[torch]'")
