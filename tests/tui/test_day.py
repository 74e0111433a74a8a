"""A day with the app as it is, on its embedded models, in a real terminal: one thing after the other."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

PATIENCE_S = 90.0
ROOT = Path(__file__).parents[2]
FRANCE, PARIS = "what is the capital of france", "The capital of France is Paris."
LONG = "how do i bake bread"


class Tmux:
    """A window of ``bash``, whose keys are pressed and whose screen is read."""

    def __init__(self, folder: Path) -> None:
        self._command = ["tmux", "-S", str(folder / "tmux"), "-f", os.devnull]
        own = {f"PREDTUI_{name}_DIR": str(folder / name.lower()) for name in ("CONFIG", "STATE", "DATA")}
        told = {**own, "PREDTUI_EMBEDDED": "1", "PYTHONPATH": str(ROOT), "TERM": "xterm-256color"}
        told |= {"COLUMNS": "80", "LINES": "24"}  # which some shells export, and which must not count
        environment = {name: value for name, value in os.environ.items() if name not in ("TMUX", "NO_COLOR")}
        subprocess.run(
            [*self._command, "new-session", "-d", "-x", "120", "-y", "36", "bash --norc --noprofile"],
            env={**environment, **told}, cwd=folder, check=True,
        )  # fmt: skip
        self._ask("set-option", "-s", "set-clipboard", "on")

    def run(self, *arguments: str) -> None:
        self.type(shlex.join([sys.executable, "-m", "predtui", "--output", "none", "--input", "none", *arguments]))
        self.press("Enter")

    def press(self, *keys: str) -> None:
        self._ask("send-keys", *keys)

    def type(self, text: str) -> None:
        self._ask("send-keys", "-l", text)

    def paste(self, text: str) -> None:
        self._ask("set-buffer", "-b", "paste", text)
        self._ask("paste-buffer", "-p", "-d", "-b", "paste")

    def resize(self, columns: int, lines: int) -> None:
        self._ask("resize-window", "-x", str(columns), "-y", str(lines))

    @property
    def screen(self) -> str:
        return self._ask("capture-pane", "-p")

    @property
    def copied(self) -> str:
        return self._ask("show-buffer", check=False)

    def until(self, *texts: str, gone: str = "") -> str:
        """The screen once all of ``texts`` are on it, and ``gone`` is not."""
        return self.so(lambda screen: all(text in screen for text in texts) and not (gone and gone in screen))

    def so(self, met: Callable[[str], bool]) -> str:
        end = time.monotonic() + PATIENCE_S
        while not met(screen := self.screen):
            assert time.monotonic() < end, f"\n{screen}"
            time.sleep(0.1)
        return screen

    def close(self) -> None:
        self._ask("kill-server", check=False)

    def _ask(self, *arguments: str, check: bool = True) -> str:
        done = subprocess.run([*self._command, *arguments], check=check, capture_output=True, text=True)
        return done.stdout


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Tmux]:
    made = Tmux(tmp_path)
    yield made
    made.close()


@pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
def test_a_day(terminal: Tmux) -> None:
    there = terminal
    there.run("--ui-tour")
    there.until("tour: ", "saved", PARIS)
    there.press("C-q")
    there.until(gone="CONVERSATION")
    there.press("C-l")

    there.run("--ui-tour")
    there.until("type here", "● TALK", gone="tour: ")

    there.type(FRANCE)
    there.press("Enter")
    there.until(PARIS)

    there.paste("how many legs\nhas a spyder")
    there.until("has a spyder")
    there.press(*["BSpace"] * 4)
    there.type("ider")
    there.press("Enter")
    there.until("bot  A spider")

    there.type(LONG)
    there.press("Enter")
    there.until("♪")
    there.press("Escape")
    there.until("■ silenced", gone="♪")

    there.type("what is ten plus")
    there.press("F4")
    there.until("pocket-cllm")
    there.type("cllm")
    there.press("Enter")
    there.until("what is ten plus", gone="Del removes")
    there.type(" twenty")
    there.press("Enter")
    there.until("10 plus 20 is")

    for columns, lines in ((200, 50), (40, 12), (80, 24), (120, 36)):
        there.resize(columns, lines)
        there.type("x")
        there.so(lambda screen: "› x" in screen)
        there.press("BSpace")
        there.until("type here")

    there.press("C-z")
    there.until("Stopped")
    there.type("fg")
    there.press("Enter")
    there.until("type here", "10 plus 20 is")

    there.press("C-r")
    there.until("EARLIER PROMPTS")
    there.type("capital")
    there.until("capital", FRANCE)
    there.press("Enter")
    there.so(lambda screen: f"› {FRANCE}" in screen)
    there.press("C-u")

    there.press("Tab")
    there.until("y copy")
    there.type("y")
    there.so(lambda screen: there.copied.startswith("10 plus 20 is"))

    there.press("C-q")
    there.until(gone="CONVERSATION")
    there.press("C-l")
    there.run("--resume")
    there.until("type here", PARIS, "■ silenced", "10 plus 20 is")
    there.press("C-q")
    there.until(gone="CONVERSATION")
