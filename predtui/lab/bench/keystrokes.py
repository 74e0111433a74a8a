"""Simulated input: typing with hesitations, bursts and corrections, and speech as a recogniser transcribes it.

Random, by a seed; the times are seconds from the beginning. Must not know what answers.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from predtui.lab.bench.streams import Stream

LETTERS_A_WORD = 5
"""With the space behind it one more: what words a minute count."""
_SPREAD = 0.35
"""Standard deviation of the logarithm of the time between keys."""
_BURST, _THOUGHT, _SLIP = 0.6, 0.06, 0.02
"""Share of the usual time within a word; chance of a thought before a word, and of a wrong key."""
_MISHEARD = 0.15


def typed(text: str, words_a_minute: float, rng: random.Random) -> Stream:
    """``text`` key by key: letters of a word in bursts, a pause before a word now and then, wrong keys taken back."""
    usual = 60 / words_a_minute / (LETTERS_A_WORD + 1)
    time, line, keys = 0.0, "", list[tuple[float, str]]()
    for change in _keys(text, rng):
        within = change.isalpha() and line[-1:].isalpha()
        time += usual * (_BURST if within else 2 - _BURST) * rng.lognormvariate(0, _SPREAD)
        if change.isalpha() and line.endswith(" ") and rng.random() < _THOUGHT:
            time += rng.uniform(0.4, 2.5)
        line = line[:-1] if change == "\b" else line + change
        keys.append((round(time, 4), line))
    time += usual * rng.choice((0.5, 1, 1, 2, 6)) * rng.lognormvariate(0, _SPREAD)
    return Stream((*keys, (round(time, 4), line)), None, usual)


def _keys(text: str, rng: random.Random) -> Iterator[str]:
    for letter in text:
        if letter.isalpha() and rng.random() < _SLIP:
            yield rng.choice("etaoins")
            yield "\b"
        yield letter


def spoken(text: str, words_a_minute: float, rng: random.Random) -> Stream:
    """``text`` as a recogniser transcribes it: some words at a time, the last one misheard now and then, all of it once
    more at the end, when silence has shown it."""
    words = text.split()
    time, known, partials = 0.0, 0, list[tuple[float, str]]()
    while known < len(words):
        step = min(rng.choice((1, 1, 1, 2, 3)), len(words) - known)
        time += step * 60 / words_a_minute * rng.lognormvariate(0, _SPREAD / 2)
        known += step
        said = words[:known]
        if rng.random() < _MISHEARD:
            said = [*said[:-1], rng.choice(words)]
        partials.append((round(time, 4), " ".join(said)))
    return Stream((*partials, (round(time + rng.uniform(0.2, 0.7), 4), text)), None)
