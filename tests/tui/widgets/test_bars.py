"""The bar on top: what stands there before a model answers."""

from __future__ import annotations

import pytest

from predtui.state.turn import Turn
from predtui.tui.widgets.bars import TopBar


@pytest.mark.parametrize(
    ("asked", "shown"),
    [
        ("pocket", "pocket"),
        ("/models/own.gguf", "own.gguf"),
        ("http://far:8000#", "far:8000"),
        ("http://far:8000#org/name", "name"),
    ],
)
def test_the_model_that_was_asked_for_stands_there_until_one_answers(asked: str, shown: str) -> None:
    bar = TopBar(Turn(), asked)
    (line,) = bar.draw(bar.read(Turn()), 120, 1)
    assert line.plain.split()[1] == shown
