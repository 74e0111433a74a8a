"""What a word is, with spaces and without: laws over any text."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui import words
from predtui.words import begins_word, count, glued, joined, last_word, tidy, unspaced

TEXTS = st.text(st.sampled_from("ab é3'-?. \u2003法国カーกาก้ำ，។မြन्े"), max_size=20)


def cut(text: str) -> list[str]:
    """The words of ``text``, each with the spaces behind it."""
    begins = [at for at in range(len(text)) if begins_word(text, at)]
    return [text[one:other] for one, other in pairwise([*begins, len(text)])]


@given(TEXTS)
def test_words_are_all_there_is_but_for_spaces(text: str) -> None:
    assert "".join(cut(text)) == text.lstrip()
    assert count(text) == len(cut(text))
    assert cut(text)[-1:] == [text[last_word(text) :]] or not text.strip()


@given(TEXTS)
def test_a_word_has_no_space_and_of_a_script_without_spaces_one_letter(text: str) -> None:
    for word in map(str.rstrip, cut(text)):
        assert len(word.split()) == 1
        assert sum(begins_word(word, at) for at in range(len(word))) == 1


@given(st.text(st.sampled_from("ab é3'-?. \u2003"), max_size=20))
def test_with_spaces_words_are_what_stands_between_them(text: str) -> None:
    assert [word.strip() for word in cut(text)] == text.split()


@given(TEXTS)
def test_words_that_stood_without_a_space_are_joined_without_one(text: str) -> None:
    """And those of a script with spaces with one."""
    parts = cut(text)
    for left, right in pairwise(parts):
        if left == left.rstrip():
            assert glued(left, right)
        else:
            assert joined((left, right)) == left + right
    assert joined(parts) == text.lstrip()


@pytest.mark.parametrize(
    ("heard", "text"),
    [
        (["what", "is", "", "it?"], "what is it?"),
        (["法", "国", "的", "首", "都"], "法国的首都"),
        (["我", "用", "Python", "写"], "我用Python写"),
        (["フランス", "の", "首都", "は"], "フランスの首都は"),
        (["프랑스의", "수도는"], "프랑스의 수도는"),
        (["एक", "दो"], "एक दो"),
        (["こんにちは、", "Ann"], "こんにちは、Ann"),
        ([], ""),
    ],
)
def test_words_as_a_text(heard: list[str], text: str) -> None:
    assert joined(heard) == text


def test_scripts_without_spaces() -> None:
    assert all(map(unspaced, "法カきกກမខཀ々𠀀"))
    assert not any(map(unspaced, ["", *"a1é한नم，。 "]))
    assert words.last_word("") == 0


@given(TEXTS, st.lists(TEXTS, max_size=3))
def test_lines_stay_and_spaces_within_them_are_one(text: str, more: list[str]) -> None:
    assert tidy(text) == " ".join(text.split())
    lines = "\n".join((text, *more))
    assert tidy(lines).split() == lines.split()
    assert tidy(tidy(lines)) == tidy(lines)
    assert tidy(lines) == tidy(lines).strip()


def test_what_code_begins_its_lines_with_stays() -> None:
    assert tidy("\n def  f(x):\n    return  x \n\n \nwhy? ") == "def f(x):\n    return x\n\n\nwhy?"
