"""Where the shipped files are: in the wheel, or at the root of a checkout. Must not know what is in them."""

from __future__ import annotations

import contextlib
from pathlib import Path

from predtui.files import resolve

_PACKAGE = Path(__file__).resolve().parent.parent

POCKET, POCKET_DRAFT = "pocket", "pocket-draft"
MODELS = {POCKET: ("pocket", "target"), POCKET_DRAFT: ("pocket", "draft"), "pocket-cllm": ("cllm",)}
"""The language models that ship with predtui: name to folder among the assets."""


def _root() -> Path:
    inside = _PACKAGE / "_shipped"
    return inside if inside.is_dir() else _PACKAGE.parent


def asset(*parts: str) -> Path:
    """The path of a shipped asset, e.g. ``asset("pocket", "target", "model.gguf")``. It need not exist."""
    return _root().joinpath("assets", *parts)


def output(*parts: str) -> Path:
    """Where a command writes that asset: where it is read. Relative inside the checkout, since cards quote it."""
    path = asset(*parts)
    with contextlib.suppress(OSError, ValueError):  # no folder to be in, or another one
        return path.relative_to(Path.cwd())
    return path


def model_folder(name: str) -> Path:
    """The folder of the shipped model ``name``, one of ``MODELS``."""
    return asset(*MODELS[name])


def place(model: str) -> Path:
    """The folder of a shipped model, or the given path, which need not exist."""
    return model_folder(model) if model in MODELS else resolve(model)


def themes_folder() -> Path:
    """The folder of the shipped themes."""
    return _root() / "themes"
