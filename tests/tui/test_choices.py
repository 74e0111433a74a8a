"""Choosing goes round and round, asks the driver, and keeps what the person chose."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.app import App

from predtui.config import load, user_file
from predtui.errors import PredtuiError
from predtui.models.shipped import themes_folder
from predtui.registry import VERIFIERS
from predtui.settings import LlmSettings, Settings
from predtui.tui.choices import ModelChoice, ThemeChoice, VerifierChoice, following
from predtui.tui.dials import Dials
from predtui.tui.driver import Requests
from predtui.tui.themes import ThemeRegistry, load_themes
from tests.tui.scenes import ScriptedDriver

Notices = list[tuple[str, str]]


@pytest.fixture
def notices() -> Notices:
    return []


@pytest.fixture
def driver() -> ScriptedDriver:
    return ScriptedDriver()


def requests_of(driver: ScriptedDriver, notices: Notices, read_only: bool = False) -> Requests:
    requests = Requests(driver, read_only, lambda *line: notices.append(line), lambda line: None)
    requests.begin()
    return requests


@given(st.lists(st.text(min_size=1), min_size=1, unique=True), st.text())
def test_every_name_comes_once_in_a_round(names: list[str], begin: str) -> None:
    seen = [name := following(names, begin)]
    seen += [name := following(names, name) for _ in names[1:]]
    assert sorted(seen) == sorted(names)


def test_every_verifier_of_the_registry_can_be_chosen(driver: ScriptedDriver, notices: Notices) -> None:
    verifiers = VerifierChoice("greedy", requests_of(driver, notices))
    assert [VERIFIERS.find(name).name for name in verifiers.names] == list(VERIFIERS)
    for _ in verifiers.names:
        verifiers.next()
    assert sorted(name for _, name in driver.asked) == sorted(verifiers.names)


def test_a_recording_keeps_its_verifier(driver: ScriptedDriver, notices: Notices) -> None:
    verifiers = VerifierChoice("greedy", requests_of(driver, notices, read_only=True))
    verifiers.next()
    verifiers.next()
    assert driver.asked == []
    assert len(notices) == 2


def model_of(driver: ScriptedDriver, notices: Notices) -> ModelChoice:
    def options(path: str) -> dict[str, str]:
        if path == "bad":
            raise PredtuiError("no such model.")
        return {"llm.model": path, "llm.engine": "torch"}

    requests, notify = requests_of(driver, notices), lambda *line: notices.append(line)
    return ModelChoice(Dials(Settings(), requests, notify), options, requests, notify)


def test_a_model_that_cannot_be_had_is_a_notice_and_the_former_stays(driver: ScriptedDriver, notices: Notices) -> None:
    model = model_of(driver, notices)
    model.choose("bad")
    assert (model.chosen, driver.asked, notices) == ("auto", [], [("no such model.", "error")])
    model.choose("good")
    assert (model.chosen, driver.asked) == ("good", [("replace", "llm", LlmSettings(model="good", engine="torch"))])


@pytest.mark.parametrize(
    ("stages", "chosen", "renewed"),
    [(("llm", "asr"), "", ["llm", "asr"]), (("llm", "asr"), "mine.gguf", ["asr"]), ((), "", [])],
)
def test_real_models_take_over_where_nobody_has_named_another(
    driver: ScriptedDriver, notices: Notices, stages: tuple[str, ...], chosen: str, renewed: list[str]
) -> None:
    model = model_of(driver, notices)
    if chosen:
        model.choose(chosen)
    model.take_over(stages)
    assert [name for kind, name, *_ in driver.asked if kind == "renew"] == renewed
    assert ("take over" in notices[-1][0]) == bool(renewed)


class TestThemes:
    def choice(self, notices: Notices, registry: ThemeRegistry | None = None) -> tuple[ThemeChoice, App[None]]:
        app: App[None] = App()
        registry = registry or load_themes([themes_folder()])
        return ThemeChoice(app, registry, lambda *line: notices.append(line)), app

    def test_a_choice_is_shown_and_kept(self, notices: Notices) -> None:
        themes, app = self.choice(notices)
        themes.begin("moss")
        assert (app.theme, notices) == ("moss", [])
        themes.next()
        assert app.theme == following(themes.names, "moss")
        assert load().ui.theme == app.theme

    def test_one_that_is_not_there_gives_way_to_the_first(self, notices: Notices) -> None:
        themes, app = self.choice(notices)
        themes.begin("absent")
        assert app.theme == themes.names[0]
        assert notices[0][0].startswith("no theme 'absent'")

    def test_one_that_cannot_be_kept_is_shown_all_the_same(self, notices: Notices) -> None:
        user_file().parent.mkdir(parents=True)
        Path(user_file()).write_text("[ui\n")
        themes, app = self.choice(notices)
        themes.choose("moss")
        assert app.theme == "moss"
        assert notices[-1][1] == "warning"

    def test_without_any_nothing_happens(self, notices: Notices) -> None:
        themes, _ = self.choice(notices, ThemeRegistry((), ("a fault",)))
        themes.begin("moss")
        themes.next()
        assert notices == [("a fault", "warning")]
