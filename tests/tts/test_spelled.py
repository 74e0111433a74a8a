"""Numbers in words, by example and by law."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui.tts.spelled import spelled


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("It has 8 legs.", "It has eight legs."),
        ("in 1984", "in nineteen eighty-four"),
        ("2000 m", "two thousand m"),
        ("3.14", "three point one four"),
        ("the 21st", "the twenty-first"),
        ("12,000", "twelve thousand"),
        ("1,2", "one,two"),
        ("3.50", "three point five zero"),
        ("9" * 19, " ".join(["nine"] * 19)),
        ("no numbers", "no numbers"),
    ],
)  # fmt: skip
def test_english(written: str, said: str) -> None:
    assert spelled(written, "en-us") == said


def test_other_languages() -> None:
    assert spelled("42", "de") == "zweiundvierzig"
    assert spelled("70", "fr-fr") == "soixante-dix"
    assert spelled("70", "fr-ch") == "septante"
    assert spelled("42", "jbo") == "42"
    assert spelled("1.000", "de") == "eintausend"
    assert spelled("3,5", "de") == spelled("3.5", "de") == "drei Komma fünf"


@given(st.text(alphabet="0123456789.,$£€ stndrh-", max_size=40))
def test_no_digit_is_left(text: str) -> None:
    assert not re.search(r"\d", spelled(text, "en-us"))


@given(st.text(max_size=60).filter(lambda text: not re.search(r"\d", text)))
def test_what_is_no_number_stays(text: str) -> None:
    assert spelled(text, "en-us") == text
