"""What is selected with the mouse is the text, and not the lines that it was broken into; what is copied is told."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from textual.geometry import Offset
from textual.pilot import Pilot
from textual.selection import SELECT_ALL, Selection

from predtui.state import events as ev
from predtui.state.exchange import Exchange
from predtui.state.turn import Turn
from predtui.tui import clipboard
from predtui.tui.app import PredtuiApp
from predtui.tui.gate import assemble
from predtui.tui.widgets.bars import NoticeBar
from predtui.tui.widgets.conversation import ConversationPane
from predtui.tui.widgets.prompt import PromptLine
from predtui.tui.wrapping import extracted, wrapped
from tests.tui.conftest import MakeApp
from tests.tui.scenes import ScriptedDriver, answered, first_exchange, machine, speculating

REPLY = "The capital of France is Paris. It lies on the Seine."
texts = st.text("ab cdéß日\n", max_size=60)


def inked(text: str) -> list[str]:
    """Its lines without the blanks at their ends, which nobody sees selected."""
    return [line.rstrip() for line in text.rstrip().split("\n")]


@given(texts, st.integers(2, 30), st.integers(0, 5))
def test_wrapped_lines_are_joined_to_the_text_that_they_were(text: str, width: int, indent: int) -> None:
    shown = assemble(text)
    lines = wrapped(shown, width + indent, indent)
    assert inked(extracted(lines, SELECT_ALL)) == inked(shown.plain)
    assert [line.plain for line in lines][1:] == [" " * indent + line.plain for line in shown.wrap(width)][1:]


@given(texts, st.integers(4, 30), st.data())
def test_any_two_halves_of_it_are_the_whole(text: str, width: int, data: st.DataObject) -> None:
    lines = wrapped(assemble(text), width, 2)
    y = data.draw(st.integers(0, len(lines) - 1))
    x = data.draw(st.integers(2 if y else 0, max(2, len(lines[y].plain))))
    before = extracted(lines, Selection(None, Offset(x, y)))
    after = extracted(lines, Selection(Offset(x, y), None))
    assert before + after == extracted(lines, SELECT_ALL)


def selected(app: PredtuiApp) -> str:
    return app.screen.get_selected_text() or ""


async def drag(pilot: Pilot[None], begin: tuple[int, int], end: tuple[int, int]) -> None:
    """From one place of the screen to another."""
    await pilot.mouse_down(offset=begin)
    await pilot.hover(offset=end)
    await pilot.mouse_up(offset=end)
    await pilot.pause()


async def settled(pilot: Pilot[None]) -> None:
    await pilot.pause()
    await pilot.app.workers.wait_for_complete()
    await pilot.pause()


def written(app: PredtuiApp, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What goes to the terminal besides the screen."""
    bytes_: list[str] = []
    monkeypatch.setattr(app._driver, "write", bytes_.append)
    return bytes_


def osc52(text: str) -> str:
    return f"\x1b]52;c;{base64.b64encode(text.encode()).decode()}\a"


