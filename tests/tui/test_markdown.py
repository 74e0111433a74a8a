"""A reply's Markdown: every letter stays, lines fit, nothing but styles comes of it."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from textual.selection import Selection

from predtui.tui.markdown import NARROWEST, marked, rendered
from predtui.tui.wrapping import extracted

MARKS = [
    *"*_`>|\\",
    "**",
    "```",
    "- ",
    "1. ",
    "3) ",
    "# ",
    "## ",
    "---",
    "[a](b)",
    "<b>",
    "&amp;",
    "![x](y)",
    "~~~py\n",
]
PIECES = st.sampled_from([*MARKS, "\n", "\n\n", "    ", "\t", " ", "two words", "是", "\x1b[2J", "\u0301"])
TEXTS = st.lists(PIECES | st.text(max_size=4), max_size=25).map("".join)


def letters(text: str) -> str:
    return "".join(filter(str.isalnum, text))


@given(TEXTS, st.integers(1, 60))
@example("[a]: /url 'title'\n\n[a]", 20)
@example("- a\n\n      code", 20)
@example("0. a\n1. b", 20)
def test_every_letter_stays_and_every_line_fits(text: str, width: int) -> None:
    lines = rendered(text, width)
    assert lines
    assert all(line.cell_length <= max(NARROWEST, width) for line in lines)
    assert letters("".join(line.plain for line in lines)) == letters(text)
    assert not any("\x1b" in line.plain or "\n" in line.plain for line in lines)


def drawn(text: str, width: int = 40) -> list[str]:
    return [line.plain for line in rendered(text, width)]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("Paris is **big** and `old`.", ["Paris is big and old."]),
        ("2 * 3 * 4 and snake_case_name", ["2 * 3 * 4 and snake_case_name"]),
        ("# Two\n\n1. one\n2. two\n   - deep", ["Two", "1. one", "2. two", "   • deep"]),
        ("```python\ndef f():\n    return 1\n```", ["python", "  def f():", "      return 1"]),
        ("> said\n> so", ["▎ said", "▎ so"]),
        ("[link](http://a.b) & <b>", ["[link](http://a.b) & <b>"]),
        ("", [""]),
    ],
)
def test_what_is_written_is_drawn(text: str, lines: list[str]) -> None:
    assert drawn(text) == lines


def test_styles_are_of_the_letters_that_have_them() -> None:
    (line,) = rendered("a **b** *c* `d`", 40)
    assert {line.plain[span.start : span.end]: span.style for span in line.spans if span.end > span.start} == {
        "b": "bold", "c": "italic", "d": ".code"
    }  # fmt: skip


@given(st.lists(st.sampled_from(["One **two** three.", "- a\n", "`x` y.", "Last words."]), min_size=1))
def test_what_stands_is_not_drawn_anew_as_sentences_are_added(sentences: list[str]) -> None:
    whole = rendered("\n\n".join(sentences), 40)
    part = rendered("\n\n".join(sentences[:-1]), 40) if sentences[1:] else ()
    assert [line.plain for line in whole[: len(part)]] == [line.plain for line in part]


@given(st.lists(st.sampled_from(["**two**", "words", "`x.y`", "\n- item", "1984,"]), min_size=1, max_size=9), st.data())
def test_a_word_that_is_marked_is_found_by_its_letters(words: list[str], data: st.DataObject) -> None:
    text = " ".join(words)
    word = data.draw(st.integers(0, len(words) - 1))
    start = len(" ".join([*words[:word], ""]))
    lines = marked(rendered(text, 24, 5), text, (start, start + len(words[word])), ".saying")
    found = [line.plain[span.start : span.end] for line in lines for span in line.spans if span.style == ".saying"]
    assert letters("".join(found)) == letters(words[word])


def test_what_is_selected_is_the_text_without_what_sets_it_in() -> None:
    lines = rendered("one two three four\n\n- five six seven", 16, 5)
    assert [line.plain for line in lines] == ["one two", "     three four", "     • five six", "       seven"]
    assert extracted(lines, Selection(None, None)) == "one two three four\n• five six seven"
