"""A reply without an end token ends before a stop string, of which nothing is ever shown, and neither is a thought."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui.llm.thoughts import HARMONY, THINK, Thinking, divide
from predtui.predgen.reply_text import ReplyText
from tests.predgen.test_revision import Letters
from tests.thinkers import END, MARKS, MarkTokenizer

STOPS = ("\nUser:", "\nAssistant:")
replies = st.text(alphabet="a \n", max_size=8).flatmap(
    lambda head: st.lists(st.sampled_from(["\nUser:", "\nUse", "\n", "User", ":", "\nAssistant:", "é", "\0"])).map(
        lambda rest: head + "".join(rest)
    )
)


def spoken(text: str) -> str:
    """What is to be said of a reply, seen at once."""
    whole = text.partition("\0")[0]
    return whole[: min((at for stop in STOPS if (at := whole.find(stop)) >= 0), default=len(whole))]


@given(replies)
def test_what_is_shown_only_grows_and_is_what_comes_before_the_stop(text: str) -> None:
    reply, shown = ReplyText(Letters(), STOPS), ""
    tokens: Sequence[int] = [0 if letter == "\0" else ord(letter) for letter in text]
    for count in range(1, len(tokens) + 1):
        now = reply.text(tokens[:count])
        assert now.startswith(shown)
        assert spoken(text).startswith(now)
        shown = now
        if reply.over(tokens[:count]):
            assert now == spoken(text)
            return
    assert "\0" not in text
    assert spoken(text) == text, "a reply with a stop string is over there"
    assert spoken(text + "\0") == text == reply.text([*tokens, 0]), "an end token gives what was held back"


@pytest.mark.parametrize(
    ("said", "shown", "over"),
    [
        ("It is.", "It is.", False),
        ("It is.\n", "It is.", False),
        ("It is.\nUse", "It is.", False),
        ("It is.\nUsed cars.", "It is.\nUsed cars.", False),
        ("It is.\nUser:", "It is.", True),
        ("\nUser: more", "", True),
    ],
)
def test_what_may_become_a_stop_is_held_back(said: str, shown: str, over: bool) -> None:
    reply, tokens = ReplyText(Letters(), STOPS), [*map(ord, said)]
    assert (reply.text(tokens), reply.over(tokens)) == (shown, over)


@given(st.text(alphabet="a \nUser:", max_size=12))
def test_without_stop_strings_nothing_is_held_back(text: str) -> None:
    reply, tokens = ReplyText(Letters()), [*map(ord, text)]
    assert (reply.text(tokens), reply.over(tokens)) == (text, False)


@st.composite
def thoughts(draw: st.DrawFn) -> tuple[MarkTokenizer, Thinking, str]:
    """A tokenizer, how its model thinks, and what it says: words and marks in any order."""
    kind, form = draw(st.sampled_from([("think", THINK), ("spelled", THINK), ("harmony", HARMONY)]))
    tokenizer = MarkTokenizer(MARKS[kind], draw(st.booleans()))
    pieces = draw(st.lists(st.text("ab .\n<", max_size=4) | st.sampled_from(form.marks), max_size=8))
    known = tuple((tokens[0], atom) for atom in form.atoms if len(tokens := tokenizer.encode(atom, special=True)) == 1)
    return tokenizer, Thinking(form, draw(st.booleans()), 0, tokens=known), "".join(pieces)


@given(thoughts())
def test_wherever_the_tokens_are_cut_no_thought_and_no_mark_is_shown(said: tuple[MarkTokenizer, Thinking, str]) -> None:
    tokenizer, thinking, text = said
    tokens = tokenizer.encode(text, special=True)
    reply, shown, whole = ReplyText(tokenizer, (), thinking), "", divide(text, thinking.form, thinking.within)
    heads = [spelled(tokenizer, tokens[:count]) for count in range(len(tokens) + 1)]
    ended = [divide(head, thinking.form, thinking.within) for head in heads]
    for count in range(len(tokens) + 1):
        now = reply.text(tokens[:count])
        assert now.startswith(shown)
        assert whole.answer.startswith(now)
        assert reply.thinks(tokens[:count]) == ended[count].thinking
        first = next(n for n in range(count + 1) if ended[n].thoughts == ended[count].thoughts)
        assert reply.answered(tokens[:count]) == (0 if ended[count].thinking else count - first)
        shown = now
    assert shown == whole.answer
    assert reply.thought(tokens) == whole.thought
    assert reply.text([*tokens, END]) == divide(text, thinking.form, thinking.within, ended=True).answer


def spelled(tokenizer: MarkTokenizer, tokens: Sequence[int]) -> str:
    return MarkTokenizer(list(tokenizer._marks), defined=True).decode(tokens)


def test_what_is_known_of_a_thought_is_forgotten_with_it() -> None:
    """Candidates change at their beginning too."""
    tokenizer = MarkTokenizer(MARKS["think"])
    reply = ReplyText(tokenizer, (), Thinking(THINK, True, 0, tokens=((258, "<think>"), (259, "</think>"))))
    first, second = (tokenizer.encode(text, special=True) for text in ("Hm.</think>Yes.", "So, so.</think>No."))
    for tokens, text, answered in ((first, "Yes.", 4), (second, "No.", 3), (first, "Yes.", 4), (second[:5], "", 0)):
        assert (reply.text(tokens), reply.answered(tokens)) == (text, answered)
