"""What of a text is thought and what is answer, for every form of marks, wherever the text is cut."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui.llm.thoughts import FORMS, HARMONY, THINK, Form, divide

forms = st.sampled_from(FORMS)
words = st.text("ab .\n<|[/H", max_size=6)


@st.composite
def replies(draw: st.DrawFn) -> tuple[Form, bool, str]:
    """A form, whether its replies begin within a thought, and a reply: words and marks in any order."""
    form = draw(forms)
    pieces = draw(st.lists(words | st.sampled_from(form.marks), max_size=8))
    return form, draw(st.booleans()), "".join(pieces)


@given(replies())
def test_an_answer_only_grows_and_no_mark_is_ever_in_it(said: tuple[Form, bool, str]) -> None:
    form, within, text = said
    shown = ""
    for end in range(len(text) + 1):
        parts = divide(text[:end], form, within)
        assert parts.answer.startswith(shown)
        shown = parts.answer
    whole = divide(text, form, within, ended=True)
    assert whole.answer.startswith(shown)
    assert not any(mark in whole.answer for mark in form.marks)


@given(forms, st.booleans(), words, words, words)
def test_a_thought_is_none_of_the_answer(form: Form, within: bool, first: str, thought: str, answer: str) -> None:
    head = "" if within or form.channels else first
    opened = "" if within and not form.channels else form.opens[0]
    text = f"{head}{opened}{thought}{form.close}{answer}"
    if len(form.pattern.findall(text)) != len(form.pattern.findall(opened)) + 1:
        return  # the words made further marks
    parts = divide(text, form, within or form.channels)
    assert (head + answer).startswith(parts.answer)
    assert len(head + answer) - len(parts.answer) == form.pending(answer)
    assert (parts.thought, parts.thinking, parts.thoughts) == (thought.strip(), False, 1)


@pytest.mark.parametrize(
    ("form", "within", "text", "answer", "thought", "thinking"),
    [
        (THINK, False, "<think>\nOkay.\n</think>\n\nParis.", "\n\nParis.", "Okay.", False),
        (THINK, True, "Okay, the user", "", "Okay, the user", True),
        (THINK, True, "Okay.</think>Paris.", "Paris.", "Okay.", False),
        (THINK, False, "Paris.</think> It is.", "Paris. It is.", "", False),
        (THINK, False, "Pa<think>Hm.</think>ris.", "Paris.", "Hm.", False),
        (THINK, False, "1 <thin", "1 ", "", False),
        (THINK, False, "1 <thin air", "1 <thin air", "", False),
        (
            HARMONY,
            True,
            "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Paris.<|end|>",
            "Paris.",
            "Hm.",
            True,
        ),
        (HARMONY, True, "<|channel|>commentary to=f<|constrain|>json<|message|>{}", "", "commentary to=fjson{}", True),
        (HARMONY, False, "Paris.<|start|>assistant<|channel|>analysis<|message|>So", "Paris.", "So", True),
    ],
)
def test_what_is_said_and_what_is_thought(
    form: Form, within: bool, text: str, answer: str, thought: str, thinking: bool
) -> None:
    parts = divide(text, form, within)
    assert (parts.answer, parts.thought, parts.thinking) == (answer, thought, thinking)


def test_what_might_have_become_a_mark_is_said_once_a_reply_has_ended_where_it_is_a_character() -> None:
    assert divide("It is 1 <", THINK, False).answer == "It is 1 "
    assert divide("It is 1 <", THINK, False, ended=True).answer == "It is 1 <"
    assert divide("It is 1 </think", THINK, False, ended=True).answer == "It is 1 "
