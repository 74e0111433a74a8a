from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from predtui.events import Message
from predtui.llm.load import load
from predtui.predgen.window import Window

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
