"""Twenty seconds that show what predtui does: a question types itself, and each step is told in plain words, with the
figures of just this turn, which is no part of the conversation. Whoever types something else, or presses Escape, ends
it. It comes by itself at the very first start. Must not know an engine.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from predtui.settings import Settings, state_folder
from predtui.state.turn import Turn
from predtui.tui.actions import key_of
from predtui.tui.widgets.bars import NoticeBar
from predtui.tui.widgets.prompt import PromptLine

if TYPE_CHECKING:
    from textual.timer import Timer

    from predtui.tui.app import PredtuiApp

QUESTION = "what is the capital of france"
EVERY_S = 0.15
"""Seconds between two letters, and between two looks at the turn."""
LONGEST_S = 20.0
HELD = {"accept": "the guess was right", "partial": "a part of the guess was right", "reject": "guessed anew"}
WAITS_S = 60.0
"""Seconds that the first start waits for the stages."""
STAGES = 5
SHOWN = "toured"
"""A file of the state folder, where the tour was shown."""


class Tour:
    """One guided turn."""

    def __init__(self, app: PredtuiApp) -> None:
        self._app = app
        self._prompt = app.screen_stack[0].query_one(PromptLine)
        self._notices = app.screen_stack[0].query_one(NoticeBar)
        self._before, self._typed, self._said = app.turn.number, "", ""
        self._sent = False
        self._left = round(LONGEST_S / EVERY_S)
        self._timer: Timer = app.set_interval(EVERY_S, self._step)

    def _step(self) -> None:
        self._left -= 1
        turn = self._app.turn
        begun = turn.number > self._before
        if self._prompt.value != self._typed or not self._left or (begun and turn.interrupted):
            self.end()
        elif not self._sent:
            self._type(begun and bool(turn.candidate.text.strip()))
        elif begun:
            stands = self._tell(outcome(turn))
            if stands and turn.measured(not turn.shown_only):
                self._timer.stop()
                self._app.tour = None

    def _type(self, guessed: bool) -> None:
        """One letter more; Enter behind the last."""
        if self._typed == QUESTION:
            self._typed, self._sent = "", True
            self._prompt.action_submit()
            self._prompt.aside = ""
            return
        self._typed = self._prompt.aside = QUESTION[: len(self._typed) + 1]
        self._prompt.value = self._typed
        if guessed:
            self._tell("tour: the question is not over, and its reply is being guessed and checked already: CANDIDATE")
        else:
            self._tell("tour: a question types itself; type anything, and this ends")

    def end(self) -> None:
        """What somebody has typed meanwhile stays."""
        self._timer.stop()
        self._app.tour, self._prompt.aside = None, ""
        if self._typed and self._prompt.value.startswith(self._typed):
            self._prompt.value = self._prompt.value.removeprefix(self._typed)
        self._app.show_notice("")

    def _tell(self, words: str) -> bool:
        """Whether it stands there already: as a turn begins, what stood there is gone."""
        stands = words == self._said and bool(self._notices.values[1])
        if words and not stands:
            self._said = words
            self._app.show_notice(words)
        return stands


def outcome(turn: Turn) -> str:
    """What the turn has shown so far, in plain words; empty while there is nothing to tell."""
    final = next((verdict for verdict in reversed(turn.verdicts) if verdict.final), None)
    if final is None or not turn.sentences:
        return ""
    held = HELD[final.outcome]
    with_, without = turn.audio_latency_ms, turn.baseline_audio_latency_ms
    what = "first sound"
    if (with_ is None or without is None) and turn.baseline is not None:
        with_, without, what = turn.ttfs_ms, turn.baseline.ttfs_ms, "first sentence"
    if with_ is None or without is None:
        return f"tour: Enter, and {held}. What it saved is being measured."
    saved = without - with_
    gain = f"saved {saved:.0f} ms" if saved >= 1 else "nothing was saved this time"
    next_ = f"Tab, then {key_of('explain')} explains a pane, {key_of('sound')} checks your sound."
    return f"tour: {held}, {gain}: {what} {with_:.0f} ms after Enter, {without:.0f} ms without. {next_}"


def begin(app: PredtuiApp) -> None:
    """Where the model is ready, and nothing is typed yet."""
    status = app.turn.stages.get("llm")
    if status is None or status.state != "ready":
        app.show_notice("the tour needs the language model: try again once it is ready", "warning")
    elif app.screen_stack[0].query_one(PromptLine).value:
        app.show_notice("the tour types a question itself: empty the input line first", "warning")
    else:
        app.tour = Tour(app).end


def wanted(settings: Settings) -> bool:
    """Whether this is the very first start, and a tour is not unwelcome."""
    return settings.ui.tour and not settings.sessions.private and not _shown().exists()


def welcome(app: PredtuiApp) -> None:
    """The tour, as soon as all stages are there; none where somebody types or talks first. It is not shown again."""
    left = round(WAITS_S / EVERY_S)

    def look() -> None:
        nonlocal left
        left -= 1
        states = [status.state for status in app.turn.stages.values()]
        busy = app.turn.number or app.screen_stack[0].query_one(PromptLine).value or app.pages.open
        ready = len(states) >= STAGES and "starting" not in states
        if not (busy or ready or left <= 0):
            return
        timer.stop()
        with suppress(OSError):
            _shown().parent.mkdir(parents=True, exist_ok=True)
            _shown().touch()
        if ready and not busy and app.turn.stages["llm"].state == "ready":
            begin(app)

    timer = app.set_interval(EVERY_S, look)


def _shown() -> Path:
    return state_folder() / SHOWN
