"""Zonos as one of the synthesisers: whether it can run here, and the engine of the settings. Imports torch late."""

from __future__ import annotations

import importlib.util

from predtui.errors import PredtuiError
from predtui.settings import TtsSettings
from predtui.tts.base import Synthesizer


def create(options: TtsSettings) -> Synthesizer:
    """Raises PredtuiError, with what to do, where something is missing, does not fit or is not known."""
    needs_torch()
    from predtui.tts.zonos.load import load

    return load(options)


def check(options: TtsSettings) -> str:
    """The folders of model and codec. Raises PredtuiError where something is missing."""
    needs_torch()
    from predtui.tts.zonos.checkpoint import WEIGHTS, find

    codec, model = (find(name, "config.json", WEIGHTS) for name in (options.codec, options.model))
    return f"{model}, codec {codec}"


def needs_torch() -> None:
    """Raises PredtuiError where Zonos cannot run for want of a package."""
    missing = [name for name in ("torch", "transformers") if importlib.util.find_spec(name) is None]
    if missing:
        raise PredtuiError(f"Zonos needs {' and '.join(missing)}.", "Install it: pip install 'predtui[torch]'")
