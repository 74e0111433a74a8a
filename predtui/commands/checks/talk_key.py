"""What the terminal tells of the talk key. Must not know of the screen."""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Iterator
from select import select

from predtui.commands.checks.finding import Finding
from predtui.settings import Settings
from predtui.tui import kitty

QUESTION = f"\x1b[>{kitty.EVENT_TYPES}u{kitty.ASK}\x1b[<u\x1b[c"
"""Which flags are set once this one is? Then a question that every terminal answers: one without flags is no wait."""
LAST = re.compile(rb"\x1b\[\?[\d;]*c")
FLAGS = re.compile(rb"\x1b\[\?\d+u")
ANSWERS_WITHIN = 1.0
"""Seconds, over a slow line too."""
REMEDY = (
    "Holding works too: the TALK button with the mouse, or F2, which ends 0.4 s after its last repeat. "
    "kitty, foot, Ghostty, Alacritty, iTerm2, and WezTerm with enable_kitty_keyboard, tell; tmux and screen do not."
)


def talk_key(_: Settings) -> Iterator[Finding]:
    """Whether the end of a held F2 is told, or guessed by its repeats."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        yield Finding("talk key", "missing", "no terminal to ask", "Run predtui doctor in the terminal you talk in.")
    elif tells_releases():
        yield Finding("talk key", "found", "hold F2 to talk: this terminal tells when it is let go; a tap toggles")
    else:
        detail = "press F2 to talk, again to send: this terminal does not tell when F2 is let go"
        yield Finding("talk key", "found", detail, REMEDY)


def tells_releases(device: str = "/dev/tty") -> bool:
    """Asks the terminal; keys typed meanwhile are lost. False where there is none."""
    if sys.platform == "win32":
        return False
    import termios
    import tty

    try:
        terminal = os.open(device, os.O_RDWR | os.O_NOCTTY)
    except OSError:
        return False
    try:
        before = termios.tcgetattr(terminal)
        tty.setcbreak(terminal, termios.TCSANOW)
        try:
            os.write(terminal, QUESTION.encode())
            answer = FLAGS.search(_answers(terminal))
        finally:
            termios.tcsetattr(terminal, termios.TCSAFLUSH, before)
    except (OSError, termios.error):
        return False
    finally:
        os.close(terminal)
    return bool(answer and (kitty.flags(answer[0].decode()) or 0) & kitty.EVENT_TYPES)


def _answers(terminal: int) -> bytes:
    """All that comes until the last answer."""
    came, until = b"", time.monotonic() + ANSWERS_WITHIN
    while not LAST.search(came) and (left := until - time.monotonic()) > 0 and select([terminal], [], [], left)[0]:
        piece = os.read(terminal, 1 << 10)
        if not piece:
            break
        came += piece
    return came
