"""When speculation pays on this machine: rules on what a forward costs here. Must not know of models or stages."""

from __future__ import annotations

FORWARDS_A_PAUSE = 10
"""About half a first sentence: a pause must leave time for so much work to be worth what it displaces."""


def pause_seconds(shortest: float, forward: float) -> float:
    """How long nothing must change before the unfinished word is answered ahead, in seconds; 0: never.

    ``shortest`` as the user has set it (0: never); ``forward``: seconds of a forward over one token. On a fast model
    every key leaves such a pause; a slow one is left to work on the words that are whole.
    """
    return max(shortest, FORWARDS_A_PAUSE * forward) if shortest else 0.0
