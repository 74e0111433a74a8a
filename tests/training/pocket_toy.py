"""A tiny stand-in for the corpus: sums of two digits and yes/no judgements, learnable in seconds."""

from __future__ import annotations

import random

from predtui.events import Message
from predtui.training.corpus.types import Example


def sample(rng: random.Random) -> Example:
    """One dialogue of one or two turns, or a judgement."""
    first, second = rng.randrange(5), rng.randrange(5)
    question = f"what is {first} plus {second}"
    total = f"{first} plus {second} is {first + second}."
    messages: tuple[Message, ...]
    if rng.random() < 0.3:
        said = rng.randrange(5)
        label = "yes" if said == first else "no"
        messages = (Message("user", f"{question} / {said} plus: yes or no?"), Message("assistant", label))
        return Example(messages, "judge", "train", kind="judge", key=(label,))
    messages = (Message("system", "Be brief."), Message("user", question), Message("assistant", total))
    if rng.random() < 0.3:
        more = (Message("user", "say that shorter"), Message("assistant", f"It is {first + second}."))
        return Example((*messages, *more), "shorter", "train", learn_all=True, key=(str(first + second),))
    return Example(messages, "add", "train", key=(str(first + second),))


def failing(rng: random.Random) -> Example:
    """A sampler that is broken."""
    raise ZeroDivisionError("broken on purpose")
