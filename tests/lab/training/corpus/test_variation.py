"""The same request in other words: slots are kept, meanings too, and what is held out is never said."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from predtui.lab.training.corpus.compose import as_intent
from predtui.lab.training.corpus.grammar import resolutions, slot_names
from predtui.lab.training.corpus.intents import INTENTS
from predtui.lab.training.corpus.intents.dialogue import AFTER_TURN
from predtui.lab.training.corpus.phrasing import Template, hidden_wordings, split_templates, turn
from predtui.lab.training.corpus.types import Case, Intent, Phrases
from predtui.lab.training.corpus.variation import vary

EVERY = (*INTENTS, *map(as_intent, AFTER_TURN))
NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
TEMPLATES = [template for intent in EVERY for template in split_templates(intent.name, intent.phrases).seen]


@given(st.sampled_from(TEMPLATES), st.integers(0, 2**32))
def test_slots_stay_and_nothing_is_left_of_a_grammar(template: Template, seed: int) -> None:
    text = next(resolutions(template.text))
    varied = vary(text, random.Random(seed))
    assert slot_names(varied) == slot_names(text)
    assert varied.split()
    assert not set(varied) & set("{}[]|")


def test_what_is_alike_is_exchanged_and_the_rest_is_left_alone() -> None:
    rng = random.Random(1)
    assert {vary("i'm certain", rng) for _ in range(200)} == {"i'm certain", "i am certain", "i'm sure", "i am sure"}
    assert {vary("<certain> uncertain certainly", rng) for _ in range(200)} == {"<certain> uncertain certainly"}
    assert {vary("repeat the <name>", rng) for _ in range(400)} == {"repeat the <name>", "repeat <name>"}


def test_a_wording_that_is_held_out_is_never_said_in_training() -> None:
    """Neither by exchange nor by another template that says the same."""
    texts = tuple(f"say number {word}" for word in NUMBERS)
    phrases = Phrases(question=(*texts, "say number {one|two|three|four|five|six|seven|eight|nine|ten}"))
    intent = Intent("numbers", phrases, lambda rng: Case({}, "Yes."))
    hidden = hidden_wordings(intent.name, phrases)
    rng = random.Random(2)
    said = [turn(intent, Case({}, "Yes."), "train", rng).wording for _ in range(2000)]
    assert len(hidden) >= 2
    assert not [wording for wording in said if any(wording.endswith(text) for text in hidden)]
