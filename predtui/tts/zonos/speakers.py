"""Saved speaker embeddings, one safetensors file each in the user's folder. Must not know how one is computed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from predtui.errors import PredtuiError
from predtui.files import resolve
from predtui.settings import user_folder

SUFFIX = ".safetensors"
KEY = "speaker"
SIZE = 128
"""Dimensions of a speaker embedding."""
ENCODER_HINT = (
    "Give tts.encoder a folder with the encoder of Zyphra/Zonos-v0.1-speaker-embedding as safetensors; it is published "
    "as pickles, which predtui does not open."
)

Embedding = npt.NDArray[np.float32]


def folder() -> Path:
    """Where they are saved; it need not exist."""
    return user_folder() / "voices"


def names() -> list[str]:
    """Names of the saved embeddings, sorted."""
    return sorted(path.stem for path in folder().glob(f"*{SUFFIX}"))


def save(name: str, embedding: Embedding) -> Path:
    """Save ``embedding`` [128] as ``name``, replacing one of that name; returns the file. Raises PredtuiError as
    ``check_name`` does, and where the folder cannot be written."""
    check_name(name)
    path = folder() / f"{name}{SUFFIX}"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        save_file({KEY: embedding.astype(np.float32)}, path)
    except OSError as error:
        raise PredtuiError(f"{path} cannot be written: {error}.") from error
    return path


def check_name(name: str) -> None:
    """Raises PredtuiError for a name that cannot be a file's."""
    if not name or name != Path(name).name or name.startswith("."):
        raise PredtuiError(f"{name!r} cannot name a voice.", "Take letters, digits and dashes.")


def load(name: str) -> Embedding:
    """The embedding [128] of a saved voice, or of a safetensors file. Raises PredtuiError where there is none in it."""
    path = resolve(name) if name.endswith(SUFFIX) else folder() / f"{name}{SUFFIX}"
    if not path.is_file():
        known = ", ".join(names()) or "none yet"
        raise PredtuiError(
            f"There is no voice {name!r} ({path}).", f"Saved voices: {known}. See predtui voices --help."
        )
    try:
        tensors = load_file(path)
    except (OSError, SafetensorError) as error:
        raise PredtuiError(f"{path} is damaged: {error}.", "Make it again: predtui voices add") from error
    embedding = tensors[KEY].reshape(-1) if KEY in tensors else None
    if embedding is None or embedding.size != SIZE or not np.isfinite(embedding).all():
        raise PredtuiError(
            f"{path} holds no voice: it should have {SIZE} numbers named {KEY!r}.", "Make one: predtui voices add"
        )
    return embedding.astype(np.float32)
