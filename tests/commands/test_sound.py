"""The sound check in a terminal: the level moves while it listens, and only lines are left."""

from __future__ import annotations

import io
from collections.abc import Iterator

import pytest
from rich.console import Console

from predtui.audio.found import Found, Level, Say, Told
from predtui.commands import sound
from predtui.settings import AudioSettings

TOLD: list[Told] = [
    Say("Now say something."),
    Level(-30.0),
    Found("microphone", "found", "heard you at -30 dBFS", needed=True),
    Found("echo", "missing", "[bold]not[/bold] cancelled", "Turn it down."),
]


class Checking:
    """Tells ``TOLD`` and what is ``more``."""

    more: tuple[Told, ...] = ()
    interrupted = False

    def __init__(self, options: AudioSettings) -> None:
        self.left = False

    def __enter__(self) -> Checking:
        return self

    def __exit__(self, *_: object) -> None:
        self.left = True

    def __iter__(self) -> Iterator[Told]:
        yield from (*TOLD, *self.more)
        if self.interrupted:
            raise KeyboardInterrupt


@pytest.mark.parametrize("terminal", [True, False])
@pytest.mark.parametrize("lost", [True, False])
def test_what_is_found_is_printed_and_is_the_exit_status(
    monkeypatch: pytest.MonkeyPatch, terminal: bool, lost: bool
) -> None:
    monkeypatch.setattr(sound, "Checking", Checking)
    monkeypatch.setattr(Checking, "more", (Found("loudspeaker", "missing", "none", needed=True),) if lost else ())
    written = io.StringIO()
    screen = Console(file=written, force_terminal=terminal, width=100, markup=False, highlight=False)
    assert sound.check_sound(AudioSettings(), screen) == lost
    assert ("\x1b" in written.getvalue()) == ("-30 dBFS" in written.getvalue().split("heard")[0]) == terminal
    if not terminal:
        said = ["Now say something.", "✓ microphone         heard you at -30 dBFS"]
        said += ["– echo               [bold]not[/bold] cancelled  Turn it down."]
        assert written.getvalue().splitlines()[:3] == said


def test_ctrl_c_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sound, "Checking", Checking)
    monkeypatch.setattr(Checking, "interrupted", True)
    assert sound.check_sound(AudioSettings(), Console(file=io.StringIO())) == sound.INTERRUPTED
