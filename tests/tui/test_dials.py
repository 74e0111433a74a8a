"""Settings change while the app runs: what works is in force and kept, what does not leaves the former in force."""

from __future__ import annotations

import math
import os
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui.audio.devices import without
from predtui.config import load, user_file
from predtui.errors import PredtuiError
from predtui.runtime.build import stage_of, stage_specs
from predtui.runtime.manner import manner_of
from predtui.settings import LlmSettings, Option, Settings, TtsSettings, options, value_of, with_values
from predtui.state import events as ev
from predtui.state.stage import StageContext, StageSpec
from predtui.tui.dials import WHEN, Dials
from tests.runtime.harness import Harness
from tests.toys import Toy
from tests.tui.scenes import ScriptedDriver
from tests.tui.test_choices import requests_of

GONE = "gone"


def picky(settings: Any) -> Toy:
    """Any stage: it cannot open where its model or voice is gone, and has no device where that is."""

    def opening(context: StageContext) -> Iterator[ev.Event]:
        yield ev.StageStatus(state="starting", message="reading", progress=0.5)
        if GONE in (getattr(settings, "model", ""), getattr(settings, "voice", "")):
            raise PredtuiError("it is gone.")
        if getattr(settings, "engine", "") == "kokoro":
            yield ev.StageStatus(state="starting", message="eSpeak NG speaks instead.", lacks="voice", progress=1.0)
        if getattr(settings, "input", "") == GONE:
            yield without("input", "no microphone is called 'gone'.", "starting")

    return Toy(opener=opening)


class Run:
    """Dials on a pipeline whose stages take any settings."""

    def __init__(self, settings: Settings | None = None) -> None:
        settings = settings or Settings()
        specs = [StageSpec(one.name, "tests.tui.test_dials:picky", one.options) for one in stage_specs(settings)]
        self.harness = Harness(specs)
        self.notices: list[tuple[str, str]] = []
        notify = lambda *line: self.notices.append(line)  # noqa: E731
        self.dials = Dials(settings, requests_of(self.harness.pipeline, self.notices), notify)  # type: ignore[arg-type]
        for event in self.harness.events:
            self._follow(event)
        self.harness.pipeline.subscribe(self._follow)

    def _follow(self, event: ev.Event) -> None:
        if isinstance(event, ev.StageStatus):
            self.dials.follow(event)

    def change(self, **values: Any) -> None:
        self.dials.change({key.replace("__", "."): value for key, value in values.items()})
        self.harness.settle()

    def runs_with(self, key: str) -> Any:
        """The value that the stage has."""
        return getattr(self.harness.hosts[stage_of(key)].spec.options, key.split(".")[1])


def kept() -> dict[str, Any]:
    return tomllib.loads(user_file().read_text()) if user_file().exists() else {}


def another(item: Option) -> Any:
    """A valid value that is not the default."""
    if item.kind is bool:
        return not item.default
    if item.choices:
        names = [item.ideas[name].choice if item.ideas and name in item.ideas else name for name in item.choices]
        return next(name for name in names if name not in ("N", "auto", "kokoro", item.default))
    if item.kind is str:
        return "other"
    return item.least if -math.inf < item.least < item.default else item.default + 1


@pytest.mark.parametrize("item", options().values(), ids=lambda item: item.key)
def test_every_setting_changes_live_and_is_kept_once_it_works(item: Option) -> None:
    run, value = Run(), another(item)
    run.dials.change({item.key: value})
    assert run.dials.value(item.key) == value
    assert bool(stage_of(item.key)) == run.dials.pending(item.key) == (not kept())
    run.harness.settle()
    assert not run.dials.pending(item.key)
    section, name = item.key.split(".")
    assert kept() == {section: {name: value}}
    assert value_of(load(), item.key) == value
    if stage_of(item.key):
        assert run.runs_with(item.key) == value
    assert run.dials.told.startswith("✓")


@pytest.mark.parametrize("item", options().values(), ids=lambda item: item.key)
def test_every_setting_says_when_it_takes_effect_or_what_it_restarts(item: Option) -> None:
    assert not (stage_of(item.key) and item.key in WHEN)
    assert Run().dials.cost(item.key).startswith("restarts" if stage_of(item.key) else "takes effect")


@pytest.mark.parametrize(
    ("key", "others"),
    [("llm.model", {"llm.top_k": 3}), ("asr.model", {"asr.beam": 2}), ("tts.voice", {"tts.rate": 99})],
)
def test_a_choice_that_cannot_open_is_told_and_the_former_goes_on(key: str, others: dict[str, Any]) -> None:
    run = Run()
    run.dials.change(others)
    run.harness.settle()
    before = kept()
    run.dials.change({key: GONE})
    run.harness.settle()
    former = options()[key].default
    assert (run.dials.value(key), run.runs_with(key), kept()) == (former, former, before)
    assert run.dials.told == f"✗ not changed to {key} {GONE}: it is gone."
    for other, value in others.items():
        assert run.dials.value(other) == run.runs_with(other) == value
    run.dials.change({key: "here"})
    run.harness.settle()
    assert run.dials.value(key) == run.runs_with(key) == "here"


