"""Copies text to the clipboard of the terminal that shows the screen, over ssh too. Must not know what is copied.

A terminal takes it by OSC 52. tmux stands between the two: by its default (set-clipboard external) it lets no program's
OSC 52 pass, but it passes on what its own ``load-buffer -w`` is given, and keeps that as a buffer of its own.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from contextlib import suppress

from predtui.foreign import harmless

PATIENCE_S = 3.0
"""For tmux."""


def send(text: str, to_terminal: Callable[[str], object]) -> None:
    """``to_terminal``: writes OSC 52. In tmux it may take a moment."""
    if not (os.environ.get("TMUX") and _to_tmux(text)):
        to_terminal(text)


def clean(text: str) -> str:
    """Without what would command a terminal that it is pasted into: lines and tabs stay, and no line end at the end."""
    return "\n".join("\t".join(map(harmless, line.split("\t"))) for line in text.splitlines()).rstrip("\n")


def _to_tmux(text: str) -> bool:
    """Whether it has taken it."""
    with suppress(OSError, subprocess.SubprocessError):
        command = ["tmux", "load-buffer", "-w", "-"]
        done = subprocess.run(command, input=text.encode(), capture_output=True, timeout=PATIENCE_S, check=False)
        return done.returncode == 0
    return False
