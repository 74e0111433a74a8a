"""Which language model a setting means. Imports no engine."""

from __future__ import annotations

from predtui.llm.llamacpp import compile as build
from predtui.llm.remote.address import reference
from predtui.models.places import in_folder
from predtui.models.published import SMOLLM2, preferred
from predtui.models.shipped import MODELS, POCKET
from predtui.settings import AUTO

REMOTE = "remote"
"""The engine whose models are those of a server."""


def language_model(asked: str, engine: str, embedded: bool = False, url: str = "", folder: str = "") -> str:
    """The model that ``llm.model`` asks for, by its path where it lies in ``folder``, as ``llm.folder`` names it.
    ``auto``, or nothing: the real one where it is installed and llama.cpp, which alone reads it, is there to run it.
    ``embedded``: only what ships. ``url``: where the server of the remote engine is."""
    if engine == REMOTE:
        return reference(url, asked)
    if asked not in (AUTO, ""):
        return in_folder(asked, "" if asked in (*MODELS, SMOLLM2.name) else folder)
    real = engine == "llamacpp" and preferred(SMOLLM2, embedded) and build.available()
    return SMOLLM2.name if real else POCKET
