"""The line that shows a model being fetched. Fetches what a person has said yes to; asks nobody, and knows no page."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from textual.content import Content
from textual.reactive import var

from predtui.models.curated import proposals
from predtui.state.turn import Turn
from predtui.tui import figures
from predtui.tui.actions import key_of
from predtui.tui.background import in_background
from predtui.tui.driver import one_line
from predtui.tui.gate import assemble
from predtui.tui.messages import NoticeRaised, PullEnded, PullProgressed
from predtui.tui.widgets.pane import Drawn

if TYPE_CHECKING:
    from predtui.models.download import Progress
    from predtui.models.pull import Offer, Pull

STEP_S = 0.1
"""Seconds between two lines of progress."""


class Told(NamedTuple):
    """What there is to say of the model that is being fetched, or was last."""

    line: str
    fetching: bool = False


class PullBar(Drawn[Told]):
    """Hidden unless a model is being fetched, which goes on whatever is typed, said or opened meanwhile."""

    told: var[Told] = var(Told(""), init=False)
    """Pages watch it."""

    def __init__(self, turn: Turn) -> None:
        self._pull: Pull | None = None
        self._model = ""
        self._stopping = False
        self._reported = 0.0
        super().__init__(turn, name="pull")

    def on_unmount(self) -> None:
        self.cancel()

    def read(self, turn: Turn) -> Told:
        return self.told

    def changed(self, values: Told) -> None:
        self.set_class(values.fetching, "-shown")

    def draw(self, values: Told, width: int, height: int) -> list[Content]:
        keys = assemble((key_of("model"), ".key"), " shows")
        return [figures.spread(assemble(("↓ ", ".accent"), values.line), keys, width)]

    def watch_told(self, told: Told) -> None:
        self.values = told
        self.changed(told)
        self.refresh_lines()

    def fetch(self, offer: Offer, pull: Pull) -> None:
        """Begins with what was offered. Only one is fetched at a time: ``told`` says whether one is."""
        self._pull, self._model, self._stopping = pull, offer.model, False
        self.told = Told(f"{offer.model}: {offer.size / 1e6:,.0f} MB", fetching=True)
        in_background(self._run, "pull")

    def cancel(self) -> None:
        """What has come stays, to be gone on with."""
        if self._pull is not None:
            self._stopping = True
            self._pull.cancel()
            self.told = Told(f"{self._model}: stopping…", fetching=True)

    def on_pull_progressed(self, message: PullProgressed) -> None:
        message.stop()
        if self._pull is not None and not self._stopping:
            self.told = Told(f"{self._model}: {message.progress.figures}", fetching=True)

    def on_pull_ended(self, message: PullEnded) -> None:
        message.stop()
        self._pull = None
        if message.problem:
            line, severity = f"{self._model}: {message.problem}", "error"
        elif message.whole:
            line, severity = f"{self._model} is here: {_chosen_by(self._model)}", "information"
        else:
            line = f"{self._model}: stopped; what has come is kept, and {key_of('model')} goes on from there"
            severity = "information"
        self.told = Told(line)
        self.post_message(NoticeRaised(line, severity))

    def _run(self) -> None:
        """In a thread of its own."""
        assert self._pull is not None
        try:
            self.post_message(PullEnded(self._pull.run(self._report, _inspect)))
        except Exception as error:  # one that nobody expected must not leave the line standing
            self.log.error(repr(error))
            self.post_message(PullEnded(False, one_line(error)))

    def _report(self, progress: Progress) -> None:
        now = time.monotonic()
        if now - self._reported >= STEP_S:
            self._reported = now
            self.post_message(PullProgressed(progress))


def _inspect(path: Path) -> None:
    """Raises PredtuiError for a GGUF file that is damaged, or not to talk with."""
    from predtui.llm.gguf import read_header
    from predtui.llm.unfit import refuse_unfit

    refuse_unfit(path, read_header(path).metadata)


def _chosen_by(model: str) -> str:
    """How what was fetched is used."""
    proposal = proposals().get(model)
    return f"predtui {proposal.option}" if proposal and proposal.kind != "llm" else f"{key_of('model')} chooses it"
