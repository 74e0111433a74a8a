"""The command palette: every action by name. Must not know what an action does."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from operator import itemgetter

from textual.app import App, SystemCommand
from textual.command import DiscoveryHit, Hit, Hits, Provider

from predtui.models.offer import Offer
from predtui.tui import actions as table
from predtui.tui.choices import ThemeChoice, VerifierChoice
from predtui.tui.gate import assemble
from predtui.tui.layout import PRESETS
from predtui.tui.pages import Pages
from predtui.tui.panes import topics
from predtui.tui.widgets.stages import ORDER


class Commands(Provider):
    """The commands under their names to the letter: Textual's own provider takes a theme's name for markup."""

    async def discover(self) -> Hits:
        for name, meaning, action, listed in sorted(self._all, key=itemgetter(0)):
            if listed:
                yield DiscoveryHit(assemble(name), action, text=name, help=meaning)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for name, meaning, action, _ in self._all:
            score, letters = matcher.fuzzy_search.match(query, name)
            if score > 0:
                shown = assemble(name)
                for at in letters:
                    shown = shown.stylize(matcher.match_style, at, at + 1)
                yield Hit(score, shown, action, text=name, help=meaning)

    @property
    def _all(self) -> Iterable[SystemCommand]:
        return self.app.get_system_commands(self.screen)


def actions(app: App[None], read_only: bool, offer: Offer | None, in_time: bool) -> Iterator[SystemCommand]:
    """Those of the table that do something here; the real models say how large they are. ``in_time``: one can go to
    and fro in time."""
    for action in table.actions():
        size = offer.megabytes if offer and action.name == "real" else 0
        here = not (read_only and action.live) and in_time >= action.in_time
        if action.title and here and (size or action.name != "real"):
            keys = f" ({action.spelled()})" if action.keys else ""
            sizes = f" ({size} MB)" if size else ""
            yield SystemCommand(action.title, f"{action.meaning}{sizes}{keys}", partial(app.run_action, action.action))


def choices(themes: ThemeChoice, pages: Pages) -> Iterator[SystemCommand]:
    """One of several, which a recording has, too."""
    yield from _one_each("Theme", "use and keep this theme", themes.names, themes.choose)
    yield from _one_each("Explain", "what the numbers of this pane mean", topics(), pages.explain, discover=False)


def of_panes(choose: Callable[[str], None], toggle: Callable[[str], None]) -> Iterator[SystemCommand]:
    """Which panes there are to be."""
    yield from _one_each(
        "Panes", "all of them, with figures (lab), the conversation alone, or for an audience", PRESETS, choose
    )
    yield from _one_each("Hide or show", "this pane", topics(), toggle, discover=False)


def live_choices(verifiers: VerifierChoice, restart: Callable[[str], None]) -> Iterator[SystemCommand]:
    """One of several, asked of an engine."""
    yield from _one_each("Restart stage", "end it and start it anew", ORDER, restart, discover=False)
    yield from _one_each("Verifier", "verify candidates with this", verifiers.names, verifiers.choose)


def _one_each(
    kind: str, meaning: str, names: Iterable[str], choose: Callable[[str], None], discover: bool = True
) -> Iterator[SystemCommand]:
    """A command for each name; those not to ``discover`` come up only when searched for."""
    for name in names:
        yield SystemCommand(f"{kind}: {name}", meaning, partial(choose, name), discover)
