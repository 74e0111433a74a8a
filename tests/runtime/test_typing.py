"""What a line being edited says: examples, and laws over any line."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui.runtime.typing import Rhythm, Typed, paused, read, same, typed_as
from predtui.state.events import Transcript
from predtui.words import tidy

LINES = st.text(st.sampled_from("ab\n é3 '-?., \u2003法国ก้，ै"), max_size=20)


@st.composite
def edited(draw: st.DrawFn) -> Typed:
    text = draw(LINES)
    return Typed(text, draw(st.integers(0, len(text)) | st.none()), draw(st.booleans()))


@pytest.mark.parametrize(
    ("text", "cursor", "said"),
    [
        ("", 0, ("", "", "")),
        ("what", 4, ("", "what", "")),
        ("what ", 5, ("what", "", "")),
        ("what is", 7, ("what", "is", "")),
        ("what is", None, ("what", "is", "")),
        ("what is", 6, ("what", "is", "")),
        ("what?", 5, ("what?", "", "")),
        ("what is 3.5", 11, ("what is", "3.5", "")),
        ("don't", 5, ("", "don't", "")),
        ("what ws the capital ", 7, ("what", "ws", "the capital")),
        ("what ws the capital ", 8, ("what ws the capital", "", "")),
        ("what was the capital ", 21, ("what was the capital", "", "")),
        ("what was the capital", 0, ("what was the capital", "", "")),
        ("a a a", 3, ("a", "a", "a")),
        ("法国的首都是", None, ("法国的首都", "是", "")),
        ("法国 的", None, ("法国 ", "的", "")),
        ("法国的首都是", 2, ("法", "国", "的首都是")),
        ("法国 的首都", 2, ("法", "国", " 的首都")),
        ("我用Python", None, ("我用", "Python", "")),
        ("我用Python写", 5, ("我用", "Python", "写")),
        ("首都是？", None, ("首都是？", "", "")),
        ("ก้า", 2, ("", "ก้", "า")),
        ("नमस्ते", None, ("", "नमस्ते", "")),
    ],
)
def test_a_word_is_whole_when_the_cursor_has_left_it(text: str, cursor: int | None, said: tuple[str, str, str]) -> None:
    heard = read(Typed(text, cursor))
    assert (heard.stable, heard.tentative, heard.following) == said
    assert heard.unfinished == bool(heard.tentative)


@given(edited())
def test_the_words_of_a_line_are_kept_in_order_wherever_the_cursor_stands(typed: Typed) -> None:
    heard = read(typed)
    assert heard.text == tidy(typed.text)
    assert heard.final == typed.final
    assert heard.text.startswith(heard.prompt)
    assert len(heard.tentative.split()) <= 1


@given(edited())
def test_a_final_line_asks_for_all_its_words(typed: Typed) -> None:
    prompt = read(replace(typed, final=True)).prompt
    assert prompt == tidy(typed.text)
    assert prompt.split() == typed.text.split()


@given(edited())
def test_a_pause_asks_for_what_enter_would(typed: Typed) -> None:
    heard = read(replace(typed, final=False))
    whole = paused(heard) or heard
    assert whole.prompt == read(replace(typed, final=True)).prompt
    assert paused(whole) is None


@given(LINES.filter(lambda text: len(text.split()) > 1), st.data())
def test_a_line_edited_in_its_middle_asks_for_nothing_until_that_is_over(text: str, data: st.DataObject) -> None:
    before = Transcript(stable=data.draw(LINES), unfinished=False)
    for cursor in range(len(text) + 1):
        heard = read(Typed(text, cursor))
        if heard.following:
            assert heard.settling
            assert not heard.changes(before)
            left = read(Typed(text, 0))
            assert left.changes(heard)
            assert paused(heard) is not None


@given(edited(), edited())
def test_lines_are_the_same_where_they_say_the_same(one: Typed, other: Typed) -> None:
    assert same(read(one), read(replace(one, time=5.0)))
    if same(read(one), read(other)):
        assert read(one).prompt == read(other).prompt


seconds = st.floats(0.001, 2.0)
intervals = st.lists(st.floats(0.01, 5.0), max_size=30)


def pause(shortest: float, between: list[float]) -> float:
    rhythm, time = Rhythm(shortest), 100.0
    found = rhythm.pause(time)
    for interval in between:
        time += interval
        found = rhythm.pause(time)
    return found


@given(seconds, intervals)
def test_nothing_shorter_than_was_asked_is_a_pause(shortest: float, between: list[float]) -> None:
    assert pause(shortest, between) >= shortest


@given(seconds, st.floats(0.02, 1.9), st.integers(2, 20))
def test_who_writes_steadily_makes_no_pause(shortest: float, interval: float, keys: int) -> None:
    assert pause(shortest, [interval] * keys) > interval


@given(intervals)
def test_no_pause_is_no_pause(between: list[float]) -> None:
    assert pause(0.0, between) == 0.0


@pytest.mark.parametrize(
    ("line", "asked"),
    [
        ("法国的首都", ["", "法", "法国", "法国的", "法国的首"]),
        ("用Py写", ["", "用", "用", "用Py"]),
        ("ก้าน", ["", "", "ก้", "ก้า"]),
        ("to be", ["", "", "to", "to", "to"]),
    ],
)
def test_a_character_is_a_word_in_scripts_without_spaces(line: str, asked: list[str]) -> None:
    assert [read(Typed(line[:count])).prompt for count in range(1, len(line) + 1)] == asked


@given(LINES.flatmap(lambda text: st.tuples(st.just(text), st.integers(0, len(text)), st.booleans())))
def test_a_transcript_can_be_typed_again(line: tuple[str, int, bool]) -> None:
    said = read(Typed(*line))
    again = read(typed_as(said))
    assert same(again, said)
    assert again.prompt == said.prompt
