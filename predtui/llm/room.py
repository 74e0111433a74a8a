"""Whether a model fits into memory, by its size alone, for a list: before anything of it is read. What it takes
exactly, ``llm.plan`` tells. Must not know of engines.
"""

from __future__ import annotations

from predtui.llm.memory import MB, ram

SHARE = 1.15
"""What a model takes at work, to the size of its files: the cache of its context comes on top of the weights."""
LEAST = 100 * MB
"""Bytes that even the smallest takes beside its weights."""


def needed(size: int) -> int:
    """Bytes of memory that files of ``size`` bytes take at work, about."""
    return round(size * SHARE) + LEAST


def too_large(size: int) -> str:
    """Why files of ``size`` bytes do not fit, in a few words; empty where they do."""
    memory = ram()
    if needed(size) > memory.total:
        return f"needs {needed(size) / 1e9:.1f} of {memory.total / 1e9:.1f} GB"
    if needed(size) > memory.free:
        return f"needs {needed(size) / 1e9:.1f} GB, {memory.free / 1e9:.1f} are free"
    return ""
