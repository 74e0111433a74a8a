"""Zonos as a synthesiser of the registry: whether it can run here, and the engine that the settings ask for.

Imports torch only when asked for either. Must not know how Zonos works.
"""

from __future__ import annotations

import importlib.util

from predtui.errors import PredtuiError
from predtui.settings import TtsSettings
from predtui.tts.base import Synthesizer


def create(options: TtsSettings) -> Synthesizer:
    """The engine. Raises PredtuiError, with what to do, where a package or file is missing, a checkpoint does not fit
    the network, or a setting names an unknown language, voice or emotion."""
    needs_torch()
    from predtui.tts.zonos.load import load

    return load(options)


def check(options: TtsSettings) -> str:
    """The folders of model and codec. Raises PredtuiError where something is missing."""
    needs_torch()
    from predtui.tts.zonos.checkpoint import USUAL, WEIGHTS, find

    codec, model = (find(name, "config.json", WEIGHTS) for name in (options.codec, options.model or USUAL))
    return f"{model}, codec {codec}"


def needs_torch() -> None:
    """Raises PredtuiError, with the command that installs it, where a package that Zonos needs is missing."""
    missing = [name for name in ("torch", "transformers") if importlib.util.find_spec(name) is None]
    if missing:
        raise PredtuiError(f"Zonos needs {' and '.join(missing)}.", "Install it: pip install 'predtui[torch]'")
