"""A tiny stand-in for the corpus: colours of things and yes/no judgements, learnable in seconds."""

from __future__ import annotations

import random

from predtui.lab.training.corpus.types import Example
from predtui.state.events import Message

COLOURS = {"snow": "white", "grass": "green", "coal": "black", "blood": "red"}


def sample(rng: random.Random, pool: int = 0) -> Example:
    """One dialogue of one or two turns, or a judgement."""
    thing = rng.choice(list(COLOURS))
    question = f"what colour is {thing}"
    answer = f"{thing.capitalize()} is {COLOURS[thing]}."
    messages: tuple[Message, ...]
    if rng.random() < 0.3:
        said = rng.choice([COLOURS[thing], *COLOURS.values()])
        label = "yes" if said == COLOURS[thing] else "no"
        messages = (Message("user", question), Message("assistant", said), Message("user", "yes or no?"))
        fitting = None if label == "yes" else 0
        return Example(
            (*messages, Message("assistant", label)), "judge", "train", kind="judge", key=(label,), fitting=fitting
        )
    messages = (Message("system", "Be brief."), Message("user", question), Message("assistant", answer))
    if rng.random() < 0.3:
        more = (Message("user", "say that shorter"), Message("assistant", f"It is {COLOURS[thing]}."))
        return Example((*messages, *more), "shorter", "train", learn_all=True, key=(COLOURS[thing],))
    return Example(messages, "colour", "train", key=(COLOURS[thing],))


def failing(rng: random.Random, pool: int) -> Example:
    """A sampler that is broken."""
    raise ZeroDivisionError("broken on purpose")
