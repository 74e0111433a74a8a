"""What reminders and lists are about: things to buy and things to do.

Some are fixed phrases, more are composed of parts, and a few words are invented: who asks names things that no table
holds, so the reply must be copied from the request, not remembered.
"""

from __future__ import annotations

import random

from predtui.lab.training.corpus.read import words

_LISTS = words("errands")
_PLAIN = 0.4
"""Share of the errands that are fixed phrases."""
_INVENTED = 0.12
"""Share of the composed nouns that are no words at all."""
_FOR_SOMEBODY = 0.15
_STRANGE = 0.25
"""Share of invented ones among single words."""

_WORDS = tuple(
    word
    for name in ("thing", "task", "kind", "good", "verb", "object", "name")
    for phrase in _LISTS[name]
    for word in phrase.split()
)


def _invented(rng: random.Random) -> str:
    syllables = rng.randint(1, 3)
    return "".join(rng.choice(_LISTS["onset"]) + rng.choice(_LISTS["vowel"]) for _ in range(syllables)) + (
        rng.choice(_LISTS["coda"]) if rng.random() < 0.7 else ""
    )


def _noun(known: tuple[str, ...], rng: random.Random) -> str:
    return _invented(rng) if rng.random() < _INVENTED else rng.choice(known)


def _somebody(rng: random.Random) -> str:
    return f" for {rng.choice(_LISTS['name'])}" if rng.random() < _FOR_SOMEBODY else ""


def word(rng: random.Random) -> str:
    """A single word out of all of them, or an invented one."""
    return _invented(rng) if rng.random() < _STRANGE else rng.choice(_WORDS)


def thing(rng: random.Random) -> str:
    """Something to buy or to pack."""
    if rng.random() < _PLAIN:
        return rng.choice(_LISTS["thing"])
    parts = [rng.choice(_LISTS["measure"])] if rng.random() < 0.4 else []
    parts += [rng.choice(_LISTS["kind"])] if rng.random() < 0.5 else []
    return " ".join((*parts, _noun(_LISTS["good"], rng))) + _somebody(rng)


def task(rng: random.Random) -> str:
    """Something to do."""
    if rng.random() < _PLAIN:
        return rng.choice(_LISTS["task"])
    kind = [rng.choice(_LISTS["kind"])] if rng.random() < 0.3 else []
    return " ".join(
        (rng.choice(_LISTS["verb"]), rng.choice(("the", "my", "the")), *kind, _noun(_LISTS["object"], rng))
    ) + _somebody(rng)
