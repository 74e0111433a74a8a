"""What is inside of models around models."""

from __future__ import annotations

from typing import Any

from predtui.llm.around import ModelAround
from predtui.llm.base import LanguageModel


def innermost(model: LanguageModel) -> Any:
    """The engine's own."""
    while isinstance(model, ModelAround):
        model = model._model
    return model
