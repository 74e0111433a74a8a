"""What is drawn of a text that is longer than the pane."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.content import Content

from predtui.runtime.typing import Typed, read
from predtui.state.events import EndOfTurn, Transcript
from predtui.state.turn import Turn
from predtui.tui.widgets.transcript import TranscriptPane, Words


def drawn(words: list[str], width: int, height: int) -> list[str]:
    pane = TranscriptPane(Turn(transcript=Transcript()))
    values = Words(" ".join(words), "last", "", final=False, listening=False)
    return [line.plain.rstrip() for line in pane.draw(values, width, height)]


@given(st.lists(st.text("abc", min_size=1, max_size=12), max_size=2000), st.integers(12, 60), st.integers(1, 3))
def test_the_end_of_a_long_text_is_drawn_as_if_all_of_it_were(words: list[str], width: int, height: int) -> None:
    """Each line but the last is as full as the words let it be, and together they are the end of the text."""
    lines = drawn(words, width, height)
    assert (" ".join([*words, "·last·"])).endswith(" ".join(lines))
    assert len(lines) == height or " ".join(lines) == " ".join([*words, "·last·"])
    for line, following in pairwise(lines):
        assert len(line) <= width < len(line) + 1 + len(following.split()[0])


def test_no_more_is_wrapped_than_can_be_seen() -> None:
    """Twenty times a second while somebody pastes."""
    wrapped: list[int] = []
    wrap = Content.wrap

    def count(content: Content, width: int) -> list[Content]:
        wrapped.append(len(content))
        return wrap(content, width)

    with patch.object(Content, "wrap", count):
        drawn(["word"] * 20_000, 80, 4)
    assert 4 * 80 <= max(wrapped) < 4000


def test_in_a_script_without_spaces_no_space_stands_around_the_word_that_is_typed() -> None:
    typed = read(Typed("法国的首都", 3))
    pane = TranscriptPane(Turn(transcript=typed))
    values = pane.read(Turn(transcript=typed))
    assert [line.plain.rstrip() for line in pane.draw(values, 40, 2)] == ["法国·的·首都"]
    assert pane.heading(values) == (" · 5 words",)


@pytest.mark.parametrize(
    ("likely", "title"),
    [(0.0, " · 2 words · ▁ 0% over"), (0.87, " · 2 words · ▇ 87% over"), (1.0, " · 2 words · █ 100% over")],
)
def test_how_likely_the_turn_is_over_is_told_of_just_these_words(likely: float, title: str) -> None:
    said = Transcript(tentative="what now", unfinished=False)
    turn = Turn(transcript=said, phase="listening", ends=EndOfTurn(prompt="what now", probability=likely))
    pane = TranscriptPane(turn)
    assert pane.heading(pane.read(turn)) == (title,)
    for other in (replace(turn, phase="replying"), replace(turn, ends=EndOfTurn(prompt="what", probability=likely))):
        assert pane.heading(pane.read(other)) == (" · 2 words",)
