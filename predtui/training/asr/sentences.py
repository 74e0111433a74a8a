"""What the synthetic voices say: questions of the pocket domain as people ask them, and sentences of the answers.

Lower-case words without marks, numbers in words: what the pocket Whisper writes. Sentences with a typing error or an
invented name are left out. Knows nothing of sound.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache

from predtui.events import Message
from predtui.shipped import asset
from predtui.training.corpus import compose
from predtui.training.corpus.text import sentences as split
from predtui.training.recogniser import dictionary, spoken

WORDS = range(2, 19)
ANSWERS = 0.2
"""Of the drawn sentences, how many are of answers."""


@cache
def known() -> frozenset[str]:
    """The words that can be pronounced: the general dictionary's and the pocket domain's names."""
    lines = asset("asr", "pocket.dict").read_text(encoding="ascii").splitlines()
    return frozenset(dictionary() | {line.split(maxsplit=1)[0] for line in lines})


def sentences(seed: int) -> Iterator[str]:
    """Training sentences without an end, a function of ``seed``."""
    rng = random.Random(f"sentences {seed}")
    while True:
        example = compose.sample(rng)
        if example.kind != "reply":
            continue
        role = "assistant" if rng.random() < ANSWERS else "user"
        said = [text for message in example.messages if message.role == role for text in _clauses(message)]
        words = spoken(rng.choice(said)) if said else []
        if len(words) in WORDS and known().issuperset(words):
            yield " ".join(words)


def heldout(count: int, seed: int) -> list[str]:
    """``count`` different sentences of combinations that ``sentences`` never draws, a function of ``seed``."""
    found: dict[str, None] = {}
    for example in compose.heldout("slots", 6 * count, seed):
        words = spoken(example.messages[-2].content)
        if len(words) in WORDS and known().issuperset(words):
            found[" ".join(words)] = None
    return list(found)[:count]


def _clauses(message: Message) -> list[str]:
    return [message.content] if message.role == "user" else split(message.content)
