"""The input line in a person's own editor, and back. Must not know what is typed, nor what is done with it."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from textual.app import App, SuspendNotSupported

from predtui.errors import PredtuiError, reason
from predtui.tui.widgets.prompt import PromptLine

if TYPE_CHECKING:
    from predtui.tui.app import PredtuiApp

USUAL = ("notepad",) if sys.platform == "win32" else ("editor", "nano", "vi")
"""Looked for where a person has named none."""


def act(app: PredtuiApp) -> None:
    """Lets the text be edited, and takes it back. Nobody is listened to meanwhile."""
    if app.turn.phase == "listening":
        app.requests.ask(lambda driver: driver.silence())
    prompt = app.screen_stack[0].query_one(PromptLine)
    try:
        text = edited(app, prompt.text, command(os.environ))
    except PredtuiError as error:
        app.show_notice(str(error), "warning")
        return
    if text != prompt.text:
        prompt.value = text
    prompt.focus()


def command(environment: Mapping[str, str]) -> list[str]:
    """How the editor is called, without the file. Raises PredtuiError where there is none."""
    named = environment.get("VISUAL") or environment.get("EDITOR") or ""
    try:
        words = shlex.split(named, posix=sys.platform != "win32")
    except ValueError as error:
        raise PredtuiError(f"$EDITOR is no command: {named} ({error}).", "Put its name there.") from error
    words = words or [name for name in USUAL if shutil.which(name)][:1]
    if not words:
        raise PredtuiError("There is no editor.", "Name one before you start: export EDITOR=nano")
    if not shutil.which(words[0]):
        raise PredtuiError(f"The editor {words[0]} is not there.", "Install it, or name another in $EDITOR.")
    return words


def edited(app: App[None], text: str, words: list[str]) -> str:
    """``text`` as it was left in the editor. Raises PredtuiError where that fails, or the app has no terminal."""
    with tempfile.TemporaryDirectory(prefix="predtui-") as folder:
        file = Path(folder) / "prompt.md"
        file.write_text(f"{text}\n" if text else "", encoding="utf-8")
        try:
            with app.suspend():
                problem = _problem([*words, str(file)])
            left = file.read_text(encoding="utf-8", errors="replace")
        except SuspendNotSupported as error:
            raise PredtuiError("An editor needs a terminal, which there is not here.") from error
        except OSError as error:
            problem = f"{file.name} cannot be read again: {reason(error)}"
    if problem:
        raise PredtuiError(f"The editor: {problem}.", "What was typed stays as it was.")
    return left.rstrip("\n")


def _problem(call: list[str]) -> str:
    """Waits for the editor; why it failed, or nothing."""
    try:
        status = subprocess.call(call)
    except OSError as error:
        return f"{call[0]} cannot be run: {reason(error)}"
    return f"{call[0]} ended with status {status}" if status else ""
