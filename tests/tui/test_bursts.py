"""Whatever comes at once, and whatever else is pressed meanwhile, the prompts that come out are those that went in."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from textual.app import App
from textual.drivers.headless_driver import HeadlessDriver
from textual.events import Key, Paste
from textual.message import Message

from predtui.lab.bench.fuzz_typing import Keyboard, Line, Stroke
from predtui.tui.app import PredtuiApp
from predtui.tui.bursts import Gathering, gathering
from predtui.tui.widgets.pane import Pane
from predtui.words import tidy
from tests.tui.conftest import MakeApp
from tests.tui.test_app import until

LETTERS = "abc de?.'é"
PASTES = ("one two", "a\nb\n\nc", "", " \t")
OTHERS = ("f2", "f3", "ctrl+t", "escape")
SIZES = ((80, 24), (120, 36), (40, 12), (30, 8), (200, 50))


Send = Callable[[Message], object]


def press(send: Send, keyboard: Keyboard, chance: random.Random) -> str:
    """Sends a random key or paste without waiting for anything; the prompt that it ends, where it ends one."""
    kind = chance.random()
    if kind < 0.7:
        stroke = Stroke(chance.choice(LETTERS), 0.0)
    elif kind < 0.78:
        stroke = Stroke(chance.choice(PASTES), 0.0, pasted=True)
    elif kind < 0.9:
        stroke = Stroke(chance.choice(("enter", "ctrl+j", "backspace", "left", "home", "end", "delete")), 0.0)
    else:
        send(Key(chance.choice(OTHERS), None))
        return ""
    if stroke.pasted:
        send(Paste(stroke.key))
    else:
        name = "space" if stroke.key == " " else stroke.key
        send(Key(name, stroke.key if len(stroke.key) == 1 else None))
    typed = keyboard.press(stroke)
    return tidy(typed.text) if typed and typed.final else ""


def terminal(app: App[None]) -> Send:
    """What takes an event as the thread does that reads the terminal."""
    return gathering(HeadlessDriver)(app).send_message


@pytest.mark.parametrize("seed", range(4))
async def test_the_prompts_that_come_out_are_those_that_went_in(make_app: MakeApp, seed: int) -> None:
    chance, line, keyboard = random.Random(seed), Line(), Keyboard()
    app: PredtuiApp = make_app(line.pipeline, clock=line.clock)  # type: ignore[arg-type]
    ended: list[str] = []
    async with app.run_test() as pilot:
        await app.workers.wait_for_complete()
        send = terminal(app) if seed % 2 else app.post_message
        for _ in range(8):
            panes = [*app.screen.query(Pane).results()]
            app.screen.set_focus(chance.choice([None, *(pane for pane in panes if pane.display)]))
            send(Key("k", "k"))
            keyboard.press(Stroke("k", 0.0))
            ended += [prompt for _ in range(chance.randint(5, 60)) if (prompt := press(send, keyboard, chance))]
            await pilot.resize_terminal(*chance.choice(SIZES))
            line.wait(chance.choice((0.01, 0.1, 1.0)))
        send(Key("k", "k"))
        send(Key("enter", None))
        keyboard.press(Stroke("k", 0.0))
        last = keyboard.press(Stroke("enter", 0.0))
        assert last is not None
        ended.append(tidy(last.text))
        marks = [heard.prompt for heard in line.heard if heard.final]

        def arrived() -> bool:
            line.pipeline.pump()
            marks[:] = [heard.prompt for heard in line.heard if heard.final]
            return len(marks) >= len(ended)

        await until(pilot, arrived)
    assert marks == ended
    assert len(ended) > 3


async def test_a_text_pasted_as_keys_is_a_few_edits(make_app: MakeApp) -> None:
    """A terminal without bracketed paste: an edit costs as much as the line is long."""
    line, text = Line(), "word " * 4000
    app: PredtuiApp = make_app(line.pipeline, clock=line.clock)  # type: ignore[arg-type]
    assert issubclass(app.driver_class, Gathering)
    async with app.run_test() as pilot:
        await app.workers.wait_for_complete()
        send = terminal(app)
        for character in text:
            send(Key("space" if character == " " else character, character))
        send(Key("enter", None))

        def arrived() -> bool:
            line.pipeline.pump()
            return any(heard.final for heard in line.heard)

        await until(pilot, arrived)
    assert line.heard[-1].prompt == text.strip()
    assert len(line.heard) < 20
