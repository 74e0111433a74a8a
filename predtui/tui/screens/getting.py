"""What F4 asks before it fetches a model, or removes one: the costs, and a yes. Knows no list."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from textual.app import App
from textual.screen import Screen

from predtui.errors import PredtuiError
from predtui.tui.driver import one_line
from predtui.tui.messages import OfferMade
from predtui.tui.screens.question import QuestionScreen
from predtui.tui.shelf import PULLED, Choice, size_of
from predtui.tui.widgets.pull import PullBar

if TYPE_CHECKING:
    from predtui.models.pull import Offer, Pull


def price(name: str, page: Screen[Any]) -> None:
    """Asks what ``name`` costs to fetch, and tells ``page``. In a thread of its own: a hub may be slow."""
    from predtui.models.prepare import prepare

    try:
        page.post_message(OfferMade(name, prepare(name)))
    except Exception as error:  # whatever it is, nobody is left waiting
        page.log.error(repr(error))
        page.post_message(OfferMade(name, None, one_line(error)))


def ask_to_fetch(app: App[Any], offer: Offer, pull: Pull, bar: PullBar) -> None:
    """``bar`` fetches what is offered if the answer is yes. Raises PredtuiError where it is here already."""
    from predtui.models.prepare import summary

    if not offer.files:
        raise PredtuiError(f"{offer.model} is here already, in {offer.folder}.")

    def answered(yes: bool | None) -> None:
        if yes:
            bar.fetch(offer, pull)

    app.push_screen(QuestionScreen("FETCH IT?", [*summary(offer)]), answered)


def ask_to_remove(app: App[Any], choice: Choice, removed: Callable[[str], None]) -> None:
    """``removed`` is told the problem with removing it, or an empty text, once that was tried. Raises PredtuiError for
    a model that is not predtui's to remove."""
    from predtui.models.keep import kept, remove

    if choice.group != PULLED:
        raise PredtuiError(f"{choice.name} is not predtui's to remove.", "Remove it where you got it.")
    files = kept(choice.model)

    def answered(yes: bool | None) -> None:
        if yes:
            try:
                remove(files)
                removed("")
            except PredtuiError as error:
                removed(str(error))

    freed = f"{sum(size_of(path) for path in files) / 1e6:,.0f} MB become free"
    app.push_screen(QuestionScreen("REMOVE IT?", [*map(str, files), freed]), answered)
