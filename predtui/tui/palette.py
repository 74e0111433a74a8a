"""The command palette: every action by name. Must not know what an action does."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from operator import itemgetter

from textual.app import App, SystemCommand
from textual.command import DiscoveryHit, Hit, Hits, Provider

from predtui.models.offer import Offer
from predtui.tui.choices import ThemeChoice, VerifierChoice
from predtui.tui.gate import assemble
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


def commands(app: App[None], themes: ThemeChoice, pages: Pages) -> Iterator[SystemCommand]:
    """Those that always do something."""
    yield _action(app, "Help", "every key and every number (F1)", "help")
    yield from _one_each("Theme", "use and keep this theme", themes.names, themes.choose)
    yield from _one_each("Explain", "what the numbers of this pane mean", topics(), pages.explain, discover=False)
    yield _action(app, "Quit", "leave predtui (Ctrl+Q)", "quit")


def live_commands(
    app: App[None], verifiers: VerifierChoice, offer: Offer | None, restart: Callable[[str], None]
) -> Iterator[SystemCommand]:
    """Those that ask something of an engine, which a recording does not have."""
    yield _action(app, "Talk", "start or stop talking (F2)", "talk")
    yield _action(app, "Silence", "stop the reply (Esc)", "silence")
    yield _action(app, "Model", "choose another language model (F4)", "model")
    if offer and (size := offer.megabytes):
        meaning = f"get them, {size} MB: they hear people and talk about anything (F5)"
        yield _action(app, "Real models", meaning, "real")
    yield _action(app, "Try again", "stages that have failed (F6)", "again")
    yield from _one_each("Restart stage", "end it and start it anew", ORDER, restart, discover=False)
    yield from _one_each("Verifier", "verify candidates with this", verifiers.names, verifiers.choose)


def _action(app: App[None], title: str, meaning: str, action: str) -> SystemCommand:
    return SystemCommand(title, meaning, partial(app.run_action, f"app.{action}"))


def _one_each(
    kind: str, meaning: str, names: Iterable[str], choose: Callable[[str], None], discover: bool = True
) -> Iterator[SystemCommand]:
    """A command for each name; those not to ``discover`` come up only when searched for."""
    for name in names:
        yield SystemCommand(f"{kind}: {name}", meaning, partial(choose, name), discover)
