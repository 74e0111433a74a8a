"""What a person chooses while the app runs: the verifier, the language model, the theme. Knows nothing of keys."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from textual.app import App

from predtui.config import remember
from predtui.errors import PredtuiError
from predtui.registry import VERIFIERS
from predtui.settings import AUTO
from predtui.tui.actions import key_of
from predtui.tui.dials import Dials
from predtui.tui.driver import LiveDriver, Notify, Requests
from predtui.tui.ground import light_by
from predtui.tui.themes import DARK, LIGHT, ThemeRegistry


def following(names: Sequence[str], name: str) -> str:
    """The name after ``name``, round and round; the first where ``name`` is none of them."""
    return names[(names.index(name) + 1) % len(names)] if name in names else names[0]


class VerifierChoice:
    """The verifier in use, and those there are."""

    def __init__(self, chosen: str, requests: Requests) -> None:
        self.names = tuple(entry.choice for entry in VERIFIERS.values())
        self.chosen = chosen
        self._requests = requests

    def next(self) -> None:
        self.choose(following(self.names, self.chosen))

    def choose(self, name: str) -> None:
        if not self._requests.read_only:
            self.chosen = name
        self._requests.ask(lambda driver: driver.configure(verifier=name))


class ModelChoice:
    """The language model, as the setting ``llm.model`` has it: the one in force, or that which is being tried."""

    def __init__(
        self, dials: Dials, options: Callable[[str], Mapping[str, Any]] | None, requests: Requests, notify: Notify
    ) -> None:
        """``options``: a model's path to the settings that it runs with, by their keys; None where models cannot be
        changed."""
        self._dials = dials
        self._begun_with = self.chosen
        self._options = options
        self._requests = requests
        self._notify = notify

    @property
    def chosen(self) -> str:
        return str(self._dials.value("llm.model"))

    @property
    def fixed(self) -> bool:
        return self._requests.read_only or self._options is None

    def choose(self, path: str) -> None:
        """Asks for another model than that of now. One that cannot be had becomes a notice."""
        if self._options is None:
            return
        try:
            self._dials.change(self._options(path))
        except PredtuiError as error:
            self._notify(str(error), "error")

    def take_over(self, stages: Sequence[str]) -> None:
        """Stages whose model nobody has named take the real models, which have just been installed."""
        named = "" if self.chosen == self._begun_with else "llm"
        renewed = [name for name in stages if name != named]
        now = "and take over" if renewed else f"now: {key_of('model')} chooses"
        self._notify(f"the real models are installed {now}", "information")
        for name in renewed:
            self._requests.ask(partial(_renew, name))


def _renew(stage: str, driver: LiveDriver) -> None:
    driver.renew_stage(stage)


class ThemeChoice:
    """The themes there are, registered with the app; a choice is kept in the user's settings."""

    def __init__(self, app: App[None], registry: ThemeRegistry, notify: Notify) -> None:
        self._app = app
        self._registry = registry
        self._notify = notify
        self._auto, self._light = False, light_by(os.environ)
        for theme in registry.themes:
            app.register_theme(theme)

    @property
    def names(self) -> tuple[str, ...]:
        return self._registry.names

    @property
    def asked(self) -> str:
        """As the setting has it: the theme that is shown, or the one that suits the terminal's background."""
        return AUTO if self._auto else self._app.theme

    def begin(self, wanted: str) -> None:
        """Shows the theme that the settings want, or the first where there is none of that name."""
        meant = self._meant(wanted)
        if meant in self.names:
            self.show(wanted)
        elif self.names:
            self.show(self.names[0])
            self._notify(f"no theme {meant!r}: showing {self._app.theme}; Ctrl+T chooses", "warning")
        if self._registry.problems:
            self._notify(" · ".join(self._registry.problems), "warning")

    def follow(self, light: bool) -> None:
        """The terminal's background is ``light``, or dark: its theme is shown, unless somebody has chosen one."""
        self._light = light
        if self._auto:
            self.show(AUTO)

    def next(self) -> None:
        if self.names:
            self.choose(following(self.names, self._app.theme))

    def show(self, name: str) -> None:
        """Does not keep it. One that is not there leaves the former."""
        self._auto = name == AUTO
        if self._meant(name) in self.names:
            self._app.theme = self._meant(name)

    def choose(self, name: str) -> None:
        """Shows the theme and keeps the choice."""
        self.show(name)
        self._notify(f"theme {name}", "information")
        try:
            remember("ui.theme", name)
        except PredtuiError as error:
            self._notify(str(error), "warning")

    def _meant(self, name: str) -> str:
        return name if name != AUTO else LIGHT if self._light else DARK
