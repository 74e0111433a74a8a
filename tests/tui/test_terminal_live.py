"""The app on a pseudo-terminal that speaks Kitty's keyboard protocol, or not: what it is told, and how it is left."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from select import select

import pytest

from predtui.tui import ground, kitty

END_S = 60.0
APP = """
import os, select, signal, sys, termios, tty
from predtui.models.shipped import themes_folder
from predtui.settings import Settings
from predtui.state import events as ev
from predtui.tui.app import PredtuiApp
from predtui.tui.themes import load_themes
from tests.tui.scenes import ScriptedDriver, machine

class Driver(ScriptedDriver):
    def talk(self, on):
        self.emit(ev.TurnStarted(turn=1, source="voice", time=1.0))
        with open("talk", "a") as said:
            said.write("on " if on else "off ")

PredtuiApp.action_verifier = lambda self: self.call_later(lambda: 1 / 0)
app = PredtuiApp(Driver(machine()), Settings(), load_themes([themes_folder()]))
app.run()
tty.setcbreak(0, termios.TCSANOW)
left = os.read(0, 100) if select.select([0], [], [], 0.3)[0] else b""
print("LEFT", left, "STATUS", app.return_code, "THEME", app.theme)
"""
KEYS = re.compile(rb"\x1b\[(?:>(?P<push>\d+)u|(?P<pop><)\d*u|=(?P<set>\d+);(?P<mode>[123])u|(?P<ask>\?)u)")
PRESS, RELEASE = b"\x1b[Q", b"\x1b[1;1:3Q"
QUIT, LET_GO = b"\x1b[113;5u", b"\x1b[113;5:3u"


class Terminal:
    """Shows nothing, and keeps the flags of the keyboard. ``speaks``: the protocol."""

    def __init__(self, child: subprocess.Popen[bytes], end: int, folder: Path, speaks: bool) -> None:
        self.child, self._end, self._folder, self._speaks = child, end, folder, speaks
        self.flags, self.came = [0], b""
        self.let_go = b""
        """What a finger lets go, just before the terminal hears that it is to tell no more of that."""
        self._done = 0

    def send(self, keys: bytes) -> None:
        os.write(self._end, keys)

    def until(self, there: Callable[[], bool]) -> None:
        """Runs until this is so."""
        began = time.monotonic()
        while not there():
            assert time.monotonic() - began < END_S, self.came[-2000:]
            if select([self._end], [], [], 0.05)[0]:
                try:
                    self.came += os.read(self._end, 1 << 16)
                except OSError:
                    assert there(), self.came[-2000:]
                if self._speaks:
                    self._obey()

    def _obey(self) -> None:
        for said in KEYS.finditer(self.came, self._done):
            self._done = said.end()
            if said["push"]:
                self.flags.append(int(said["push"]))
            elif said["pop"]:
                self.flags.pop()
            elif said["ask"]:
                self.send(f"\x1b[?{self.flags[-1]}u".encode())
            else:
                if said["mode"] == b"3":
                    self.send(self.let_go)
                bits = int(said["set"])
                self.flags[-1] = {b"1": bits, b"2": self.flags[-1] | bits, b"3": self.flags[-1] & ~bits}[said["mode"]]

    @property
    def tells(self) -> bool:
        return bool(self.flags[-1] & kitty.EVENT_TYPES)

    def said(self) -> list[str]:
        talk = self._folder / "talk"
        return talk.read_text().split() if talk.exists() else []

    def shows(self, text: str) -> Callable[[], bool]:
        since = len(self.came)
        return lambda: text.encode() in self.came[since:]


@contextmanager
def terminal(folder: Path, speaks: bool = True) -> Iterator[Terminal]:
    ours, theirs = pty.openpty()
    fcntl.ioctl(ours, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    root = str(Path(__file__).parents[2])
    own = {
        "COLORFGBG": "",
        "PREDTUI_CONFIG_DIR": str(folder),
        "PREDTUI_STATE_DIR": str(folder),
        "TERM": "xterm",
        "PYTHONPATH": root,
    }
    streams = {"stdin": theirs, "stdout": theirs, "stderr": theirs}
    environment = {**os.environ, **own}
    child = subprocess.Popen([sys.executable, "-c", APP], **streams, env=environment, cwd=folder)
    os.close(theirs)
    try:
        yield Terminal(child, ours, folder, speaks)
    finally:
        child.kill()
        child.wait()
        os.close(ours)


def test_held_suspended_resumed_and_left(tmp_path: Path) -> None:
    with terminal(tmp_path) as there:
        there.until(there.shows("hold to talk"))
        assert there.flags == [0, 27]
        there.send(PRESS)
        there.until(lambda: there.said() == ["on"])
        time.sleep(0.3)  # longer than a tap
        there.send(RELEASE)
        there.until(lambda: there.said() == ["on", "off"])
        os.kill(there.child.pid, signal.SIGTSTP)
        there.until(lambda: there.flags == [0])
        os.waitpid(there.child.pid, os.WUNTRACED)
        os.kill(there.child.pid, signal.SIGCONT)
        there.until(lambda: there.flags == [0, 27])
        there.let_go = LET_GO
        there.send(QUIT)
        there.until(there.shows("LEFT b'' STATUS 0"))
        assert there.flags == [0]
        assert there.came.count(kitty.REMOVE.encode()) == 2


@pytest.mark.parametrize(("how", "tells"), [("terminated", "STATUS 143"), ("failed", "ZeroDivisionError")])
def test_an_end_that_was_not_asked_for_leaves_the_terminal_as_it_was(tmp_path: Path, how: str, tells: str) -> None:
    with terminal(tmp_path) as there:
        there.until(there.shows("hold to talk"))
        assert there.tells
        ending = there.shows(tells)
        if how == "terminated":
            there.child.terminate()
        else:
            there.send(b"\x1b[13~")  # F3
        there.until(ending)
        there.until(there.shows("LEFT b''") if b"LEFT" not in there.came else lambda: True)
        assert there.flags == [0]


def test_a_terminal_without_it_is_asked_once_and_not_waited_for(tmp_path: Path) -> None:
    with terminal(tmp_path, speaks=False) as there:
        there.until(there.shows("press to talk"))
        for said in (["on"], ["on", "off"]):
            there.send(b"\x1bOQ")
            there.until(lambda said=said: there.said() == said)  # type: ignore[misc]
            time.sleep(1.1)  # longer than a key takes to repeat
        there.send(b"\x11")
        there.until(there.shows("LEFT b'' STATUS 0"))
        assert there.came.count(kitty.ASK.encode()) == 1
        assert kitty.ADD.encode() not in there.came


@pytest.mark.parametrize(("answer", "theme"), [("ffff/ffff/ffff", "daylight"), ("0000/0000/0000", "midnight")])
@pytest.mark.parametrize("end", ["\x07", "\x1b\\"])
@pytest.mark.parametrize("late", [False, True])
def test_a_light_terminal_has_a_light_theme_and_its_answer_is_not_typed(
    tmp_path: Path, answer: str, theme: str, end: str, late: bool
) -> None:
    with terminal(tmp_path, speaks=False) as there:
        there.until(lambda: ground.ASK.encode() in there.came)
        if late:
            there.until(there.shows("press to talk"))
        there.send(f"\x1b]11;rgb:{answer}{end}".encode())
        there.until(lambda: b"press to talk" in there.came)
        there.send(b"typed")
        there.until(there.shows("typed"))
        assert b"rgb:" not in there.came
        there.send(b"\x11")
        there.until(there.shows(f"LEFT b'' STATUS 0 THEME {theme}"))
