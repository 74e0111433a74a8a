"""Templates, number words and styles."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui.lab.numerals import in_words, spell
from predtui.lab.training.corpus.frames import Form, frame, openers
from predtui.lab.training.corpus.grammar import digest, expand, fill, resolutions, resolve, slot_names
from predtui.lab.training.corpus.style import render

FORMS: tuple[Form, ...] = ("noun", "question", "clause", "command", "followup")


def every(template: str, slots: dict[str, str]) -> set[str]:
    return {expand(template, slots, random.Random(seed)) for seed in range(200)}


def test_choices_options_and_nesting_give_exactly_their_wordings() -> None:
    assert every("the {big|small[ red]} <thing>", {"thing": "fox"}) == {
        "the big fox",
        "the small fox",
        "the small red fox",
    }


def test_an_option_left_out_leaves_no_double_blank() -> None:
    assert every("a [b] c", {}) == {"a b c", "a c"}


@pytest.mark.parametrize("broken", ["{a", "a}", "[a|b", "a|b", "{a]", "]"])
def test_brackets_that_do_not_match_are_an_error(broken: str) -> None:
    with pytest.raises(ValueError, match="brackets"):
        resolve(broken, random.Random(0))


def test_an_unfilled_slot_is_an_error() -> None:
    with pytest.raises(KeyError):
        fill("the <city>", {})


def test_slots_of_optional_parts_are_listed() -> None:
    assert slot_names("{<a>|x}[ by <b_2>]") == {"a", "b_2"}


def test_the_name_of_a_template_never_changes() -> None:
    assert digest("the capital of <country>") == "48bf62f2"


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=4), st.integers(0, 1000))
def test_a_choice_is_one_of_its_options(options: list[str], seed: int) -> None:
    assert resolve("{" + "|".join(options) + "}", random.Random(seed)) in options


@pytest.mark.parametrize(
    ("number", "said"),
    [(13, "thirteen"), (47, "forty seven"), (105, "one hundred five"), (2600, "two thousand six hundred")],
)
def test_numbers_are_spelled(number: int, said: str) -> None:
    assert spell(number) == said


def test_spelling_tells_all_numbers_apart_and_refuses_others() -> None:
    assert len({spell(number) for number in range(20_000)}) == 20_000
    with pytest.raises(ValueError, match="cannot spell"):
        spell(-1)


def test_times_and_decimals_are_spelled_and_words_left_alone() -> None:
    assert in_words("at 3:05 pm, 2.5 cm, B12 and 7.") == "at three oh five pm, two point five cm, B12 and seven."


TEXT = st.from_regex(r"[A-Za-z0-9',.:;!?+%é -]{1,40}", fullmatch=True)


@given(TEXT, st.integers(0, 1000))
def test_a_recogniser_writes_no_capitals_and_no_punctuation(text: str, seed: int) -> None:
    written = render(text, "?", "recognised", random.Random(seed))
    assert written == written.lower()
    assert not re.search(r"[^\w\s':.]|(?<!\d)[.:]|[.:](?!\d)|(?<!\w)'|'(?!\w)|\s\s", written)


def test_a_careful_writer_starts_with_a_capital_and_ends_with_the_mark() -> None:
    written = [render("what do i need", "?", "written", random.Random(seed)) for seed in range(100)]
    assert set(written) == {"What do I need?", "What do I need"}
    assert written.count("What do I need?") > 75


def test_typing_errors_spare_the_slots() -> None:
    kept = frozenset({"bratislava"})
    typed = [render("remember Bratislava forever", ".", "typed", random.Random(seed), kept) for seed in range(400)]
    assert all("bratislava" in text.lower() for text in typed)
    assert any("remember" not in text.lower() for text in typed)


@pytest.mark.parametrize("form", FORMS)
def test_every_frame_keeps_the_phrase_and_plain_ones_dominate(form: Form) -> None:
    framed = [frame(form, "the <thing>", random.Random(seed)) for seed in range(2000)]
    assert all("the <thing>" in text and mark in {"?", "."} for text, mark in framed)
    plain = {f"{opener} the <thing>".strip() for opener in openers(form)}
    assert 0.65 * len(framed) < sum(text in plain for text, _ in framed) < 0.9 * len(framed)


def test_there_are_many_openers() -> None:
    assert len(set(openers("noun"))) >= 40
    assert len(set(openers("clause"))) >= 25
    assert len(set(openers("command"))) >= 20


def test_all_resolutions_are_those_that_can_be_drawn() -> None:
    template = "{hello|hi[ there]} [my ]{friend|<name>}"
    rng = random.Random(0)
    assert set(resolutions(template)) == {resolve(template, rng) for _ in range(2000)}
