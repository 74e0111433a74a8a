"""The command palette: every action by name, in groups, with its key. Must not know what an action does."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol, cast, get_args

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from predtui.models.offer import Offer
from predtui.tui import rooms
from predtui.tui.action import Group
from predtui.tui.actions import actions
from predtui.tui.choices import ThemeChoice, VerifierChoice
from predtui.tui.gate import assemble
from predtui.tui.layout import PRESETS
from predtui.tui.pages import Pages
from predtui.tui.panes import topics
from predtui.tui.scrubbing import Scrubbing
from predtui.tui.widgets.stages import ORDER

GROUPS: tuple[Group, ...] = get_args(Group)


class Entry(NamedTuple):
    """A line of the palette. ``key``: as written on it; empty: none. One that is not ``listed`` comes up only when it
    is searched for."""

    group: Group
    title: str
    meaning: str
    act: Callable[[], Any]
    key: str = ""
    listed: bool = True

    def shown(self, title: Content) -> Content:
        """``title``: its own, which may be marked."""
        key = assemble(("  ", ""), (self.key, "$accent")) if self.key else assemble()
        return assemble((f"{self.group} · ", "not bold dim"), title, key)


class Host(rooms.Host, Protocol):
    """What is needed of the app."""

    read_only: bool
    offer: Offer | None
    scrub: Scrubbing
    themes: ThemeChoice
    verifiers: VerifierChoice
    pages: Pages

    def run_action(self, action: str) -> Any: ...


class Commands(Provider):
    """The entries under their names to the letter: Textual's own provider takes a theme's name for markup."""

    async def discover(self) -> Hits:
        for entry in self._entries:
            if entry.listed:
                yield DiscoveryHit(entry.shown(assemble(entry.title)), entry.act, text=entry.title, help=entry.meaning)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for entry in self._entries:
            score, letters = matcher.fuzzy_search.match(query, entry.title)
            if score > 0:
                title = assemble(entry.title)
                for at in letters:
                    title = title.stylize(matcher.match_style, at, at + 1)
                yield Hit(score, entry.shown(title), entry.act, text=entry.title, help=entry.meaning)

    @property
    def _entries(self) -> Sequence[Entry]:
        return entries(cast(Host, self.app))


def entries(app: Host) -> list[Entry]:
    """All that do something here, by their groups."""
    found = [*_actions(app), *_choices(app)]
    return sorted(found, key=lambda entry: GROUPS.index(entry.group))


def _actions(app: Host) -> Iterator[Entry]:
    """Those of the table; the real models say how large they are."""
    in_time = app.scrub.player is not None
    for action in actions():
        size = app.offer.megabytes if app.offer and action.name == "real" else 0
        here = not (app.read_only and action.live) and in_time >= action.in_time
        if action.title and here and (size or action.name != "real"):
            meaning = f"{action.meaning} ({size} MB)" if size else action.meaning
            act = partial(app.run_action, action.action)
            yield Entry(action.heading, action.title, meaning, act, action.spelled() if action.keys else "")


def _choices(app: Host) -> Iterator[Entry]:
    """One of several; what is asked of an engine is none of a recording's."""
    yield from _one_each("screen", "Theme", "use and keep this theme", app.themes.names, app.themes.choose)
    yield from _one_each("panes", "Explain", "what its numbers mean", topics(), app.pages.explain, listed=False)
    about = "all of them, with figures (lab), the conversation alone, or for an audience"
    yield from _one_each("panes", "Panes", about, PRESETS, partial(rooms.choose, app))
    yield from _one_each("panes", "Hide or show", "this pane", topics(), partial(rooms.toggle, app), listed=False)
    if not app.read_only:
        restart, verify = app.requests.restart, app.verifiers.choose
        yield from _one_each("engines", "Restart stage", "end it and start it anew", ORDER, restart, listed=False)
        yield from _one_each("engines", "Verifier", "verify candidates with this", app.verifiers.names, verify)


def _one_each(
    group: Group, kind: str, meaning: str, names: Iterable[str], choose: Callable[[str], None], listed: bool = True
) -> Iterator[Entry]:
    for name in names:
        yield Entry(group, f"{kind}: {name}", meaning, partial(choose, name), listed=listed)
