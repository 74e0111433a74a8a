"""The datastore that retrieval reads in benches: made of the pocket corpus where there is none for the pocket model.

Must not know what is measured.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from predtui.decoding import datastore
from predtui.errors import PredtuiError
from predtui.llm.base import LoadedModel
from predtui.models.shipped import POCKET


def store_for(needs: Iterable[str], model: str, target: LoadedModel) -> Path | None:
    """Its folder, where it is among the ``needs``; ``model``: the name by which ``target`` was loaded. Raises
    PredtuiError where there is none for another model."""
    if "datastore" not in needs:
        return None
    folder = datastore.default_folder()
    try:
        datastore.load(folder, target)
    except PredtuiError:
        if model != POCKET:
            raise
        from predtui.lab.training import rest

        datastore.write(rest.build([POCKET], target), folder)
    return folder