def test_a_device_that_is_not_there_is_told_and_the_former_is_opened_again() -> None:
    run = Run(with_values(Settings(), {"audio.input": "USB"}))
    run.change(audio__input=GONE)
    assert (run.dials.value("audio.input"), run.runs_with("audio.input"), kept()) == ("USB", "USB", {})
    assert run.notices == [("no microphone is called 'gone'.", "warning")]
    assert run.dials.told.startswith("✗ not changed to audio.input gone: no microphone is called")


def test_a_voice_in_whose_place_another_speaks_is_not_kept() -> None:
    run = Run()
    run.change(tts__engine="kokoro")
    assert (run.dials.value("tts.engine"), run.runs_with("tts.engine"), kept()) == ("espeak", "espeak", {})
    assert run.dials.told == "✗ not changed to tts.engine kokoro: eSpeak NG speaks instead."


def test_a_device_that_is_missing_anyway_does_not_stand_in_the_way_of_other_settings() -> None:
    run = Run(with_values(Settings(), {"audio.input": GONE}))
    run.change(audio__silence_ms=400)
    assert kept() == {"audio": {"silence_ms": 400}}


def test_what_is_changed_while_a_stage_starts_is_tried_after_it() -> None:
    run = Run()
    run.dials.change({"llm.top_k": 3})
    run.dials.change({"llm.model": GONE})
    run.dials.change({"llm.seed": 7})
    assert run.dials.pending("llm.seed")
    run.harness.settle()
    assert run.dials.settings.llm == run.harness.hosts["llm"].spec.options == LlmSettings(top_k=3)
    run.change(llm__seed=7)
    assert kept() == {"llm": {"top_k": 3, "seed": 7}}


def test_a_stage_that_has_failed_takes_another_choice() -> None:
    run = Run(with_values(Settings(), {"llm.model": GONE}))
    run.change(llm__model="here")
    assert (run.runs_with("llm.model"), kept()) == ("here", {"llm": {"model": "here"}})


def test_a_value_that_is_none_changes_nothing() -> None:
    run = Run()
    with pytest.raises(PredtuiError, match=r"0\.01 to 1"):
        run.change(llm__top_p=3.0)
    with pytest.raises(PredtuiError, match="not one of"):
        run.change(llm__decoder="guess")
    assert (run.dials.settings, kept()) == (Settings(), {})


def test_what_cannot_be_kept_is_in_force_all_the_same() -> None:
    user_file().parent.mkdir(parents=True)
    user_file().write_text("[tts\n")
    run = Run()
    run.change(tts__rate=200)
    assert (run.runs_with("tts.rate"), run.notices[-1][1]) == (200, "warning")
    assert "until predtui ends" in run.dials.told


def test_a_turn_goes_on_while_its_model_is_started_anew() -> None:
    run = Run()
    run.harness.type("one ")
    number = run.harness.turn.number
    run.change(llm__temperature=0.7)
    run.harness.type("one two")
    assert (run.harness.turn.number, run.harness.turn.transcript.text) == (number, "one two")
    assert run.runs_with("llm.temperature") == 0.7


def test_how_turns_end_changes_with_or_without_a_stage() -> None:
    run = Run()
    run.change(llm__pause_ms=90)
    assert run.harness.pipeline._manner == replace(manner_of(Settings()), pause_s=0.09)
    run.change(audio__hands_free=True)
    run.change(audio__silence_ms=300)
    assert run.harness.pipeline._manner == manner_of(run.dials.settings)
    assert run.harness.pipeline._manner.by_silence


def test_what_a_start_takes_is_measured() -> None:
    driver = ScriptedDriver()
    dials = Dials(Settings(), requests_of(driver, []), lambda *line: None)
    assert dials.cost("tts.voice") == "restarts the voice"
    for state, time in (("starting", 2.0), ("starting", 3.0), ("ready", 3.5), ("ready", 9.0)):
        dials.follow(ev.StageStatus(stage="tts", state=state, time=time))  # type: ignore[arg-type]
    assert dials.cost("tts.voice") == "restarts the voice, which took 1.50 s last time"


def test_a_recording_takes_no_setting_but_the_theme() -> None:
    driver = ScriptedDriver()
    dials = Dials(Settings(), requests_of(driver, [], read_only=True), lambda *line: None)
    with pytest.raises(PredtuiError, match="a replay"):
        dials.change({"tts.rate": 200})
    dials.change({"ui.theme": "moss"})
    assert (driver.asked, kept()) == ([], {"ui": {"theme": "moss"}})


@given(st.lists(st.sampled_from(["ok", "fine", GONE]), min_size=1, max_size=6), st.data())
def test_after_any_changes_the_stage_has_what_is_in_force_and_kept(names: list[str], data: st.DataObject) -> None:
    if user_file().exists():
        os.remove(user_file())
    run = Run()
    for name in names:
        run.dials.change({"tts.voice": name})
        if data.draw(st.booleans()):
            run.harness.settle()
    run.harness.settle()
    good = run.dials.value("tts.voice")
    assert good == run.runs_with("tts.voice") == kept().get("tts", {}).get("voice", TtsSettings().voice)
    assert good != GONE
