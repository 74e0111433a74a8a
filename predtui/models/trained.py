"""Where what a person has trained for a model is kept, and looked for: by its name. Must not know how it is used."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

Kind = Literal["heads", "draft", "cllm"]
"""Heads by their methods, a draft model, the model itself tuned for Jacobi decoding."""
_UNSAFE = re.compile(r"[^\w.-]+")


def trained_for(model: str, kind: Kind, within: Path) -> Path:
    """The folder ``within`` that of all models; ``model``: what the screen calls it. It need not exist."""
    return within / (_UNSAFE.sub("-", model).strip(".-") or "model") / kind
