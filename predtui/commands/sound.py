"""The sound check in a terminal: what to do, the microphone's level while it listens, and a line for each thing found.
Without a terminal, lines alone. Must not know how sound is played or heard.
"""

from __future__ import annotations

from rich.console import Console
from rich.live import Live
from rich.text import Text

from predtui.audio.checking import Checking, works
from predtui.audio.found import Found, Level, Say, Told
from predtui.commands.checks.finding import Finding
from predtui.settings import AudioSettings
from predtui.tui import figures

WIDTH = 40
"""Cells of the level."""
INTERRUPTED = 130


def check_sound(options: AudioSettings, screen: Console, problem: str = "") -> int:
    """Returns the exit status: 0 where somebody can hear and is heard, 130 after Ctrl+C. ``problem``: why the settings
    file is not used."""
    if problem:
        screen.print(Finding("settings file", "broken", problem).line(), soft_wrap=True)
    every: list[Told] = []
    try:
        with Checking(options) as checking, Live(console=screen, transient=True, auto_refresh=False) as live:
            for told in checking:
                every.append(told)
                _show(told, screen, live)
    except KeyboardInterrupt:
        return INTERRUPTED
    heard = works(every)
    screen.print("Sound works here." if heard else "Sound does not work yet: see the lines marked – or ✗.")
    return 0 if heard else 1


def _show(told: Told, screen: Console, live: Live) -> None:
    match told:
        case Level() if screen.is_terminal:
            live.update(Text(f"microphone {figures.loudness(told.decibels, WIDTH)}"), refresh=True)
        case Say():
            screen.print(told.text)
        case Found():
            live.update("", refresh=screen.is_terminal)
            screen.print(Finding(told.subject, told.state, told.text, told.remedy).line(), soft_wrap=True)
