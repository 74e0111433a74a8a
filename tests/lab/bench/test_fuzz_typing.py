"""The law of keystrokes, on a few histories; and that a difference would be seen."""

from __future__ import annotations

import asyncio
import random

import pytest

from predtui.lab.bench import fuzz_typing
from predtui.lab.bench.fuzz_typing import Keyboard, Stroke


def test_the_screen_and_the_reading_of_typed_text_tell_the_same() -> None:
    counts = fuzz_typing.run(12, seed=5)
    assert counts["keys"] > 60
    assert counts["prompts"] >= 6
    assert counts["differences"] == counts["lost"] == 0


def test_a_key_more_is_a_difference() -> None:
    strokes = [Stroke("a", 0.0), Stroke("b", 0.1), Stroke("enter", 0.1)]
    plain, ended = fuzz_typing.headless([strokes[0], strokes[2]])
    drawn = asyncio.run(fuzz_typing.on_screen(strokes))
    assert fuzz_typing._differences(plain, drawn) > 0
    assert (ended, drawn[-1].prompt) == (["a"], "ab")


@pytest.mark.parametrize(
    ("keys", "line"),
    [
        ("ab|left|c", ("acb", 2)),
        ("ab cd|ctrl+w|x", ("ab x", 4)),
        ("ab|home|delete|end", ("b", 1)),
        ("a b|left|ctrl+k", ("a ", 2)),
        ("a b|left|ctrl+u", ("b", 0)),
    ],
)
def test_the_keyboard_beside_it_edits(keys: str, line: tuple[str, int]) -> None:
    keyboard = Keyboard()
    for part in keys.split("|"):
        for key in [part] if part in fuzz_typing._EDITS else part:
            keyboard.press(Stroke(key, 0.0))
    assert (keyboard.text, keyboard.cursor) == line


def test_histories_end_with_enter() -> None:
    for seed in range(50):
        assert [*fuzz_typing.history(random.Random(seed))][-1].key == "enter"
