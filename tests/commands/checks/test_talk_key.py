"""The doctor asks the terminal whether it tells of releases, and gives it back as it was, whatever it answers."""

from __future__ import annotations

import os
import pty
import sys
import termios
from select import select
from threading import Thread

import pytest

from predtui.commands.checks import talk_key
from predtui.settings import Settings

DEVICE = b"\x1b[?62;22;52c"


def answering(end: int, answer: bytes) -> bytes:
    """Reads the whole question, then answers."""
    asked = b""
    while not asked.endswith(talk_key.QUESTION.encode()) and select([end], [], [], 10)[0]:
        asked += os.read(end, 1 << 10)
    os.write(end, answer)
    return asked


@pytest.mark.parametrize(
    ("answer", "tells"),
    [
        (b"\x1b[?2u" + DEVICE, True),
        (b"x\x1b[?27u\x1b[A" + DEVICE, True),
        (b"\x1b[?1u" + DEVICE, False),
        (b"\x1b[?0u" + DEVICE, False),
        (DEVICE, False),
        (b"\x1b[?6c", False),
    ],
)
def test_it_goes_by_the_flag_that_is_set(answer: bytes, tells: bool) -> None:
    ours, theirs = pty.openpty()
    before = termios.tcgetattr(theirs)
    terminal = Thread(target=answering, args=(ours, answer))
    terminal.start()
    try:
        assert talk_key.tells_releases(os.ttyname(theirs)) is tells
        terminal.join()
        assert termios.tcgetattr(theirs) == before
        assert not select([theirs], [], [], 0)[0]
    finally:
        os.close(ours)
        os.close(theirs)


def test_what_is_no_terminal_tells_nothing() -> None:
    assert not talk_key.tells_releases("/dev/null")
    assert not talk_key.tells_releases("/no/such/device")


@pytest.mark.parametrize(("tells", "says"), [(True, "hold F2 to talk"), (False, "press F2 to talk, again to send")])
def test_it_says_what_the_key_does_here(tells: bool, says: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(talk_key, "tells_releases", lambda: tells)
    for stream in (sys.stdin, sys.stdout):
        monkeypatch.setattr(stream, "isatty", lambda: True, raising=False)
    (finding,) = talk_key.talk_key(Settings())
    assert (finding.state, finding.detail.startswith(says), bool(finding.remedy)) == ("found", True, not tells)


def test_without_a_terminal_it_says_where_to_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: False, raising=False)
    (finding,) = talk_key.talk_key(Settings())
    assert (finding.state, bool(finding.remedy)) == ("missing", True)
