"""Whether to offer the real models to whoever opened the app: once ever. Fetches nothing by itself."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from predtui.models.fetch import Fetch
from predtui.models.published import megabytes, missing
from predtui.settings import AUTO, Settings, state_folder

REMEMBERED = "real-models-offered"
"""File in the state folder, made when the offer is."""


class Offer:
    """The real models that these settings would use. ``stages``: those that switch to them once they are fetched."""

    def __init__(self, settings: Settings) -> None:
        asked = {"llm": settings.llm.model, "asr": settings.asr.model}
        self.stages = tuple(stage for stage, model in asked.items() if model == AUTO)

    @property
    def megabytes(self) -> int:
        """Size of the download, in MB of 10^6 bytes; 0 where nothing is missing."""
        return megabytes(missing())

    def claim(self) -> bool:
        """Whether to make the offer now; true once ever. False where no stage would use the models, where there is no
        pip to fetch them with, and where it cannot be remembered that they were offered."""
        if not self.stages or not missing() or importlib.util.find_spec("pip") is None:
            return False
        path = self._path()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.open("x").close()
        except OSError:
            return False
        return True

    def fetch(self) -> Fetch:
        return Fetch(missing())

    def _path(self) -> Path:
        return state_folder() / REMEMBERED
