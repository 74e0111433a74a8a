"""What is read aloud, by example and by law."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui.tts.speakable import speakable


@pytest.mark.parametrize(
    ("written", "spoken"),
    [
        ("The capital is **Paris**.", "The capital is Paris."),
        ("Use `git status` *now*.", "Use git status now."),
        ("# Heading", "Heading"),
        ("- boil the egg", "boil the egg"),
        ("[the docs](https://docs.example.org/a/b?c=d) help.", "the docs help."),
        ("See https://www.example.com/a/b?c=1.", "See example dot com."),
        ("Write to jane.doe@example.org!", "Write to jane dot doe at example dot org!"),
        ("2 * 3 * 4 is 24", "2 times 3 times 4 is 24"),
        ("6 / 2 = 3", "6 divided by 2 equals 3"),
        ("It is 20 °C outside.", "It is 20 degrees Celsius outside."),
        ("Well done \U0001f600!", "Well done !"),
        ("\U0001f600", "grinning face"),
        ("3.5 times 10", "3.5 times 10"),
        ("snake_case_name stays", "snake_case_name stays"),
        ("42.", "42."),
        ("", ""),
    ],
)
def test_examples(written: str, spoken: str) -> None:
    assert speakable(written) == spoken


@given(st.text(max_size=200))
def test_any_text_is_survived_and_stays_on_one_line(text: str) -> None:
    spoken = speakable(text)
    assert "\n" not in spoken
    assert spoken == spoken.strip()


@given(st.lists(st.sampled_from(["the", "cat", "sat", "on", "a", "mat", "with", "seven", "dogs"]), min_size=1))
def test_plain_words_are_left_alone(words: list[str]) -> None:
    sentence = " ".join(words).capitalize() + "."
    assert speakable(sentence) == sentence
