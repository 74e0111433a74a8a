"""Which language model the setting ``auto`` means. Imports no engine."""

from __future__ import annotations

from predtui.llm.llamacpp import compile as build
from predtui.models.published import SMOLLM2, preferred
from predtui.models.shipped import POCKET
from predtui.settings import AUTO


def language_model(asked: str, engine: str, embedded: bool = False) -> str:
    """The model that ``llm.model`` asks for. ``auto``: the real one where it is installed and llama.cpp, which alone
    reads it, is there to run it. ``embedded``: only what ships."""
    if asked != AUTO:
        return asked
    real = engine == "llamacpp" and preferred(SMOLLM2, embedded) and build.available()
    return SMOLLM2.name if real else POCKET
