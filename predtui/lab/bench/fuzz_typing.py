"""Random keystrokes into the screen's input line, and into the reading of typed text alone: the same transcripts?

The screen is the app itself under Textual's pilot, on a pipeline without engines; beside it a keyboard of our own edits
a plain text and tells it to a second pipeline. Both have the same virtual times. Must not know what a transcript is
used for.
"""

from __future__ import annotations

import asyncio
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer
from textual.events import Key, Paste

from predtui.clock import VirtualClock
from predtui.lab.bench.report import command, console, machine
from predtui.lab.bench.watch import Gather, Watch
from predtui.lab.commands.options import Json
from predtui.models.shipped import themes_folder
from predtui.runtime.manner import Manner
from predtui.runtime.pipeline import Pipeline
from predtui.runtime.typing import Typed
from predtui.settings import Settings
from predtui.state.events import Event, Transcript
from predtui.tui.app import PredtuiApp
from predtui.tui.themes import load_themes
from predtui.tui.widgets.prompt import PromptLine
from predtui.words import tidy

START_S = 1000.0
PAUSE_S = 0.06
HISTORIES = 200
"""That one app takes before a new one is opened."""
LONGEST = 16
"""Keys of a history."""
_LETTERS = "abcdé3'-?.,"
_EDITS = ("ctrl+j", "left", "right", "home", "end", "backspace", "delete", "ctrl+w", "ctrl+u", "ctrl+k")
_PASTES = ("what is", " the capital", "three\nlines\nof it", "\ttab", "")
_DELAYS = (0.0, 0.01, 0.05, 0.1, 1.0)


@dataclass(frozen=True, slots=True)
class Stroke:
    """A key by its name, a character, or a text that is ``pasted``, ``delay`` seconds after the one before."""

    key: str
    delay: float
    pasted: bool = False


class Keyboard:
    """Lines of text as these keys edit them. Written apart from Textual's, to be compared with it."""

    def __init__(self) -> None:
        self.text, self.cursor = "", 0

    def press(self, stroke: Stroke) -> Typed | None:
        """The line after the key; None where Enter found nothing to end."""
        if stroke.pasted:
            self._insert("\n".join(stroke.key.strip("\r\n").splitlines()).replace("\t", " "))
        elif stroke.key == "ctrl+j":
            self._insert("\n")
        elif stroke.key == "enter":
            text, self.text, self.cursor = self.text, "", 0
            return Typed(text, final=True) if text.strip() else None
        elif stroke.key in _EDITS:
            self._edit(stroke.key)
        else:
            self._insert(stroke.key)
        return Typed(self.text, self.cursor)

    def _insert(self, text: str) -> None:
        self._keep(self.text[: self.cursor] + text, self.text[self.cursor :])

    def _keep(self, before: str, after: str) -> None:
        self.text, self.cursor = before + after, len(before)

    def _edit(self, key: str) -> None:
        before, after = self.text[: self.cursor], self.text[self.cursor :]
        match key:
            case "left":
                self.cursor = max(0, self.cursor - 1)
            case "right":
                self.cursor = min(len(self.text), self.cursor + 1)
            case "home":
                self.cursor = len(before) - len(_last_line(before))
            case "end":
                self.cursor += len(after.split("\n")[0])
            case "backspace":
                self._keep(before[:-1], after)
            case "delete":
                self._keep(before, after[1:])
            case "ctrl+u":
                self._keep(before[: len(before) - (len(_last_line(before)) or 1)], after)
            case "ctrl+k":
                self._keep(before, after[len(after.split("\n")[0]) or 1 :])
            case "ctrl+w":
                self._keep(before[: _word_start(before)], after)


def _last_line(text: str) -> str:
    return text.split("\n")[-1]


def _word_start(text: str) -> int:
    """Where the last word of ``text`` begins, of letters and digits, or the marks behind it; at the start of a line,
    the end of the one before."""
    line = _last_line(text)
    start, word = len(text) - len(line), line.rstrip()
    bounds = (
        at for at in range(1, len(word)) if bool(re.match(r"\w", word[at - 1])) != bool(re.match(r"\w", word[at]))
    )
    return start + max(bounds, default=0) if line else max(0, start - 1)


def history(rng: random.Random) -> Iterator[Stroke]:
    """Keys, the last of which is Enter."""
    for _ in range(rng.randint(1, LONGEST)):
        delay, kind = rng.choice(_DELAYS), rng.random()
        if kind < 0.6:
            yield Stroke(rng.choice(_LETTERS), delay)
        elif kind < 0.75:
            yield Stroke(" ", delay)
        elif kind < 0.92:
            yield Stroke(rng.choice(_EDITS), delay)
        elif kind < 0.97:
            yield Stroke(rng.choice(_PASTES), delay, pasted=True)
        else:
            yield Stroke("enter", delay)
    yield Stroke("enter", rng.choice(_DELAYS))


