"""F7: the conversations that are kept. Searches them, goes on with one, names, saves or deletes one. Reads and writes
nothing on the screen's loop."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from predtui.errors import PredtuiError
from predtui.state.exchange import Exchange
from predtui.state.kept.store import LONGEST_NAME, Session, Store
from predtui.tui.gate import assemble
from predtui.tui.messages import SessionLoaded, SessionsFound, SessionsTold
from predtui.tui.saving import day, save_in
from predtui.tui.screens.name import NameScreen
from predtui.tui.screens.question import QuestionScreen

ANEW = "begin a new conversation"
NARROW = 60
"""Columns below which a row has day and number alone before its title."""
KEYS = "Enter goes on · Ctrl+E names · Ctrl+S saves · Del deletes · Esc closes"
Chosen = tuple[int, tuple[Exchange, ...]]
"""The number of a session, and its exchanges; 0 and none: a new one."""


class SessionsScreen(ModalScreen[Chosen | None]):
    """Returns what the conversation goes on from; None where it is left as it is."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,f7", "dismiss(None)", "close", show=False),
        Binding("down", "move(1)", "next", show=False, priority=True),
        Binding("up", "move(-1)", "previous", show=False, priority=True),
        Binding("pagedown", "move(10)", "further", show=False, priority=True),
        Binding("pageup", "move(-10)", "back", show=False, priority=True),
        Binding("ctrl+s", "save", "save", show=False, priority=True),
        Binding("ctrl+e", "name", "name", show=False, priority=True),
        Binding("delete", "ask", "delete", show=False, priority=True),
    ]

    def __init__(self, kept: Callable[[], Store], present: int, folder: Path) -> None:
        """``kept``: opens what is kept; ``present``: the session that is being written, 0 for none; ``folder``: where
        one is saved."""
        super().__init__()
        self._kept, self._present, self._folder = kept, present, folder
        self._found: list[Session] = []
        self._wanted = ""

    def compose(self) -> ComposeResult:
        with Vertical(id="page") as page:
            page.border_title = "SESSIONS"
            page.border_subtitle = KEYS
            yield Input(placeholder="type words that were said", compact=True)
            yield OptionList()
            yield Static("", id="about")

    def on_mount(self) -> None:
        self.query_one(Input).focus()
        self._look()

    # --- what there is -----------------------------------------------------------------------------------------------

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._wanted = event.value.strip()
        self._look()

    def _look(self) -> None:
        self._do(partial(self._find, self._wanted))

    def _find(self, wanted: str) -> None:
        """In a thread of its own."""
        with self._kept() as store:
            self.post_message(SessionsFound(wanted, store.sessions(wanted)))

    def on_sessions_found(self, message: SessionsFound) -> None:
        message.stop()
        if message.wanted != self._wanted:
            return
        listed = self.query_one(OptionList)
        before = self._highlighted()
        self._found = list(message.sessions)
        rows = [Option(assemble(("+ ", "bold"), ANEW)), *(Option(self._row(one)) for one in self._found)]
        listed.clear_options()
        listed.add_options(rows)
        at = [index for index, one in enumerate(self._found, 1) if before and one.number == before.number]
        listed.highlighted = at[0] if at else min(1, len(self._found))
        self._tell("" if self._found else "nobody has said that" if self._wanted else "no conversation is kept yet")

    def on_resize(self) -> None:
        """The rows have more room, or less."""
        listed = self.query_one(OptionList)
        for at, session in enumerate(self._found, 1):
            listed.replace_option_prompt_at_index(at, self._row(session))

    def _row(self, session: Session) -> Content:
        """Its name or first prompt; before it, when it was used last, and how many turns it has."""
        mark, when = "●" if session.number == self._present else " ", day(session.last)
        turns = f"{session.turns:>4} turn{'s' if session.turns != 1 else ' '}  "
        about = f"{when[5:10]}{session.turns:>5}  " if self.app.size.width < NARROW else f"{when}  {turns}"
        return assemble(f"{mark} {about}", " ".join(session.title.split()))

    def _highlighted(self) -> Session | None:
        at = self.query_one(OptionList).highlighted
        return self._found[at - 1] if at and at <= len(self._found) else None

    def _tell(self, text: str) -> None:
        self.query_one("#about", Static).update(assemble(text))

    # --- what is done with one ---------------------------------------------------------------------------------------

    def action_move(self, by: int) -> None:
        listed = self.query_one(OptionList)
        listed.highlighted = max(0, min(listed.option_count - 1, (listed.highlighted or 0) + by))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self._choose()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self._choose()

    def _choose(self) -> None:
        session = self._highlighted()
        if session is None:
            self.dismiss((0, ()))
        elif session.number == self._present:
            self.dismiss(None)
        else:
            self._do(partial(self._resume, session.number))

    def _resume(self, number: int) -> None:
        self.post_message(SessionLoaded(number, self._exchanges(number)))

    def on_session_loaded(self, message: SessionLoaded) -> None:
        message.stop()
        if self.is_current:
            self.dismiss((message.number, message.exchanges))

    def action_save(self) -> None:
        if session := self._highlighted():
            self._do(partial(self._save, session))

    def _save(self, session: Session) -> None:
        saved = save_in(self._folder, self._exchanges(session.number), ".md", session.name)
        self.post_message(SessionsTold(f"saved as {saved}"))

    def action_name(self) -> None:
        if (session := self._highlighted()) is None:
            return
        screen = NameScreen(f"NAME OF SESSION {session.number}", " ".join(session.title.split()), LONGEST_NAME)
        done = lambda name: None if name is None else self._do(partial(self._rename, session.number, name))  # noqa: E731
        self.app.push_screen(screen, done)

    def _rename(self, number: int, name: str) -> None:
        with self._kept() as store:
            store.rename(number, name)
        self._find(self._wanted)

    def action_ask(self) -> None:
        """Nothing is deleted before the answer."""
        if (session := self._highlighted()) is None:
            return
        if session.number == self._present:
            self._tell("this conversation is under way: begin a new one first")
            return
        told = [" ".join(session.title.split()), "What was said in it is overwritten, and cannot be had back."]
        question = QuestionScreen(f"DELETE SESSION {session.number}?", told)
        self.app.push_screen(question, lambda yes: self._do(partial(self._delete, session.number)) if yes else None)

    def _delete(self, number: int) -> None:
        with self._kept() as store:
            store.delete(number)
        self._find(self._wanted)

    def _exchanges(self, number: int) -> tuple[Exchange, ...]:
        with self._kept() as store:
            return store.exchanges(number)

    def _do(self, job: Callable[[], None]) -> None:
        """In a thread of its own; what goes wrong is said on the page."""

        def guarded() -> None:
            try:
                job()
            except PredtuiError as error:
                self.post_message(SessionsTold(f"✗ {error}"))

        self.run_worker(guarded, group="sessions", thread=True, exit_on_error=False)

    def on_sessions_told(self, message: SessionsTold) -> None:
        message.stop()
        self._tell(message.text)
