"""The application: keys to the driver, turns to the screen. Decides nothing about speech, and imports no engine."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, ClassVar, cast

from textual.app import App, SystemCommand
from textual.await_complete import AwaitComplete
from textual.binding import Binding, BindingType
from textual.events import Event as TextualEvent
from textual.events import Key, Paste
from textual.screen import Screen

from predtui.clock import Clock, RealClock
from predtui.errors import PredtuiError
from predtui.llm.default import language_model
from predtui.models.offer import Offer
from predtui.settings import Settings, remember
from predtui.state.events import Event
from predtui.state.turn import Turn
from predtui.tui import explain
from predtui.tui.driver import Driver, LiveDriver
from predtui.tui.messages import DriverStarted, ExplainAsked, LineTyped, TalkHeld, Told, TurnChanged
from predtui.tui.pace import Pace
from predtui.tui.screens.main import MainScreen
from predtui.tui.themes import MARK_DEFAULTS, ThemeRegistry
from predtui.tui.widgets.pane import Pane
from predtui.tui.widgets.prompt import READ_ONLY, TalkButton
from predtui.tui.widgets.real import RealBar
from predtui.tui.widgets.stages import loaded_model

LAST_WORDS = 0.1
"""Seconds that what is asked of the engines has to reach them, before the app stops."""


class PredtuiApp(App[None]):
    """Draws what the driver tells and passes on what the person does. Whoever runs it stops the driver afterwards.

    ``verifiers``: names F3 goes through. ``model_options``: a model's path to the options of the stage "llm"; without
    it F4 says that models cannot be changed. ``read_only``: the driver is a recording and takes nothing. ``offer``: of
    the real models, where F5 may get them.
    """

    TITLE = "predtui"
    CSS_PATH = "predtui.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (60, "-slim"), (100, "-broad"), (160, "-vast")]  # noqa: RUF012
    VERTICAL_BREAKPOINTS = [  # noqa: RUF012
        (0, "-flat"), (16, "-low"), (20, "-middling"), (24, "-short"), (30, "-tall"), (40, "-towering"),
    ]  # fmt: skip
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f1", "help", "help", show=False, priority=True),
        Binding("f2", "talk", "talk", show=False, priority=True),
        Binding("f3", "verifier", "verifier", show=False),
        Binding("f4", "model", "model", show=False),
        Binding("f5", "real", "real models", show=False),
        Binding("ctrl+t", "next_theme", "theme", show=False, priority=True),
        Binding("ctrl+z", "suspend_process", "suspend", show=False, priority=True),
        Binding("escape", "silence", "silence", show=False),
    ]

    def __init__(
        self,
        driver: Driver,
        settings: Settings,
        themes: ThemeRegistry,
        *,
        verifiers: Sequence[str] = ("greedy",),
        model_options: Callable[[str], Any] | None = None,
        read_only: bool = False,
        clock: Clock | None = None,
        offer: Offer | None = None,
    ) -> None:
        super().__init__()
        self.driver = driver
        self.settings = settings
        self.turn = driver.state
        self._themes = themes
        self._verifiers = tuple(verifiers)
        self._verifier = settings.llm.verifier
        self._model = settings.llm.model
        self._model_options = model_options
        self._read_only = read_only
        self._clock = clock or RealClock()
        self._offer = offer
        self._pace = Pace()
        self.drawing = False
        self._told_turn: Turn | None = None
        self._running_driver = False
        self._waiting: list[Callable[[LiveDriver], None]] = []
        for theme in themes.themes:
            self.register_theme(theme)

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return MARK_DEFAULTS

    def get_default_screen(self) -> Screen[None]:
        model = language_model(self._model, self.settings.llm.engine)
        return MainScreen(self.turn, model, self._clock, self._read_only, self._offer)

    # --- beginning -------------------------------------------------------------------------------------------------

    def on_mount(self) -> None:
        wanted = self.settings.ui.theme
        if wanted in self._themes.names:
            self.theme = wanted
        elif self._themes.names:
            self.theme = self._themes.names[0]
            self.post_message(Told(f"no theme {wanted!r}: showing {self.theme}; Ctrl+T chooses", "warning"))
        if self._themes.problems:
            self.post_message(Told(" · ".join(self._themes.problems), "warning"))
        self.app_resume_signal.subscribe(self, lambda _: self._redraw())
        self.driver.subscribe(self._heard)
        self.call_after_refresh(self.run_worker, self._start, group="driver", exclusive=True, thread=True)

    def _start(self) -> None:
        """In a thread of its own: processes take their time, and the screen stands meanwhile."""
        try:
            self.driver.start()
        except Exception as error:
            self.log.error(repr(error))
            self.post_message(Told(_line(error), "error"))
            return
        self.post_message(DriverStarted())

    def on_driver_started(self) -> None:
        self._running_driver = True
        waiting, self._waiting = self._waiting, []
        for call in waiting:
            self._ask(call)

    # --- from the driver -------------------------------------------------------------------------------------------

    def _heard(self, event: Event) -> None:
        """On the driver's thread: only a message crosses."""
        turn = self.driver.state
        if turn is not self._told_turn and self.is_running:
            self._told_turn = turn
            self.post_message(TurnChanged(turn))

    def on_turn_changed(self, message: TurnChanged) -> None:
        self.turn = message.turn
        if not self.drawing:
            self.drawing = True
            self._after(self._pace.wait(), self._draw)

    def _after(self, seconds: float, call: Callable[[], None]) -> None:
        """Calls once, however late: a timer of Textual's that begins late, on a busy machine or after a suspension,
        takes its only call for missed and never makes it."""
        asyncio.get_running_loop().call_later(seconds, self.call_later, call)

    def _draw(self) -> None:
        self.drawing = False
        self._pace.drawn()
        if self.screen_stack:
            self._main.show(self.turn)

    @property
    def _main(self) -> MainScreen:
        """The screen behind all others; none is left while the app closes, when timers may still fire."""
        return cast(MainScreen, self.screen_stack[0])

    # --- from the person -------------------------------------------------------------------------------------------

    async def on_event(self, event: TextualEvent) -> None:
        """Every key and every paste passes here first, one after the other: where it goes is decided before it is sent
        on its way, so that a burst arrives whole and in order."""
        if isinstance(event, (Key, Paste)) and not event.is_forwarded and isinstance(self.screen, MainScreen):
            self.screen.direct(event)
        await super().on_event(event)

    def _ask(self, call: Callable[[LiveDriver], None]) -> None:
        """Asks something of the driver; before it runs, in order when it does. What fails becomes a line."""
        if self._read_only:
            self._tell(READ_ONLY)
        elif not self._running_driver:
            self._waiting.append(call)
        else:
            try:
                call(cast(LiveDriver, self.driver))
            except Exception as error:
                self.log.error(repr(error))
                self._tell(_line(error), "error")

    def _tell(self, text: str, severity: str = "information") -> None:
        if self.screen_stack:
            self._main.tell(text, severity)

    def on_told(self, message: Told) -> None:
        self._tell(message.text, message.severity)

    def on_line_typed(self, message: LineTyped) -> None:
        self._ask(lambda driver: driver.type_line(message.typed))

    def on_talk_held(self, message: TalkHeld) -> None:
        self._ask(lambda driver: driver.talk(message.on))

    def action_talk(self) -> None:
        button = self._main.query_one(TalkButton)
        if self._read_only:
            self._tell(READ_ONLY)
        elif len(self.screen_stack) == 1 or button.talking:  # not begun under an open page, but ended
            button.press()

    def action_silence(self) -> None:
        self._tell("")
        self._main.query_one(RealBar).put_away()
        if not self._read_only:
            self._ask(lambda driver: driver.silence())

    def action_verifier(self) -> None:
        names = self._verifiers
        following = names[(names.index(self._verifier) + 1) % len(names)] if self._verifier in names else names[0]
        self._choose_verifier(following)

    def _choose_verifier(self, name: str) -> None:
        if not self._read_only:
            self._verifier = name
        self._ask(lambda driver: driver.configure(verifier=name))

    def action_model(self) -> None:
        from predtui.tui.screens.models import ModelScreen, gguf_files

        if self._read_only or self._model_options is None:
            self._tell("the model cannot be changed here")
        elif len(self.screen_stack) == 1:
            present, _ = loaded_model(self.turn.stages)
            files = gguf_files(self.settings.llm.folder)
            self.push_screen(ModelScreen(present, self._model, files), self._choose_model)

    def _choose_model(self, path: str | None) -> None:
        if not path or path == loaded_model(self.turn.stages)[0] or self._model_options is None:
            return
        try:
            options = self._model_options(path)
        except PredtuiError as error:
            self._tell(str(error), "error")
            return
        self._model = path
        self._ask(lambda driver: driver.replace_stage("llm", options))

    def action_real(self) -> None:
        self._main.query_one(RealBar).press()

    def on_real_models_here(self) -> None:
        """Stages whose model nobody has named take them over."""
        named = "" if self._model == self.settings.llm.model else "llm"
        stages = [name for name in (self._offer.stages if self._offer else ()) if name != named]
        self._tell("the real models are here and take over" if stages else "the real models are here: F4 chooses")
        for name in stages:
            self._ask(partial(_renew, name))

    def action_next_theme(self) -> None:
        names = self._themes.names
        if names:
            following = (names.index(self.theme) + 1) % len(names) if self.theme in names else 0
            self._choose_theme(names[following])

    def _choose_theme(self, name: str) -> None:
        self.theme = name
        self._tell(f"theme {name}")
        try:
            remember("ui.theme", name)
        except PredtuiError as error:
            self._tell(str(error), "warning")

    def action_help(self) -> None:
        from predtui.tui.screens.reading import ReadingScreen, help_screen

        if isinstance(self.screen, ReadingScreen):
            self.pop_screen()
        elif len(self.screen_stack) == 1:
            self.push_screen(help_screen())

    def action_suspend_process(self) -> None:
        """As Ctrl+Z does elsewhere: the whole job stops, and what started it, such as make, with it. Nobody is listened
        to meanwhile. Without a shell to come back from, it goes on."""
        if os.getpgrp() == os.getsid(0):
            self._tell("there is no shell to go back to: Ctrl+Q quits", "warning")
            return
        if not self._read_only and (self.turn.phase == "listening" or self.turn.audible):
            self._ask(lambda driver: driver.silence())
        self._after(LAST_WORDS, self._suspend)

    def _redraw(self) -> None:
        """Back from the shell, the terminal holds nothing of what was drawn."""
        self.refresh(layout=True)

    def _suspend(self) -> None:
        if self._driver is not None and self._driver.can_suspend:
            self.app_suspend_signal.publish(self)
            os.killpg(0, signal.SIGTSTP)

    def action_explain(self) -> None:
        focused = self._main.focused
        self._explain(focused.TOPIC if isinstance(focused, Pane) else "timeline")

    def on_explain_asked(self, message: ExplainAsked) -> None:
        self._explain(message.topic)

    def _explain(self, topic: str) -> None:
        from predtui.tui.screens.reading import topic_screen

        if len(self.screen_stack) == 1:
            self.push_screen(topic_screen(topic))

    def pop_screen(self) -> AwaitComplete:
        """As ever, but harmless when nothing is open: a key pressed twice may close the same page twice."""
        return super().pop_screen() if len(self.screen_stack) > 1 else AwaitComplete()

    async def run_action(self, *args: Any, **options: Any) -> bool:
        """As ever, but an action that fails becomes a line and not the end of the app."""
        try:
            return await super().run_action(*args, **options)
        except Exception as error:
            self.log.error(repr(error))
            self._tell(f"that key failed: {_line(error)}", "warning")
            return False

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        if not self._read_only:
            yield SystemCommand("Talk", "start or stop talking (F2)", self.action_talk)
            yield SystemCommand("Silence", "stop the reply (Esc)", self.action_silence)
            yield SystemCommand("Model", "choose another language model (F4)", self.action_model)
            if self._offer and (size := self._offer.megabytes):
                meaning = f"get them, {size} MB: they hear people and talk about anything (F5)"
                yield SystemCommand("Real models", meaning, self.action_real)
            yield from choices("Verifier", "verify candidates this way", self._verifiers, self._choose_verifier)
        yield SystemCommand("Help", "every key and every number (F1)", self.action_help)
        yield from choices("Theme", "use and keep this theme", self._themes.names, self._choose_theme)
        yield from choices(
            "Explain", "what the numbers of this pane mean", explain.TOPICS, self._explain, discover=False
        )
        yield SystemCommand("Quit", "leave predtui (Ctrl+Q)", self.action_quit)


def choices(
    kind: str, meaning: str, names: Iterable[str], choose: Callable[[str], None], discover: bool = True
) -> Iterable[SystemCommand]:
    """A command for each name; those not to ``discover`` come up only when searched for."""
    for name in names:
        yield SystemCommand(f"{kind}: {name}", meaning, partial(choose, name), discover)


def _renew(name: str, driver: LiveDriver) -> None:
    driver.renew_stage(name)


def _line(error: Exception) -> str:
    """One line a person can act on."""
    return str(error) if isinstance(error, PredtuiError) else f"{type(error).__name__}: {error}"
