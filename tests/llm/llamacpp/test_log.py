"""What llama.cpp complains of is kept until it is asked for, and goes to the log."""

from __future__ import annotations

import logging

import pytest

from predtui.llm.halt import Halt
from predtui.llm.llamacpp import log

WARN, ERROR, INFO = 3, 4, 2


def say(level: int, *lines: str) -> None:
    for line in lines:
        log._receive(level, line.encode(), None)


def test_the_first_of_the_last_complaints_is_the_cause_and_is_given_once() -> None:
    log.forget_errors()
    say(INFO, "loading")
    say(WARN, "slow")
    say(ERROR, "no such tensor.\n", "  ", "failed to load")
    assert log.last_error() == "no such tensor"
    assert log.last_error() == "it gives no reason"
    say(ERROR, *map(str, range(12)))
    assert log.last_error() == "4"


def test_complaints_that_are_known_are_forgotten() -> None:
    say(ERROR, "halted")
    log.forget_errors()
    assert log.last_error() == "it gives no reason"


def test_lines_go_to_the_log_at_their_level(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, "predtui.llamacpp"):
        say(INFO, "info", "")
        say(WARN, "warning")
        say(ERROR, "error")
    found = [(record.levelno, record.message) for record in caplog.records]
    assert found == [(logging.DEBUG, "info"), (logging.WARNING, "warning"), (logging.WARNING, "error")]
    log.forget_errors()


def test_what_a_halt_makes_llamacpp_say_is_no_warning(caplog: pytest.LogCaptureFixture) -> None:
    halt = Halt()
    log.expect(halt)
    halt.set()
    with caplog.at_level(logging.DEBUG, "predtui.llamacpp"):
        say(ERROR, "failed to decode")
        halt.clear()
        say(WARN, "removing memory module entries")
    assert [record.levelno for record in caplog.records] == [logging.DEBUG, logging.WARNING]
    log.forget_errors()
