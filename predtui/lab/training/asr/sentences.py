"""What the synthetic voices say: questions of the pocket domain as people ask them, and sentences of the answers.

Lower-case words without marks, numbers in words: what the pocket Whisper writes. Sentences with a typing error or an
invented name are left out. Knows nothing of sound.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import islice

from predtui.lab.training.corpus import compose
from predtui.lab.training.corpus.text import sentences as split
from predtui.lab.training.recogniser import dictionary, spoken
from predtui.models.shipped import asset
from predtui.state.events import Message

WORDS = range(2, 19)
ANSWERS = 0.2
"""Of the drawn sentences, how many are of answers."""
COUNTED = 100_000
RARE, USUAL = 10, 0.2
"""A sentence whose rarest word is in more than RARE of COUNTED ones is kept less often, down to a share of USUAL."""


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


def varied(seed: int) -> Iterator[str]:
    """Such sentences, of which those with a rare word come up to five times as often: what the model is taught. Of the
    words in held-out sentences 1.2 in a hundred are then heard fewer than ten times in 40 hours, otherwise 3.7."""
    rng, frequencies = random.Random(f"varied {seed}"), _frequencies()
    for text in sentences(seed):
        rarest = min(frequencies.get(word, 1) for word in text.split())
        if rng.random() < max(USUAL, RARE / rarest):
            yield text


@cache
def _frequencies() -> Mapping[str, int]:
    """In how many of COUNTED sentences a word is."""
    return Counter(word for text in islice(sentences(0), COUNTED) for word in set(text.split()))


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
