"""The settings in force, and how they are changed while the app runs: at once, or by starting a stage anew.

What works is kept in the user's settings; where it does not, the former goes on. Must not know how they are shown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

from predtui.audio.devices import NO_DEVICE
from predtui.config import checked, remember
from predtui.errors import PredtuiError
from predtui.runtime.build import stage_of
from predtui.runtime.manner import Manner, manner_of
from predtui.settings import Settings, of_stage, value_of, with_values
from predtui.state.events import StageStatus
from predtui.tui import figures
from predtui.tui.driver import READ_ONLY, LiveDriver, Notify, Requests

WORKERS = {
    "mic": "the microphone", "asr": "the recogniser", "llm": "the language model", "tts": "the voice",
    "player": "the loudspeaker",
}  # fmt: skip
"""What a stage is to a person."""
NAMING = {
    "audio.input": "mic", "audio.output": "player", "tts.engine": "tts", "tts.voice": "tts", "tts.model": "tts",
}  # fmt: skip
"""Settings that name what a stage can do without → the stage, which then says that it lacks it."""
WHEN = {
    "ui.theme": "at once", "llm.folder": "at once", "sessions.private": "at once",
    "llm.verifier": "with the next word", "llm.pause_ms": "with the next word",
    "llm.baseline": "with the next turn",
}  # fmt: skip
"""When a setting takes effect that no stage is started anew for, where that is before predtui starts next."""


class Try(NamedTuple):
    """Values that a stage is started with, and those before them."""

    values: Mapping[str, Any]
    former: Mapping[str, Any]
    served: bool
    """Whether the stage was up with the former ones, so that they come back."""


class Dials:
    """For the screen's thread alone; ``follow`` wants every status of every stage."""

    def __init__(self, settings: Settings, requests: Requests, notify: Notify) -> None:
        self.settings = settings
        """Those in force, and those that a stage is being started with."""
        self.told = ""
        """What became of the last change."""
        self.listener: Callable[[], None] = lambda: None
        """Told of every change."""
        self.direct: dict[str, Callable[[Any], None]] = {}
        """What makes a setting take effect that no stage has, by its key."""
        self._requests, self._notify = requests, notify
        self._manner = manner_of(settings)
        self._tries: dict[str, Try] = {}
        self._waiting: dict[str, dict[str, Any]] = {}
        """What is tried once a stage that is being started is up, or has failed."""
        self._began: dict[str, float] = {}
        """When the stages that are starting began to."""
        self._took: dict[str, float] = {}
        """Seconds that the last start of each stage took."""
        self._states: dict[str, str] = {}

    def value(self, key: str) -> Any:
        return value_of(self.settings, key)

    def note(self, values: Mapping[str, Any]) -> None:
        """What has been changed by other means."""
        self.settings = with_values(self.settings, values)

    def pending(self, key: str) -> bool:
        """Whether it is not known yet if its value works."""
        stage = stage_of(key)
        return key in self._waiting.get(stage, ()) or (stage in self._tries and key in self._tries[stage].values)

    def cost(self, key: str) -> str:
        """What a change costs, in words."""
        stage = stage_of(key)
        if not stage:
            return f"takes effect {WHEN.get(key, 'when predtui starts next')}"
        last = figures.milliseconds(self._took[stage] * 1000) if stage in self._took else ""
        return f"restarts {WORKERS[stage]}" + (f", which took {last} last time" if last else "")

    # --- changing ----------------------------------------------------------------------------------------------------

    def change(self, values: Mapping[str, Any]) -> None:
        """Tries values of one stage, or of none, by their keys. Raises PredtuiError, and does nothing, where one of
        them cannot be."""
        if self._requests.read_only and set(values) != {"ui.theme"}:
            raise PredtuiError(f"{READ_ONLY}, and nothing but the theme changed.")
        found = {key: checked(key, value, "here") for key, value in values.items()}
        stage = stage_of(next(iter(found)))
        if not stage or self._states.get(stage) == "stopped":
            self._at_once(found)
        elif stage in self._tries or stage in self._began:
            self._waiting[stage] = {**self._waiting.get(stage, {}), **found}
            self._tell(f"{_listed(found)}: waits until {WORKERS[stage]} has started")
        else:
            self._try(stage, found)

    def _at_once(self, values: Mapping[str, Any]) -> None:
        self.settings = with_values(self.settings, values)
        for key, value in values.items():
            self.direct.get(key, _nothing)(value)
        self._keep(values)

    def _try(self, stage: str, values: Mapping[str, Any]) -> None:
        former = {key: self.value(key) for key in values}
        self.settings = with_values(self.settings, values)
        self._tries[stage] = Try(values, former, self._states.get(stage) == "ready")
        self._tell(f"{_listed(values)}: {WORKERS[stage]} is started anew…")
        self._replace(stage, values)

    def _replace(self, stage: str, values: Mapping[str, Any]) -> None:
        section = of_stage(self.settings, next(iter(values)).split(".")[0])
        self._requests.ask(lambda driver: driver.replace_stage(stage, section))

    def _keep(self, values: Mapping[str, Any]) -> None:
        """They work."""
        if (manner := manner_of(self.settings)) != self._manner:
            self._manner = manner
            self._requests.ask(partial(_conduct, manner))
        try:
            for key, value in values.items():
                remember(key, value)
        except PredtuiError as error:
            self._notify(str(error), "warning")
            self._tell(f"✓ {_listed(values)}, until predtui ends: {error}")
        else:
            self._tell(f"✓ {_listed(values)}, kept in your settings")

    def _tell(self, line: str) -> None:
        self.told = line
        self.listener()

    # --- what becomes of it ------------------------------------------------------------------------------------------

    def follow(self, status: StageStatus) -> None:
        """The next status of a stage: it starts, is up, or has failed."""
        stage = status.stage
        if status.state == "starting":
            self._began.setdefault(stage, status.time)
        elif status.state == "restarting":
            self._began.pop(stage, None)
        elif status.state in ("ready", "failed") and stage in self._began:
            took = status.time - self._began.pop(stage)
            if status.state == "ready":
                self._took[stage] = took
            self._settle(status)
        self._states[stage] = status.state

    def _settle(self, status: StageStatus) -> None:
        tried = self._tries.pop(status.stage, None)
        if tried and (problem := _problem(status, tried.values)):
            self._undo(status, tried, problem)
            if tried.served and status.state == "failed":
                return  # the former comes back, and what waits is tried then
        elif tried:
            self._keep(tried.values)
        if waiting := self._waiting.pop(status.stage, None):
            self._try(status.stage, waiting)
        self.listener()

    def _undo(self, status: StageStatus, tried: Try, problem: str) -> None:
        """The stage brings the former values back by itself where it has failed with these."""
        self.settings = with_values(self.settings, tried.former)
        if status.state == "ready":
            self._replace(status.stage, tried.former)
            self._notify(problem, "warning")
        self._tell(f"✗ not changed to {_listed(tried.values)}: {problem}")


def _problem(status: StageStatus, values: Mapping[str, Any]) -> str:
    """Why the values do not work; empty where they do. A device or voice that was named has to be there."""
    named = [key for key, value in values.items() if NAMING.get(key) == status.stage and value != NO_DEVICE]
    return status.message if status.state == "failed" or (named and status.lacks) else ""


def _conduct(manner: Manner, driver: LiveDriver) -> None:
    driver.conduct(manner)


def _listed(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} {shown(value)}" for key, value in values.items())


def shown(value: Any) -> str:
    """A value as a person reads it."""
    if isinstance(value, bool):
        return "on" if value else "off"
    return f"{value:g}" if isinstance(value, float) else str(value) or "(empty)"


def _nothing(value: Any) -> None:
    """For a setting that is read when it is needed."""
