"""The page of the sound check: it shows what is told, as it comes, and ends the check as it closes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from predtui.audio import checking
from predtui.audio.found import Found, Level, Say, Told
from predtui.tui.app import PredtuiApp
from predtui.tui.screens import sound
from predtui.tui.screens.reading import Line
from predtui.tui.screens.sound import SoundScreen
from tests.tui.conftest import MakeApp
from tests.tui.scenes import SOUND, ScriptedDriver, first_exchange, machine
from tests.tui.test_app import until


class Check:
    """Tells ``SOUND`` and waits for ``go``, or to be stopped."""

    begun = 0

    def __init__(self, told: tuple[Told, ...] = SOUND) -> None:
        Check.begun += 1
        self._told, self.go, self.stopped = told, threading.Event(), False

    def __iter__(self) -> Iterator[Told]:
        yield from self._told
        assert self.go.wait(10)

    def stop(self) -> None:
        self.stopped = True
        self.go.set()


def text(app: PredtuiApp, which: str) -> str:
    return str(app.screen.query_one(which, Static).content)


@pytest.fixture
def check(monkeypatch: pytest.MonkeyPatch) -> Check:
    """The one that the action begins."""
    made = Check()
    monkeypatch.setattr(checking, "Checking", lambda _: made)
    return made


async def test_the_key_opens_it_and_silences_first(make_app: MakeApp, check: Check) -> None:
    driver = ScriptedDriver(machine())
    app = make_app(driver)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("tab", "S")
        await until(pilot, lambda: isinstance(app.screen, SoundScreen) and len(app.screen.query(Line)) == 2)
        assert ("silence",) in driver.asked
        assert "say something" in text(app, "#asked")
        assert text(app, "#loudness").endswith("-27 dBFS")
        await pilot.press("r")  # not before it is over
        check.go.set()
        await until(pilot, lambda: text(app, "#asked") == sound.OVER)
        assert text(app, "#loudness") == ""
        assert [line._term for line in app.screen.query(Line)] == ["✓ loudspeaker", "– echo"]
        await pilot.press("escape")
        assert not app.pages.open


async def test_it_begins_anew_once_it_is_over_and_ends_as_it_closes(make_app: MakeApp) -> None:
    app, made = make_app(ScriptedDriver(machine())), list[Check]()
    async with app.run_test(size=(120, 36)) as pilot:
        await app.push_screen(SoundScreen(lambda: made.append(Check()) or made[-1]))
        await until(pilot, lambda: made and len(app.screen.query(Line)) == 2)
        made[0].go.set()
        await until(pilot, lambda: text(app, "#asked") == sound.OVER)
        await pilot.press("r")
        await until(pilot, lambda: len(made) == 2 and len(app.screen.query(Line)) == 2)
        assert not made[1].stopped
        await pilot.press("escape")
        await until(pilot, lambda: made[1].stopped)


async def test_a_check_that_cannot_begin_says_so_and_what_is_found_commands_no_terminal(make_app: MakeApp) -> None:
    def fails() -> Check:
        raise OSError(11, "Resource temporarily unavailable")

    app = make_app(ScriptedDriver(machine()))
    async with app.run_test() as pilot:
        await app.push_screen(SoundScreen(fails))
        await until(pilot, lambda: "cannot begin" in text(app, "#asked"))
        await pilot.press("escape")
        told = (Say("[red]\x1b[2J"), Level(-200.0), Level(9.0), Found("\x1b[2J[b]", "broken", "[/]\x07 a", "[x"))
        await app.push_screen(SoundScreen(lambda: Check(told)))
        await until(pilot, lambda: len(app.screen.query(Line)) == 1)
        assert "\x1b" not in app.export_screenshot()
        assert "[red]" in text(app, "#asked")


@pytest.mark.parametrize("decibels", [-200.0, -96.0, -60.0, -30.0, 0.0, 3.0])
@pytest.mark.parametrize("width", [0, 5, 20, 60])
def test_a_level_has_the_width_that_there_is(decibels: float, width: int) -> None:
    from predtui.tui.figures import loudness

    shown = loudness(decibels, width)
    assert len(shown) == max(width, len(f" {decibels:4.0f} dBFS"))
    assert shown.count("█") <= max(0, width)


@pytest.mark.parametrize("size", [(80, 24), (120, 36)], ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("over", [False, True], ids=["listening", "over"])
def test_the_sound_check(
    snap_compare: Callable[..., bool], make_app: MakeApp, size: tuple[int, int], over: bool
) -> None:
    check = Check(SOUND)

    async def opened(pilot: Pilot[None]) -> None:
        await pilot.app.push_screen(SoundScreen(lambda: check))
        if over:
            check.go.set()

    driver = ScriptedDriver([*machine(), *first_exchange()])
    assert snap_compare(make_app(driver), terminal_size=size, run_before=opened)
