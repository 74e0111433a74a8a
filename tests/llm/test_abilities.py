"""What a declaration says to a person, and what it refuses. Whether it is true, ``test_contract`` finds out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui.llm.abilities import Abilities, Rollback
from tests.llm.test_around import ABILITIES

ALL = Abilities.of_logits(99)


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({}, "verifies candidates in one forward (exact); goes back at no cost; evaluates no token trees"),
        ({"rollback": 8, "trees": True}, "goes back at the cost of fewer than 8 tokens; evaluates token trees"),
        ({"rollback": "none"}, "goes back only by evaluating all anew"),
        ({"verifies": "regenerates", "generates": True}, "compares their tokens (regenerates); its server remembers"),
        ({"verifies": "regenerates", "generates": True, "tokenises": False}, "compares their text (regenerates)"),
        ({"rollback": "none", "generates": True}, "does not say that it remembers prompts"),
    ],
    ids=str,
)
def test_a_line_tells_a_person(other: dict[str, Any], words: str) -> None:
    assert words in str(replace(ALL, **other))


@given(ABILITIES)
def test_every_declaration_can_be_told(can: Abilities) -> None:
    assert str(can).count(";") == 3
    assert (can.proof == "text") == (not can.tokenises)


@given(ABILITIES, st.booleans(), st.integers(0, 9), st.booleans(), st.booleans())
def test_what_is_lacking_is_what_is_asked_for_and_not_there(
    can: Abilities, whole: bool, top: int, logprob: bool, exact: bool
) -> None:
    missing = (
        (whole and not can.whole)
        or (top > can.top and not can.whole)
        or (logprob and not can.logprob)
        or (exact and can.verifies != "exact")
    )
    assert bool(can.lacking(whole, top, logprob, exact)) == missing
    assert not ALL.lacking(whole, top, logprob, exact)


@pytest.mark.parametrize("rollback", ["any", "none", 8])
def test_a_declaration_does_not_change(rollback: Rollback) -> None:
    can = replace(ALL, rollback=rollback)
    with pytest.raises(AttributeError):
        can.rollback = "any"  # type: ignore[misc]
