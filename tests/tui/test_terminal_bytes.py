"""The bytes that reach a real terminal while everything that speaks is hostile, read back from a pseudo-terminal."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path
from select import select

import pytest

from predtui.models.shipped import themes_folder
from predtui.state import events as ev
from predtui.state.codec import to_json
from tests import foreign

HOSTILE = "\x1b]0;owned\x07\x1b]8;;http://owned\x1b\\\x1b]52;c;b3duZWQ=\x07\x1b[2J\x1bPq\x1b\\\x9b2J\u202e\u2066\r\x08[/][link=a:b"
SEEN = "owned"
OWN = re.compile(r"\x1b\[[?>=<]?[\d;]*\$?[A-Za-z]|\x1b\]22;\w*(\x07|\x1b\\)|\x1b\]11;\?\x07")
"""What Textual writes: modes, colours, places, and the shape of the mouse pointer."""
END_S = 60.0
KEYS = ((SEEN, "\x14"), (SEEN, "\x1bOS"), (".gguf", "\x1bOS\x10"), ("Search for", SEEN), ("Theme:", "\x11"))
"""Ctrl+T; F4, which opens and closes the models; Ctrl+P, and what is looked for there; Ctrl+Q."""
LIVE = """
import sys
from pathlib import Path
from tests.tui.scenes import ScriptedDriver, answered, first_exchange, machine
from tests.tui.test_foreign_text import said_by_all
from tests.tui.test_terminal_bytes import HOSTILE
from predtui.settings import LlmSettings, Settings, UiSettings
from predtui.tui.app import PredtuiApp
from predtui.tui.themes import load_themes
folder = Path(sys.argv[1])
driver = ScriptedDriver(said_by_all(iter(lambda: HOSTILE, None), 1))
settings = Settings(llm=LlmSettings(folder=str(folder)), ui=UiSettings(theme=HOSTILE))
PredtuiApp(driver, settings, load_themes([folder / "themes"]), model_options=lambda path: {"llm.model": path}).run()
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A theme and a model file of hostile names."""
    (tmp_path / "themes").mkdir()
    theme = (themes_folder() / "midnight.toml").read_text(encoding="utf-8")
    named = theme.replace('name = "midnight"', f"name = {json.dumps(HOSTILE)}")
    (tmp_path / "themes" / "hostile.toml").write_text(named, encoding="utf-8")
    (tmp_path / "themes" / f"{HOSTILE.replace('/', '|')}.toml").write_text("name =", encoding="utf-8")
    (tmp_path / f"{HOSTILE.replace('/', '|')}.gguf").write_bytes(b"GGUF")
    return tmp_path


def on_a_terminal(folder: Path, *command: str, keys: tuple[tuple[str, str], ...] = ()) -> str:
    """What ``command`` writes to a terminal. ``keys``: what is waited for, and what is pressed then."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(ours, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 160, 0, 0))
    own = {"PREDTUI_CONFIG_DIR": str(folder), "PREDTUI_STATE_DIR": str(folder), "TERM": "xterm-256color"}
    streams = {"stdin": theirs, "stdout": theirs, "stderr": theirs}
    child = subprocess.Popen([sys.executable, *command], **streams, env={**os.environ, **own})
    os.close(theirs)
    written, waiting, since, began = b"", list(keys), 0, time.monotonic()
    while time.monotonic() - began < END_S:
        if select([ours], [], [], 0.2)[0]:
            try:
                written += os.read(ours, 1 << 16)
            except OSError:
                break
        if waiting and waiting[0][0].encode() in written[since:]:
            since = len(written)
            os.write(ours, waiting.pop(0)[1].encode())
        elif child.poll() is not None and not select([ours], [], [], 0)[0]:
            break
    child.wait(5)
    os.close(ours)
    assert not waiting
    return written.decode(errors="surrogateescape")


def assert_harmless(written: str) -> None:
    assert SEEN in written
    assert "Traceback" not in written
    assert "\x1b[2J" not in written
    left = OWN.sub("", written)
    assert set(foreign.forbidden(left)) <= {"\n", "\r"}, left


def test_the_app(folder: Path) -> None:
    written = on_a_terminal(folder, "-c", LIVE, str(folder), keys=KEYS)
    assert_harmless(written)
    assert ".gguf" in written
    assert "Theme:" in written


def test_a_replay(folder: Path) -> None:
    recording = folder / "events.jsonl"
    said = [
        ev.TurnStarted(turn=1),
        ev.Notice(text=HOSTILE, severity="error"),
        ev.Transcript(turn=1, revision=1, stable=HOSTILE, unfinished=False, final=True),
        ev.ReplyCommitted(turn=1, revision=1, index=0, text=HOSTILE),
        ev.ReplyFinished(turn=1, revision=1, prompt=HOSTILE, text=HOSTILE),
    ]
    recording.write_text("".join(f"{json.dumps(to_json(event))}\n" for event in said), encoding="utf-8")
    assert_harmless(on_a_terminal(folder, "-m", "predtui", "replay", str(recording), keys=((SEEN, "\x11"),)))


@pytest.mark.parametrize(
    "arguments",
    [
        ["turn", "--wav", HOSTILE],
        ["replay", HOSTILE],
        ["doctor", "--llm-model", HOSTILE],
        [HOSTILE],
        ["turn", f"--{HOSTILE}"],
    ],
)
def test_commands_that_quote_a_name(folder: Path, arguments: list[str]) -> None:
    assert_harmless(on_a_terminal(folder, "-m", "predtui", *arguments))
