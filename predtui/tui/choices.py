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
from predtui.settings import AUTO, LlmSettings
from predtui.state.events import StageStatus
from predtui.tui.driver import LiveDriver, Notify, Requests
from predtui.tui.ground import light_by
from predtui.tui.themes import DARK, LIGHT, ThemeRegistry
from predtui.tui.widgets.stages import loaded_model


def following(names: Sequence[str], name: str) -> str:
    """The name after ``name``, round and round; the first where ``name`` is none of them."""
    return names[(names.index(name) + 1) % len(names)] if name in names else names[0]


class VerifierChoice:
    """The verifier in use, and those there are."""

    def __init__(self, chosen: str, requests: Requests) -> None:
        self.names = tuple(entry.choice for entry in VERIFIERS.values())
        self._chosen = chosen
        self._requests = requests

    def next(self) -> None:
        self.choose(following(self.names, self._chosen))

    def choose(self, name: str) -> None:
        if not self._requests.read_only:
            self._chosen = name
        self._requests.ask(lambda driver: driver.configure(verifier=name))


class ModelChoice:
    """The language model that was asked for last, as the setting ``llm.model`` has it; kept in the user's settings once
    it answers."""

    def __init__(self, chosen: str, options: Callable[[str], Any] | None, requests: Requests, notify: Notify) -> None:
        """``options``: a model's path to the options of the stage "llm"; None where models cannot be changed."""
        self._settings = chosen
        self.chosen = chosen
        self._options = options
        self._requests = requests
        self._notify = notify
        self._untried: dict[str, str] = {}
        """What is kept once the choice answers: settings, by their keys."""
        self._before: StageStatus | None = None
        self._former = ""

    @property
    def fixed(self) -> bool:
        return self._requests.read_only or self._options is None

    def choose(self, path: str, stages: Mapping[str, StageStatus]) -> None:
        """Asks for another model than that of ``stages``. One that cannot be had becomes a notice."""
        if self._options is None:
            return
        try:
            options = self._options(path)
        except PredtuiError as error:
            self._notify(str(error), "error")
            return
        self.chosen, self._before, self._former = path, stages.get("llm"), loaded_model(stages)[0]
        engine = {"llm.engine": options.engine} if isinstance(options, LlmSettings) else {}
        self._untried = {"llm.model": path, **engine}
        self._requests.ask(lambda driver: driver.replace_stage("llm", options))

    def follow(self, stages: Mapping[str, StageStatus]) -> None:
        """Keeps the choice where another model answers than before; one that has failed is not kept."""
        status = stages.get("llm")
        if not self._untried or status is None or status is self._before:
            return
        if status.state == "failed":
            self._untried = {}
        elif (name := loaded_model(stages)[0]) and name != self._former:
            kept, self._untried = self._untried, {}
            try:
                for key, value in kept.items():
                    remember(key, value)
            except PredtuiError as error:
                self._notify(str(error), "warning")

    def take_over(self, stages: Sequence[str]) -> None:
        """Stages whose model nobody has named take the real models, which have just been installed."""
        named = "" if self.chosen == self._settings else "llm"
        renewed = [name for name in stages if name != named]
        now = "and take over" if renewed else "now: F4 chooses"
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
        self._auto = False
        for theme in registry.themes:
            app.register_theme(theme)

    @property
    def names(self) -> tuple[str, ...]:
        return self._registry.names

    def begin(self, wanted: str) -> None:
        """Shows the theme that the settings want, or the first where there is none of that name."""
        self._auto = wanted == AUTO
        if self._auto:
            wanted = LIGHT if light_by(os.environ) else DARK
        if wanted in self.names:
            self._app.theme = wanted
        elif self.names:
            self._app.theme = self.names[0]
            self._notify(f"no theme {wanted!r}: showing {self._app.theme}; Ctrl+T chooses", "warning")
        if self._registry.problems:
            self._notify(" · ".join(self._registry.problems), "warning")

    def follow(self, light: bool) -> None:
        """The terminal's background is ``light``, or dark: its theme is shown, unless somebody has chosen one."""
        wanted = LIGHT if light else DARK
        if self._auto and wanted in self.names:
            self._app.theme = wanted

    def next(self) -> None:
        if self.names:
            self.choose(following(self.names, self._app.theme))

    def choose(self, name: str) -> None:
        """Shows the theme and keeps the choice."""
        self._auto = False
        self._app.theme = name
        self._notify(f"theme {name}", "information")
        try:
            remember("ui.theme", name)
        except PredtuiError as error:
            self._notify(str(error), "warning")