async def test_a_reply_that_is_dragged_over_is_one_line_and_stays_within_its_pane(
    make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TMUX", raising=False)
    app = make_app(ScriptedDriver([*machine(), *first_exchange(), *answered()]))
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        region = app.query_one(ConversationPane).content_region
        lines = [line.plain for line in app.query_one(ConversationPane)._lines]
        row = next(y for y, line in enumerate(lines) if "The capital" in line)
        assert "Seine" not in lines[row]  # it is wrapped
        begin = (region.x + lines[row].index("The"), region.y + row)
        await drag(pilot, begin, (79, 23))
        assert selected(app) == REPLY
        await drag(pilot, begin, (begin[0] + 10, begin[1]))
        assert selected(app) == "The capital"
        bytes_ = written(app, monkeypatch)
        await pilot.press("ctrl+c")
        await settled(pilot)
        assert osc52("The capital") in bytes_
        assert "copied: 11 characters" in app.query_one(NoticeBar).values[1]
        await pilot.press("y")
        await settled(pilot)
        assert bytes_.count(osc52("The capital")) == 2
        await pilot.press("escape", "y")
        await settled(pilot)
        assert osc52(REPLY) in bytes_


async def test_what_is_selected_moves_with_the_lines_as_the_pane_scrolls(make_app: MakeApp) -> None:
    past = tuple(Exchange(f"question {number}", "A reply that is long enough for two lines.") for number in range(20))
    app = make_app(ScriptedDriver([*machine(), ev.Resumed(turn=1, exchanges=past)]))
    async with app.run_test(size=(40, 14)) as pilot:
        await settled(pilot)
        pane = app.query_one(ConversationPane)
        region = pane.content_region
        await drag(pilot, (region.x, region.y), (region.right - 1, region.y))
        before = selected(app)
        assert before
        assert highlighted(pane, region.height) == [0]
        pane.action_back(2)
        await settled(pilot)
        assert selected(app) == before
        assert highlighted(pane, region.height) == [2]


def highlighted(pane: ConversationPane, height: int) -> list[int]:
    """The rows that look otherwise than most."""
    grounds = [pane.render_line(y)._segments[0].style.bgcolor for y in range(height)]  # type: ignore[union-attr]
    return [y for y, ground in enumerate(grounds) if grounds.count(ground) <= height // 2]


@pytest.mark.parametrize(
    ("topic", "key", "copied"),
    [
        ("conversation", "y", REPLY),
        ("conversation", "Y", f"> what is the capital of france\n\n{REPLY}"),
        ("transcript", "y", "what is the capital of france"),
        ("candidate", "y", REPLY),
        ("verifier", "y", "revision 7 (final): accept, 12/12 tokens kept, 1 forwards, 6.1 ms, greedy"),
    ],
)
async def test_y_copies_what_the_pane_has_to_give(
    make_app: MakeApp, monkeypatch: pytest.MonkeyPatch, topic: str, key: str, copied: str
) -> None:
    monkeypatch.delenv("TMUX", raising=False)
    app = make_app(ScriptedDriver([*machine(), *first_exchange(), *answered()]))
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        bytes_ = written(app, monkeypatch)
        while getattr(app.focused, "TOPIC", "") != topic:
            await pilot.press("tab")
        await pilot.press(key)
        await settled(pilot)
        assert [each for each in bytes_ if "]52;" in each] == [osc52(copied)]
        assert f"{len(copied)} characters" in app.query_one(NoticeBar).values[1]


async def test_in_the_input_line_y_is_a_letter(make_app: MakeApp) -> None:
    app = make_app(ScriptedDriver([*machine(), *answered()]))
    async with app.run_test() as pilot:
        await settled(pilot)
        await pilot.press("y", "Y")
        assert app.query_one(PromptLine).value == "yY"


async def test_where_there_is_nothing_to_copy_it_says_so(make_app: MakeApp) -> None:
    app = make_app(ScriptedDriver(machine()))
    async with app.run_test() as pilot:
        await settled(pilot)
        for name, what in (("copy_reply", "reply"), ("copy_question", "question"), ("copy_verdict", "verdict")):
            app.action_perform(name)
            assert app.query_one(NoticeBar).values[1] == f"no {what} to copy yet"
        await pilot.press("ctrl+c")  # and nothing is selected


async def test_a_reply_commands_no_terminal_that_it_is_pasted_into(
    make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TMUX", raising=False)
    hostile = "yes\x1b[201~\rrm -rf\x07\u202e\nno"
    said = [
        ev.TurnStarted(turn=1),
        ev.Transcript(turn=1, revision=1, stable="q", unfinished=False, final=True),
        ev.ReplyFinished(turn=1, revision=1, prompt="q", text=hostile),
    ]
    app = make_app(ScriptedDriver([*machine(), *said]))
    async with app.run_test() as pilot:
        await settled(pilot)
        bytes_ = written(app, monkeypatch)
        app.action_perform("copy_reply")
        await settled(pilot)
        (sent,) = (each for each in bytes_ if "]52;" in each)
        text = base64.b64decode(sent.removeprefix("\x1b]52;c;").removesuffix("\a")).decode()
        assert text == "yes[201~\nrm -rf\nno"


@given(st.text())
def test_what_is_copied_has_lines_and_tabs_and_nothing_else_that_commands(text: str) -> None:
    cleaned = clipboard.clean(text)
    assert all(character.isprintable() or character in "\n\t" or not character.isascii() for character in cleaned)
    assert clipboard.clean(cleaned) == cleaned


async def test_guesses_under_way_can_be_selected_too(make_app: MakeApp) -> None:
    app = make_app(ScriptedDriver([*machine(), *speculating(5)]))
    async with app.run_test(size=(120, 36)) as pilot:
        await settled(pilot)
        app.screen.query_one("CandidatePane").text_select_all()
        await settled(pilot)
        assert "France is Paris. It lies on the Seine." in selected(app)


@given(st.text("ab日é\u0301 ", max_size=20), st.integers(0, 50))
def test_each_cell_belongs_to_the_character_that_is_drawn_on_it(text: str, x: int) -> None:
    pane = ConversationPane(Turn())
    pane._lines = [assemble(text)]
    shown = pane._lines[0].plain
    at, _ = pane.offset_at(x, 0)
    assert cell_len(shown[:at]) <= x
    assert at == len(shown) or x < cell_len(shown[: at + 1])