class Line:
    """A pipeline without engines, and the transcripts it has emitted."""

    def __init__(self) -> None:
        self.clock = VirtualClock(START_S)
        self.heard: list[Transcript] = []
        self.pipeline = Pipeline([], self.clock, manner=Manner(pause_s=PAUSE_S, measures=False), background=False)
        self.pipeline.subscribe(self._hear)

    def wait(self, seconds: float) -> None:
        """Time passes; what is due happens at its time."""
        for part in (min(seconds, PAUSE_S), max(0.0, seconds - PAUSE_S)):
            self.clock.advance(part)
            self.pipeline.pump()

    def _hear(self, event: Event) -> None:
        if isinstance(event, Transcript):
            self.heard.append(event)


def headless(strokes: Sequence[Stroke]) -> tuple[list[Transcript], list[str]]:
    """The transcripts of these keys, and the lines that were ended."""
    line, keyboard, ended = Line(), Keyboard(), list[str]()
    line.pipeline.start()
    for stroke in strokes:
        line.wait(stroke.delay)
        typed = keyboard.press(stroke)
        if typed is not None:
            line.pipeline.type_line(replace(typed, time=line.clock.now()))
            line.pipeline.pump()
            ended += [tidy(typed.text)] * typed.final
    line.wait(1.0)
    return line.heard, ended


async def on_screen(strokes: Sequence[Stroke]) -> list[Transcript]:
    """The same through the app: each key is an event of Textual's, from the app on."""
    line = Line()
    app = PredtuiApp(line.pipeline, Settings(), load_themes([themes_folder()]), clock=line.clock)
    async with app.run_test() as pilot:
        await app.workers.wait_for_complete()
        await pilot.pause()
        prompt = app.query_one(PromptLine)
        for stroke in strokes:
            line.wait(stroke.delay)
            app.post_message(Paste(stroke.key) if stroke.pasted else _key(stroke.key))
            await _dealt_with(app, prompt)
            line.pipeline.pump()
        line.wait(1.0)
    return line.heard


def _key(name: str) -> Key:
    return Key("space" if name == " " else name, name if len(name) == 1 else None)


async def _dealt_with(app: PredtuiApp, prompt: PromptLine) -> None:
    """Until an event sent to the app before has gone to the input line, and its transcripts have come back."""
    done = asyncio.Event()
    app.call_later(prompt.call_later, app.call_later, done.set)
    await done.wait()


def run(histories: int, seed: int, gather: Gather[Counter[str]] = list) -> Counter[str]:
    """Counts of histories, keys, transcripts, of differences between the two, and of prompts that were ended and did
    not come out; of as many as are gathered."""
    counts = Counter(dict.fromkeys(("histories", "keys", "transcripts", "prompts", "differences", "lost"), 0))
    for some in gather(_compared(histories, seed)):
        counts.update(some)
    return counts


def _compared(histories: int, seed: int) -> Iterator[Counter[str]]:
    """``HISTORIES`` at a time."""
    for start in range(0, histories, HISTORIES):
        rng = random.Random(f"typing {seed} {start}")
        count = min(HISTORIES, histories - start)
        strokes = [stroke for _ in range(count) for stroke in history(rng)]
        plain, ended = headless(strokes)
        drawn = asyncio.run(on_screen(strokes))
        prompts = [heard.prompt for heard in drawn if heard.final]
        yield Counter(
            histories=count,
            keys=len(strokes),
            transcripts=len(plain),
            prompts=len(ended),
            differences=_differences(plain, drawn),
            lost=_differences(ended, prompts),
        )


def _differences(left: Sequence[Any], right: Sequence[Any]) -> int:
    unequal = [one for one, other in zip(left, right, strict=False) if one != other]
    return len(unequal) + abs(len(left) - len(right))


def main(histories: int = 10_000, seed: int = 0, json_path: Path | None = None) -> int:
    """Type, compare, print, write; exit status 0 where nothing differs and nothing is lost."""
    watch = Watch[Counter[str]](-(-histories // HISTORIES), f"times {HISTORIES} histories")
    counts = run(histories, seed, watch)
    console().print(
        f"{counts['histories']} histories, {counts['keys']} keys, {counts['transcripts']} transcripts: "
        f"{counts['differences']} differences; of {counts['prompts']} prompts {counts['lost']} lost"
    )
    result = {"command": command(), "machine": machine(), "rows": [dict(counts)]}
    return watch.leave(result, json_path) or bool(counts["differences"] or counts["lost"])


def cli(
    histories: Annotated[int, typer.Option(help="Random editing histories.", min=1)] = 10_000,
    seed: Annotated[int, typer.Option(help="Seed of the keystrokes.")] = 0,
    json: Json = None,
) -> None:
    """``predtui bench fuzz-typing``."""
    raise typer.Exit(main(histories, seed, json))
