"""What is asked of the driver reaches it once, in order, as soon as it runs; what fails is a line and no more."""

from __future__ import annotations

from typing import Any

from predtui.errors import PredtuiError
from predtui.tui.driver import READ_ONLY, LiveDriver, Requests, one_line
from tests.tui.scenes import ScriptedDriver


def made(read_only: bool = False) -> tuple[Requests, ScriptedDriver, list[tuple[str, str]], list[str]]:
    driver, notices, log = ScriptedDriver(), list[tuple[str, str]](), list[str]()
    return Requests(driver, read_only, lambda *line: notices.append(line), log.append), driver, notices, log


def test_requests_before_the_driver_runs_are_kept_in_order() -> None:
    requests, driver, notices, _ = made()
    for on in (True, False):
        requests.ask(lambda driver, on=on: driver.talk(on))  # type: ignore[misc]
    assert driver.asked == []
    requests.begin()
    requests.ask(lambda driver: driver.silence())
    requests.begin()
    assert driver.asked == [("talk", True), ("talk", False), ("silence",)]
    assert notices == []


def test_a_recording_takes_none_and_says_so() -> None:
    requests, driver, notices, _ = made(read_only=True)
    requests.begin()
    requests.ask(lambda driver: driver.silence())
    assert driver.asked == []
    assert notices == [(READ_ONLY, "information")]


def test_one_that_fails_is_a_notice_and_the_next_goes_through() -> None:
    def fail(driver: LiveDriver) -> Any:
        raise OSError("gone")

    requests, driver, notices, log = made()
    requests.ask(fail)
    requests.ask(lambda driver: driver.silence())
    requests.begin()
    assert notices == [("OSError: gone", "error")]
    assert log == ["OSError('gone')"]
    assert driver.asked == [("silence",)]


def test_a_line_has_the_remedy_where_there_is_one() -> None:
    assert one_line(PredtuiError("no model.", "Choose one.")) == "no model. Choose one."
    assert one_line(KeyError("x")) == "KeyError: 'x'"
