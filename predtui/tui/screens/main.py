"""The main screen: the panes, and the lines above and below them. Draws a Turn when asked to; decides nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widgets import Input, Static

from predtui.clock import Clock
from predtui.models.offer import Offer
from predtui.state.player import Player
from predtui.state.turn import Turn
from predtui.tui.actions import keys_in_time
from predtui.tui.arranging import Border, arrange, border_at, dragged
from predtui.tui.gate import assemble
from predtui.tui.layout import Layout
from predtui.tui.panes import panes_in
from predtui.tui.recall import Recall
from predtui.tui.selecting import SelectingScreen
from predtui.tui.watching import Watching
from predtui.tui.widgets.bars import NoticeBar, TopBar
from predtui.tui.widgets.find import FindBar
from predtui.tui.widgets.keybar import KeyBar
from predtui.tui.widgets.pane import STYLES, Drawn, Pane
from predtui.tui.widgets.prompt import PromptLine
from predtui.tui.widgets.pull import PullBar
from predtui.tui.widgets.real import RealBar
from predtui.tui.widgets.scrubber import ScrubBar
from predtui.tui.widgets.stages import lacks_device
from predtui.tui.widgets.talk import TalkButton

SMALLEST = (40, 12)
"""Columns and rows below which one line says so."""


class MainScreen(SelectingScreen):
    """Panes in one column, two from 60 columns, three from 160; frames all round from 100 x 30.

    Where room is short, what is needed most stays: the input line, then CONVERSATION, CANDIDATE, TRANSCRIPT, VERIFIER,
    TIMELINE, UTILISATION. Each pane's own file says how high it is at which size.
    """

    AUTO_FOCUS = "#prompt"
    COMPONENT_CLASSES: ClassVar[set[str]] = STYLES

    def __init__(
        self,
        turn: Turn,
        model: str,
        clock: Clock,
        read_only: bool = False,
        offer: Offer | None = None,
        recall: Recall | None = None,
        layout: Layout | None = None,
        keep: Callable[[Layout], None] = lambda _: None,
        watch: Callable[[bool], None] = lambda _: None,
    ) -> None:
        """``layout``: of the panes, to begin with; ``keep`` takes each that is chosen later. ``watch`` takes whether
        a pane that shows how busy the machine is can be seen."""
        super().__init__()
        self.layout_of_panes = layout or Layout()
        self._keep, self._watch = keep, watch
        self._border: Border | None = None
        self._recall = recall
        self._clock = clock
        self._turn = turn
        self._model = model
        self._read_only = read_only
        self._offer = offer
        self._drawn: tuple[Drawn[Any], ...] = ()

    def on_mount(self) -> None:
        self._drawn = tuple(widget for widget in self.query("*") if isinstance(widget, Drawn))
        keys, prompt = self.query_one(KeyBar), self.query_one(PromptLine)
        self.watch(self, "focused", keys.follow)
        self.watch(self.query_one(TalkButton), "way", keys.follow_talk_key)
        self.watch(prompt, "written", keys.follow_line)
        self.watch(prompt, "suggestion", keys.follow_suggestion)
        Watching(self, self._watch)
        self.show(self._turn)
        self.call_after_refresh(self._lay_out)

    def compose(self) -> ComposeResult:
        turn = self._turn
        needed = " x ".join(map(str, SMALLEST))
        yield Static(assemble(f"predtui needs at least {needed} characters: please enlarge the window"), id="too-small")
        yield TopBar(turn, self._model, read_only=self._read_only)
        with Horizontal(id="panes"):
            with Vertical(id="said"):
                yield from (pane(turn) for pane in panes_in("said"))
            with Vertical(id="guessed"):
                yield from (pane(turn) for pane in panes_in("guessed"))
            with Vertical(id="measured"):
                yield from (pane(turn) for pane in panes_in("measured"))
        yield from (pane(turn) for pane in panes_in("below"))
        yield RealBar(turn, self._offer)
        yield PullBar(turn)
        yield NoticeBar(turn)
        yield FindBar()
        yield ScrubBar(turn)
        with Horizontal(id="entry"):
            yield Static("›", id="arrow")
            yield PromptLine(self._clock, self._read_only, self._recall)
            yield TalkButton(self._clock, disabled=self._read_only)
        yield KeyBar(turn, read_only=self._read_only)

    def show(self, turn: Turn, past: Turn | None = None) -> None:
        """Draws what differs from the last turn shown, and puts words that were heard in part where a person can finish
        them; before the panes stand, keeps the turn for them. In the panes, ``past`` takes its place, where one is."""
        former, self._turn = self._turn, turn
        for drawn in self._drawn:
            drawn.show(past if past and isinstance(drawn, Pane) else turn)
        self.query_one(PromptLine).foresee(turn)
        if turn.refused and turn.refused is not former.refused and not self._read_only:
            self.query_one(PromptLine).offer(turn.refused.heard)
        for button in self.query(TalkButton):  # none any more where the app is closing
            button.follow(turn.phase == "listening", lacks_device(turn.stages, "mic"))

    def follow_time(self, player: Player | None, sound: Callable[[], str] = str, live: bool = False) -> None:
        """Where ``player`` is, and the keys that go elsewhere; None: one is nowhere but now. ``live``: the end of its
        tape is now, and ``sound`` says why nothing is heard. In a recording there is nothing to type."""
        self.query_one(ScrubBar).follow(player, sound, live)
        self.query_one(KeyBar).follow_time(player is not None)
        self.query_one(TopBar).look_back(player is not None and live)
        self.query_one(PromptLine).passes = keys_in_time() if player else frozenset()
        self.set_class(player is not None and not live, "-replay")

    def lay_out(self, layout: Layout) -> None:
        """Lays the panes out anew. Who is no longer shown gives the focus to the input line."""
        self.layout_of_panes = layout
        self._lay_out()
        if isinstance(self.focused, Pane) and not layout.shows(self.focused.TOPIC):
            self.set_focus(self.query_one(PromptLine))
        self._keep(layout)

    def _lay_out(self) -> None:
        arrange(self, self.layout_of_panes)

    def on_mouse_down(self, event: events.MouseDown) -> None:
        self._border = border_at(self, event.screen_x, event.screen_y)
        if self._border:
            self.capture_mouse()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if self._border:
            self.lay_out(dragged(self, self.layout_of_panes, self._border, event.screen_x, event.screen_y))

    def on_mouse_up(self) -> None:
        if self._border:
            self._border = None
            self.release_mouse()

    def key_escape(self, event: events.Key) -> None:
        """Nothing is selected any more; and back from one pane to all, before anything else that the key means, but not
        while a reply is heard."""
        self.clear_selection()
        if isinstance(self.focused, Pane) and self.focused.found.words:
            event.stop()
            event.prevent_default()
            self.focused.find("")
        elif self.layout_of_panes.zoomed and (isinstance(self.focused, Pane) or not self._turn.audible):
            event.stop()
            event.prevent_default()
            self.lay_out(self.layout_of_panes.zoom(self.layout_of_panes.zoomed))

    def show_notice(self, text: str, severity: str) -> None:
        """A line for the notice strip, as soon as there is one; an empty text puts it away."""
        if self._drawn:
            self.query_one(NoticeBar).show_notice(text, severity)
        else:
            self.call_after_refresh(self.show_notice, text, severity)

    def tell_releases(self) -> None:
        """The terminal tells when the talk key is let go; kept, too, until there is a button to hear it."""
        if self._drawn:
            self.query_one(TalkButton).tell_releases()
        else:
            self.call_after_refresh(self.tell_releases)

    def on_resize(self, event: events.Resize) -> None:
        self.set_class(event.size.width < SMALLEST[0] or event.size.height < SMALLEST[1], "-tiny")
        for prompt in self.query(PromptLine):
            prompt.fit(event.size.height)
        if self._drawn:
            self.call_after_refresh(self._lay_out)

    def direct(self, *typed: events.Key | events.Paste) -> None:
        """Gives the focus to the input line where ``typed``, which came together and are not yet sent anywhere, belong
        there.

        That is what is typed or pasted while a pane has the focus, but for the pane's own keys where nothing else came
        with them; and any key while nothing has it, as after a click beside the panes, or in a window that was too
        small.
        """
        prompt = next(iter(self.query(PromptLine)), None)
        if prompt is None or prompt.disabled or self.focused is prompt or isinstance(self.focused, Input):
            return
        bound = self.focused._bindings.key_to_bindings if self.focused else {}
        if not isinstance(self.focused, Pane) or any(map(partial(_is_text, bound), typed)):
            self.set_focus(prompt)


def _is_text(bound: Mapping[str, Any], event: events.Key | events.Paste) -> bool:
    """``bound``: the keys that mean something to who has the focus."""
    return isinstance(event, events.Paste) or (event.is_printable and event.key not in bound)
