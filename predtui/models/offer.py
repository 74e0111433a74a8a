"""Whether the real models are offered to the one who has opened the app: once ever. Fetches nothing by itself."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from predtui.models.fetch import Fetch
from predtui.models.published import megabytes, missing
from predtui.settings import AUTO, Settings, state_folder

REMEMBERED = "real-models-offered"
"""File in the state folder that is there once they have been."""


class Offer:
    """What these settings leave to the real models. ``stages``: those that take them over as soon as they are there."""

    def __init__(self, settings: Settings) -> None:
        asked = {"llm": settings.llm.model, "asr": settings.asr.model}
        self.stages = tuple(stage for stage, model in asked.items() if model == AUTO)

    @property
    def megabytes(self) -> int:
        """What there is to fetch; 0 where nothing is missing."""
        return megabytes(missing())

    def made(self) -> bool:
        """Whether to offer them now, which is remembered: not where nothing would use them, where there is no pip to
        get them by, nor where nothing can be remembered."""
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
