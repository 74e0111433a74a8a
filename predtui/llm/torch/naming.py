"""How a network of transformers names what its forward takes: releases and recurrent networks differ.

Must not know of a model's weights, or of what is put into a cache.
"""

from __future__ import annotations

from inspect import signature
from typing import Any

from predtui.errors import PredtuiError

_NAMES = ("cache", "past_key_values", "cache_params")
"""Of the key-value cache: since transformers 5.24; before it; before it in recurrent networks."""


def cache_name(network: Any) -> str:
    """The argument of ``network.forward`` that takes the key-value cache. Raises PredtuiError where there is none."""
    taken = signature(network.forward).parameters
    name = next((name for name in _NAMES if name in taken), None)
    if name is None:
        raise PredtuiError(f"{type(network).__name__} takes no key-value cache.", "Choose a model that does.")
    return name
