"""The application: keys to the driver, turns to the screen. Decides nothing about speech, and imports no engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from typing import Any, cast

from textual.app import App
from textual.await_complete import AwaitComplete
from textual.binding import Binding
from textual.color import Color
from textual.driver import Driver as TerminalDriver
from textual.events import Event as TextualEvent
from textual.events import Key, Paste
from textual.filter import LineFilter
from textual.screen import Screen
from textual.scrollbar import ScrollBar
from textual.timer import Timer
from textual.widgets import Input

from predtui.clock import Clock, RealClock
from predtui.llm.default import language_model
from predtui.models.offer import Offer
from predtui.settings import Settings
from predtui.state.events import Event, StageStatus
from predtui.state.kept.keeper import Keeper
from predtui.state.turn import Turn
from predtui.tui import clipboard, palette, rooms
from predtui.tui.actions import action_named, bind, bindings
from predtui.tui.bursts import gathering
from predtui.tui.choices import ModelChoice, ThemeChoice, VerifierChoice
from predtui.tui.colourless import Colourless
from predtui.tui.dials import Dials
from predtui.tui.driver import READ_ONLY, Driver, Requests, one_line
from predtui.tui.frames import Frames
from predtui.tui.gate import Gate
from predtui.tui.keys import RELEASE
from predtui.tui.messages import (
    DriverStarted,
    GroundTold,
    KeysTyped,
    LineTyped,
    NoticeRaised,
    ReleasesTold,
    StageTold,
    TalkHeld,
    TurnChanged,
    VerdictChosen,
)
from predtui.tui.pages import Pages
from predtui.tui.panes import style_sheet
from predtui.tui.recall import Recall
from predtui.tui.screens.main import MainScreen
from predtui.tui.scrollbar import ThinBar
from predtui.tui.scrubbing import Scrubbing, active, leave, look_at, words_typed
from predtui.tui.terminal import telling_releases
from predtui.tui.themes import MARK_DEFAULTS, ThemeRegistry
from predtui.tui.widgets.prompt import PromptLine
from predtui.tui.widgets.real import RealBar
from predtui.tui.widgets.talk import TalkButton


class GuardedApp(App[None]):
    """Textual's app, made safe: keys that wait together are one edit, nothing drawn commands the terminal, and neither
    a key pressed twice nor an action that fails is the end of it."""

    def __init__(self) -> None:
        super().__init__()
        ScrollBar.renderer = ThinBar
        self._gate = Gate()
        self._colourless = Colourless(lambda: Color.parse(self.current_theme.background or "black"))

    def show_notice(self, text: str, severity: str = "information") -> None:
        """A line in the notice strip; an empty one dismisses it."""
        raise NotImplementedError

    def copy(self, text: str, what: str = "") -> None:
        """To the clipboard of the terminal, and to the screen's own; says that, and how much it was."""
        text = clipboard.clean(text)
        to_terminal = partial(self.call_later, super().copy_to_clipboard)
        self.run_worker(partial(clipboard.send, text, to_terminal), group="clipboard", thread=True)
        self._clipboard = text
        count = f"{len(text)} character{'s' * (len(text) != 1)}"
        self.show_notice(f"copied: {what}, {count}" if what else f"copied: {count}")

    def copy_to_clipboard(self, text: str) -> None:
        """Textual copies what is selected so."""
        self.copy(text)

    def get_driver_class(self) -> type[TerminalDriver]:
        return gathering(telling_releases(super().get_driver_class()))

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Whatever is drawn, by whomever, passes the gate last."""
        if self.no_color:
            return [self._colourless, self._gate]
        return [*super().get_line_filters(), self._gate]

    def set_timer(self, *args: Any, **options: Any) -> Timer:
        """Textual's own skips a timer that is late, also one that has no other time: on a busy machine the screen would
        keep its size for good."""
        timer = super().set_timer(*args, **options)
        timer._skip = False
        return timer

    def pop_screen(self) -> AwaitComplete:
        """Harmless when nothing is open: a key pressed twice may close the same page twice."""
        return super().pop_screen() if len(self.screen_stack) > 1 else AwaitComplete()

    async def run_action(self, *args: Any, **options: Any) -> bool:
        """An action that fails becomes a notice and not the end of the app."""
        try:
            return await super().run_action(*args, **options)
        except Exception as error:
            self.log.error(repr(error))
            self.show_notice(f"that key failed: {one_line(error)}", "warning")
            return False


class PredtuiApp(GuardedApp):
    """Draws what the driver reports and passes on what the person does. Whoever runs it stops the driver afterwards.

    ``model_options``: a model's path to the settings that it runs with; without it F4 says that models cannot be
    changed. ``read_only``: the driver is a recording and takes no requests. ``offer``: of the real models, if F5 may
    get them. ``keeper``: of the conversation, who knows what was asked before.
    ``welcome`` is called once the driver runs. ``scrub``: for a recording that one can go to and fro in.
    """

    TITLE = "predtui"
    CSS_PATH = "predtui.tcss"
    COMMANDS = {palette.Commands}  # noqa: RUF012
    CSS = style_sheet()
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (60, "-slim"), (100, "-broad"), (160, "-vast")]  # noqa: RUF012
    VERTICAL_BREAKPOINTS = [  # noqa: RUF012
        (0, "-flat"), (16, "-low"), (20, "-middling"), (24, "-short"), (30, "-tall"), (40, "-towering"),
    ]  # fmt: skip

    def __init__(
        self,
        driver: Driver,
        settings: Settings,
        themes: ThemeRegistry,
        *,
        model_options: Callable[[str], Mapping[str, Any]] | None = None,
        read_only: bool = False,
        clock: Clock | None = None,
        offer: Offer | None = None,
        keeper: Keeper | None = None,
        scrub: Scrubbing | None = None,
        welcome: Callable[[PredtuiApp], None] | None = None,
    ) -> None:
        super().__init__()
        released = Binding(RELEASE, "talk_end", show=False, priority=True)
        bind(self, [*bindings(on_pane=False), released], without=self.COMMAND_PALETTE_BINDING)
        self.driver = driver
        self.tour: Callable[[], None] | None = None
        """Ends the tour that is under way."""
        self._welcome = welcome
        self.keeper = keeper
        self.scrub = scrub or Scrubbing()
        self.turn = driver.state
        self.read_only = read_only
        self.offer = offer
        self.requests = Requests(driver, read_only, self.show_notice, self.log.error)
        self.dials = Dials(settings, self.requests, self.show_notice)
        self.verifiers = VerifierChoice(settings.llm.verifier, self.requests)
        self.model = ModelChoice(self.dials, model_options, self.requests, self.show_notice)
        self.themes = ThemeChoice(self, themes, self.raise_notice)
        self.dials.direct |= {"ui.theme": self.themes.show, "llm.verifier": self.verifiers.choose}
        if keeper:
            self.dials.direct["sessions.private"] = keeper.let_be
        self.pages = Pages(self)
        self.frames = Frames(self, lambda: self._main.show(self.turn, self.scrub.past))
        self._clock = clock or RealClock()
        self._late = 0.0
        """Seconds between the newest key and the moment it was looked at: a screen may have been busy."""
        self._posted_turn: Turn | None = None

    @property
    def settings(self) -> Settings:
        """Those in force."""
        return self.dials.settings

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return MARK_DEFAULTS

    def get_default_screen(self) -> Screen[None]:
        llm = self.settings.llm
        model = language_model(self.model.chosen, llm.engine, url=llm.url)
        recall = Recall(lambda: self.keeper.prompts if self.keeper else ())
        return MainScreen(self.turn, model, self._clock, self.read_only, self.offer, recall, *rooms.begin(self))

    # --- beginning -------------------------------------------------------------------------------------------------

    def on_mount(self) -> None:
        self.themes.begin(self.settings.ui.theme)
        self.app_resume_signal.subscribe(self, lambda _: self.refresh(layout=True))  # the terminal was cleared
        self.driver.subscribe(self._on_event_of_driver)
        tell = partial(self.raise_notice, severity="information")
        self.call_after_refresh(lambda: self.scrub.begin(self._main, tell))
        self.call_after_refresh(self.run_worker, self._start, group="driver", exclusive=True, thread=True)

    def _start(self) -> None:
        """In a thread of its own: processes take their time, and the screen is up meanwhile."""
        try:
            self.driver.start()
        except Exception as error:
            self.log.error(repr(error))
            self.raise_notice(one_line(error), "error")
            return
        self.post_message(DriverStarted())

    def on_driver_started(self) -> None:
        self.requests.begin()
        if self._welcome:
            self._welcome(self)

    # --- from the driver -------------------------------------------------------------------------------------------

    def _on_event_of_driver(self, event: Event) -> None:
        """On the driver's thread: only a message crosses."""
        if isinstance(event, StageStatus) and self.is_running:
            self.post_message(StageTold(event))
        turn = self.driver.state
        if turn is not self._posted_turn and self.is_running:
            self._posted_turn = turn
            self.post_message(TurnChanged(turn))

    def on_turn_changed(self, message: TurnChanged) -> None:
        self.turn = message.turn
        self.frames.request()

    def on_time_moved(self) -> None:
        self.frames.request()

    def on_verdict_chosen(self, message: VerdictChosen) -> None:
        look_at(self, message.verdict)

    def on_stage_told(self, message: StageTold) -> None:
        self.dials.follow(message.status)

    @property
    def _main(self) -> MainScreen:
        """The screen behind all others; while the app closes it loses its widgets, and then none is left."""
        return cast(MainScreen, self.screen_stack[0])

    # --- notices ---------------------------------------------------------------------------------------------------

    def show_notice(self, text: str, severity: str = "information") -> None:
        if self.is_running and self.screen_stack:
            self._main.show_notice(text, severity)

    def raise_notice(self, text: str, severity: str) -> None:
        """From any thread, and before there is a screen."""
        self.post_message(NoticeRaised(text, severity))

    def on_notice_raised(self, message: NoticeRaised) -> None:
        self.show_notice(message.text, message.severity)

    # --- from the person -------------------------------------------------------------------------------------------

    async def on_event(self, event: TextualEvent) -> None:
        """Every key and every paste passes here first, one after the other: where it goes is decided before it is sent
        on its way, so that a burst arrives whole and in order."""
        if isinstance(event, (Key, Paste)) and not event.is_forwarded and isinstance(self.screen, MainScreen):
            self.screen.direct(event)
        if isinstance(event, Key):
            self._late = max(0.0, RealClock().now() - event.time)
        await super().on_event(event)

    async def on_keys_typed(self, message: KeysTyped) -> None:
        """The input line takes all characters that are left in one edit, anything else one after the other."""
        words_typed(self, message.keys)
        if isinstance(self.screen, MainScreen):
            self.screen.direct(*message.keys)
        for at, key in enumerate(message.keys):
            if isinstance(self.focused, PromptLine):
                text = "".join(str(left.character) for left in message.keys[at:])
                await self.on_event(Key(key.key, text))
                return
            await self.on_event(key)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Keys that go to and fro in time mean something else where there is only now."""
        in_time = action == "perform" and action_named(str(parameters[0])).in_time
        return not in_time or (active(self) and not isinstance(self.focused, Input))

    def action_perform(self, name: str) -> None:
        """An action that stands in a file of its own."""
        module, _, function = action_named(name).run.partition(":")
        getattr(import_module(f"predtui.tui.{module}"), function)(self)

    def on_line_typed(self, message: LineTyped) -> None:
        leave(self)
        self.requests.ask(lambda driver: driver.type_line(message.typed))

    def on_talk_held(self, message: TalkHeld) -> None:
        leave(self)
        self.requests.ask(lambda driver: driver.talk(message.on))

    def action_talk(self) -> None:
        button = self._main.query_one(TalkButton)
        if self.read_only:
            self.show_notice(READ_ONLY)
        elif not self.pages.open or button.talking:  # not begun under an open page, but ended
            button.press(self._late)

    def action_talk_end(self) -> None:
        """The talk key was let go."""
        self._main.query_one(TalkButton).release(self._late)

    def on_releases_told(self, message: ReleasesTold) -> None:
        """A terminal may be faster than the screen."""
        if self.screen_stack:
            self._main.tell_releases()
        else:
            self.call_later(self.post_message, message)

    def on_ground_told(self, message: GroundTold) -> None:
        self.themes.follow(message.light)

    def on_app_blur(self) -> None:
        """A key that is let go in another window is not told of here."""
        for button in self._main.query(TalkButton):
            button.lose()

    def action_silence(self) -> None:
        if leave(self):
            return
        if self.tour:
            self.tour()
        self.show_notice("")
        self._main.query_one(RealBar).dismiss()
        if not self.read_only:
            self.requests.ask(lambda driver: driver.silence())

    def action_verifier(self) -> None:
        self.verifiers.next()

    def action_model(self) -> None:
        if self.model.fixed:
            self.show_notice("the model cannot be changed here")
        else:
            self.pages.choose_model(self.model, lambda: self.turn, self.settings.llm.folder)

    def action_real(self) -> None:
        self._main.query_one(RealBar).press()

    def action_again(self) -> None:
        """Stages that have failed."""
        self.requests.restart()

    def on_real_models_installed(self) -> None:
        self.model.take_over(self.offer.stages if self.offer else ())

    def action_next_theme(self) -> None:
        self.themes.next()

    def action_help(self) -> None:
        self.pages.help()
