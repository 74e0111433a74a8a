"""The voices of the synthetic speech: eSpeak NG's English accents, each with one of its natural-sounding variants.

Held-out voices are variants that training never hears, drawn by a fixed seed. Knows nothing of sound.
"""

from __future__ import annotations

import random

PLAIN = ("en-us", "en", "en-gb-x-rp", "en-gb-scotland", "en-029", "en-gb-x-gbclan", "en-gb-x-gbcwmd", "en-us-nyc")
KNOWN = ("en-us+f3", "en-us+m2")
"""Voices that other parts of the project speak with: always trained."""
VARIANTS = tuple(
    "Alex Alicia Andrea Andy Annie Denis Diogo Gene Henrique Hugo Jacky Lee Marco Mario Michael Mike Reed Storm adam "  # noqa: SIM905
    "anika announcer antonio aunty belinda benjamin boris caleb david ed edward f1 f2 f4 f5 ian iven john linda m1 m3 "
    "m4 m5 m6 m7 m8 marcelo max michel miguel norbert pablo paul pedro quincy rob robert sandro shelby steph travis "
    "victor zac".split()
)
HELD_OUT = 10


def _split() -> tuple[tuple[str, ...], tuple[str, ...]]:
    rng = random.Random("voices")
    shuffled = rng.sample(VARIANTS, len(VARIANTS))
    accents = [PLAIN[index % len(PLAIN)] if index % 2 else "en-us" for index in range(len(shuffled))]
    combined = [f"{accent}+{variant}" for accent, variant in zip(accents, shuffled, strict=True)]
    return (*PLAIN, *KNOWN, *combined[HELD_OUT:]), tuple(combined[:HELD_OUT])


TRAINED, UNHEARD = _split()
