"""Simulated input: whatever hesitations and slips there are, the prompt comes out, and time goes forward."""

from __future__ import annotations

import random
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from predtui.lab.bench import keystrokes

WORDS = ("a", "how", "are", "you", "bread", "when", "is", "warm")
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=8).map(" ".join)
SEEDS = st.integers(0, 2**32)


@settings(deadline=None)
@given(TEXTS, SEEDS, st.sampled_from((40, 80, 120)))
def test_keys_change_a_letter_at_a_time_and_end_in_the_text(text: str, seed: int, pace: int) -> None:
    stream = keystrokes.typed(text, pace, random.Random(seed))
    times, lines = zip(*stream.partials, strict=True)
    assert list(times) == sorted(times)
    assert lines[-1] == lines[-2] == text
    assert all(abs(len(one) - len(other)) == 1 for one, other in pairwise(lines[:-1]))
    assert stream.delay > 0


@settings(deadline=None)
@given(TEXTS, SEEDS)
def test_a_recogniser_hears_word_by_word_and_is_right_in_the_end(text: str, seed: int) -> None:
    stream = keystrokes.spoken(text, 150, random.Random(seed))
    times, lines = zip(*stream.partials, strict=True)
    counts = [len(line.split()) for line in lines[:-1]]
    assert list(times) == sorted(times)
    assert lines[-1] == text
    assert counts == sorted(set(counts))
    assert all(line.split()[:-1] == text.split()[: len(line.split()) - 1] for line in lines)


def test_a_faster_typist_is_done_sooner() -> None:
    text = "how do i keep my old bread from going stale"
    ends = [keystrokes.typed(text, pace, random.Random(1)).partials[-1][0] for pace in (40, 80, 120)]
    assert ends == sorted(ends, reverse=True)
