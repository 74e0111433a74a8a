"""Words to be said again, as they were said: what a model learns to copy from. Knows nothing of tokens or training.

Who asks for a reminder names things that no table holds. A model that has only met short quotations among facts never
finds out how to look up what followed a word before; shown nothing else for a few minutes, it does.
"""

from __future__ import annotations

import random

from predtui.lab.training.corpus.intents.errands import word
from predtui.lab.training.corpus.types import Example
from predtui.state.events import Message

_SHORTEST, _LONGEST = 3, 14
_ASKED = ("copy", "copy:", "copy these words:", "copy this text:")


def copied(rng: random.Random) -> Example:
    """Some words in no order that makes sense, and the same words as the reply. They are asked for: words without a
    request are what nobody can answer."""
    text = " ".join(word(rng) for _ in range(rng.randint(_SHORTEST, _LONGEST)))
    return Example(
        messages=(Message("user", f"{rng.choice(_ASKED)} {text}"), Message("assistant", text)),
        intent="copied",
        split="train",
        template="copied",
    )
