from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui.llm.load import load
from predtui.predgen.window import Window
from predtui.state.events import Message

turns = st.lists(st.tuples(st.sampled_from(["user", "assistant"]), st.text("abc ", max_size=60)), max_size=8)


@given(turns, st.text("abc d", max_size=400), st.text("xyz", max_size=120), st.integers(16, 200), st.integers(1, 300))
def test_any_conversation_fits(
    turns: list[tuple[str, str]], user: str, system: str, context: int, reserved: int
) -> None:
    loaded = load("0", engine="scripted", context=context)
    history = [Message(role, said) for role, said in turns]  # type: ignore[arg-type]
    window = Window(loaded, system, reserved)
    tokens = window.tokens(history, user)
    assert 1 <= len(tokens) <= window.budget < context
    whole = loaded.prompt_tokens([*window._system, *history, Message("user", user)])
    if len(whole) <= window.budget:
        assert tokens == whole


@given(st.text("abc d", max_size=120), st.text("xyz", max_size=40), st.integers(16, 200))
def test_it_is_known_whether_all_that_the_user_says_is_read(user: str, system: str, context: int) -> None:
    loaded = load("0", engine="scripted", context=context)
    window = Window(loaded, system, 8)
    alone = loaded.prompt_tokens([*window._system, Message("user", user)])
    assert window.holds(user) == (window.tokens((), user) == alone)


def test_the_oldest_goes_first_then_the_beginning_of_the_user_turn() -> None:
    loaded = load("0", engine="scripted", context=100)
    window = Window(loaded, "sys", 20)
    history = [
        Message("user", "old " * 8),
        Message("assistant", "older " * 3),
        Message("user", "late"),
        Message("assistant", "l8r"),
    ]
    said = loaded.tokenizer.decode(window.tokens(history, "what is that"))
    assert said == "syslatel8rwhat is that"
    said = loaded.tokenizer.decode(window.tokens(history, "word " * 40 + "end"))
    assert said.startswith("sys")
    assert said.endswith("word end")
    assert "late" not in said
    assert len(said) > 50


def test_a_long_conversation_keeps_its_beginning_for_many_turns() -> None:
    """What the model has cached is of use as long as prompts begin alike; a cut at every turn would void it."""
    loaded = load("0", engine="scripted", context=400)
    window = Window(loaded, "sys", 100)
    history: list[Message] = []
    changes = 0
    before: list[int] = []
    for number in range(60):
        prompt = window.tokens(history, "what is that")
        beginning = prompt[:40]
        changes += bool(before) and beginning[: len(before)] != before[: len(beginning)]
        before = beginning
        history += [Message("user", f"question {number}"), Message("assistant", f"answer {number}")]
    assert 1 <= changes <= 12, "of 60 turns of 22 tokens, 260 of which fit, half of them after a cut"


@given(st.integers(0, 60), st.text("abc d", max_size=80))
def test_the_last_exchange_stays_where_it_fits(turns: int, user: str) -> None:
    loaded = load("0", engine="scripted", context=400)
    window = Window(loaded, "sys", 100)
    history = [
        Message(role, f"{role} {number}")  # type: ignore[arg-type]
        for number in range(turns)
        for role in ("user", "assistant")
    ]
    said = loaded.tokenizer.decode(window.tokens(history, user))
    assert said.startswith("sys")
    assert not turns or f"user {turns - 1}assistant {turns - 1}{user}" in said


def test_a_long_text_without_spaces_loses_its_beginning_and_not_what_stands_before_it() -> None:
    loaded = load("0", engine="scripted", context=100)
    window = Window(loaded, "sys", 20)
    tokens = window.tokens([], "法" * 300 + "s.")
    said = loaded.tokenizer.decode(tokens)
    assert said.startswith("sys")
    assert said.endswith("??s.")
    assert tokens[-3:] == loaded.prompt_tokens([Message("user", "s.")])[-3:]
    assert len(said) > 50


@given(turns, turns, st.text("abc d", max_size=60))
def test_what_was_asked_before_changes_no_prompt(
    before: list[tuple[str, str]], after: list[tuple[str, str]], user: str
) -> None:
    loaded = load("0", engine="scripted", context=100)
    window = Window(loaded, "sys", 20)
    half = before[: len(before) // 2]
    for said in (before, [*before, *after], half, [*half, *after], [*before, *after]):
        history = [Message(role, text) for role, text in said]  # type: ignore[arg-type]
        assert window.tokens(history, user) == Window(loaded, "sys", 20).tokens(history, user)


@pytest.mark.parametrize("count", [10, 100, 1000])
def test_a_word_costs_no_more_after_a_thousand_exchanges(count: int) -> None:
    """Characters that are tokenised, of all exchanges at the first word, and of those that fit at the others."""
    loaded = load("0", engine="scripted", context=400)
    read: list[int] = []

    class Counting(type(loaded.tokenizer)):  # type: ignore[misc]
        def encode(self, text: str, special: bool = False) -> list[int]:
            read.append(len(text))
            return super().encode(text, special)  # type: ignore[no-any-return]

    window = Window(replace(loaded, tokenizer=Counting()), "sys", 100)
    history = [Message(role, f"{role} {number}") for number in range(count) for role in ("user", "assistant")]  # type: ignore[arg-type]
    for words in ("what", "what is", "what is that"):
        window.tokens(history, words)
    read.clear()
    window.tokens(history, "what is that thing")
    assert sum(read) <= 2 * 400
    history += [Message("user", "one more"), Message("assistant", "yes")]
    read.clear()
    window.tokens(history, "and")
    assert sum(read) <= 3 * 400
