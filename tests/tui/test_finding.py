"""Words that stand in a pane are found, all of them and no other, wherever its lines were broken."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from textual.pilot import Pilot
from textual.selection import SELECT_ALL
from textual.widgets import Input

from predtui.state import events as ev
from predtui.tui.app import PredtuiApp
from predtui.tui.finding import hits
from predtui.tui.gate import assemble
from predtui.tui.widgets.conversation import ConversationPane
from predtui.tui.widgets.find import FindBar
from predtui.tui.widgets.pane import Pane
from predtui.tui.widgets.prompt import PromptLine
from predtui.tui.widgets.verifier import VerifierPane
from predtui.tui.wrapping import extracted, wrapped
from tests.tui.conftest import MakeApp
from tests.tui.scenes import ScriptedDriver, answered, first_exchange, machine
from tests.tui.test_app import plain, settle

TEXTS = st.lists(st.text("abAB 日ß", min_size=1, max_size=40).filter(str.strip), min_size=1, max_size=4)


def count(text: str, words: str) -> int:
    """As one finds in an editor: small letters find great ones, too."""
    return text.count(words) if any(map(str.isupper, words)) else text.lower().count(words)


@given(TEXTS, st.text("abA 日ß", min_size=1, max_size=4), st.integers(8, 30), st.integers(0, 3))
def test_each_place_is_found_and_is_what_was_looked_for(texts: list[str], words: str, width: int, indent: int) -> None:
    lines = [line for text in texts for line in wrapped(assemble(text), width, indent)]
    found = hits(lines, words)
    whole = extracted(lines, SELECT_ALL)
    assert len(found) == count(whole, words)
    for hit in found:
        marked = "".join(lines[span.y].plain[span.start : span.end] for span in hit)
        assert marked.lower().replace(" ", "") == words.lower().replace(" ", "")
        assert [span.y for span in hit] == sorted({span.y for span in hit})


def test_nothing_is_found_of_nothing() -> None:
    assert hits([assemble("words")], "") == hits([], "words") == ()


def said(turn: int, text: str) -> list[ev.Event]:
    """A finished turn."""
    begun, heard, committed, finished, *played = (replace(event, turn=turn) for event in first_exchange())
    assert isinstance(heard, ev.Transcript)
    assert isinstance(finished, ev.ReplyFinished)
    return [begun, replace(heard, stable=text), committed, replace(finished, prompt=text), *played]


async def on_pane(pilot: Pilot[None], pane: type[Pane[object]]) -> Pane[object]:
    await settle(pilot)
    shown = pilot.app.query_one(pane)
    shown.focus()
    await pilot.pause()
    return shown


async def test_words_far_above_are_found_gone_through_and_forgotten(make_app: MakeApp) -> None:
    turns = [said(turn, f"a rare pelican {turn}" if turn in (3, 9) else f"question {turn}") for turn in range(1, 30)]
    app = make_app(ScriptedDriver([*machine(), *(event for turn in turns for event in turn)]))
    async with app.run_test(size=(80, 24)) as pilot:
        pane = await on_pane(pilot, ConversationPane)
        assert "pelican" not in plain(app, ConversationPane)
        await pilot.press("/", *"pelican")
        assert "1 of 2" in str(app.query_one("#find-count").render())
        assert "pelican 3" in plain(app, ConversationPane)
        await pilot.press("enter")
        assert app.focused is pane
        assert not app.query_one(FindBar).has_class("-shown")
        await pilot.press("n")
        assert "pelican 9" in plain(app, ConversationPane)
        await pilot.press("n")
        assert "pelican 3" in plain(app, ConversationPane)
        await pilot.press("N")
        assert pane.found.told() == "2 of 2"
        assert "2 of 2" in str(pane.border_title)
        await pilot.press("escape")
        assert not pane.found.words
        assert app.query_one(PromptLine).value == ""


async def test_a_click_on_the_newer_lines_goes_there(make_app: MakeApp) -> None:
    app = make_app(ScriptedDriver([*machine(), *(event for turn in range(1, 30) for event in said(turn, "words"))]))
    async with app.run_test(size=(80, 24)) as pilot:
        pane = await on_pane(pilot, ConversationPane)
        assert isinstance(pane, ConversationPane)
        await pilot.press("pageup")
        assert pane.back == 10
        await pilot.click(ConversationPane, offset=(5, 2))
        assert pane.back == 10
        await pilot.click(ConversationPane, offset=(5, 0))
        assert pane.back == 0


async def test_what_is_nowhere_is_told_and_escape_goes_back(make_app: MakeApp) -> None:
    app = make_app(ScriptedDriver([*machine(), *first_exchange()]))
    async with app.run_test(size=(80, 24)) as pilot:
        pane = await on_pane(pilot, ConversationPane)
        await pilot.press("/", *"zebra, or so")
        assert str(app.query_one("#find-count").render()) == "not found"
        assert app.query_one("#find-words", Input).value == "zebra, or so"
        await pilot.press("escape")
        assert app.focused is pane
        assert not pane.found.words


async def test_what_comes_later_is_found_too_and_what_was_found_stays(make_app: MakeApp) -> None:
    driver = ScriptedDriver([*machine(), *said(1, "one pelican")])
    app = make_app(driver)
    async with app.run_test(size=(80, 24)) as pilot:
        pane = await on_pane(pilot, ConversationPane)
        await pilot.press("/", *"pelican", "enter")
        driver.emit(*said(3, "another pelican"))
        await settle(pilot)
        assert pane.found.told() == "1 of 2"


async def test_rows_that_are_out_of_view_are_found_in_the_verifier(make_app: MakeApp) -> None:
    verdicts = [
        ev.Verdict(turn=2, revision=n, outcome="reject" if n == 5 else "accept", accepted=1, of=1, verifier="greedy")
        for n in range(1, 40)
    ]
    app = make_app(ScriptedDriver([*machine(), *first_exchange(), ev.TurnStarted(turn=2, time=9.0), *verdicts]))
    async with app.run_test(size=(120, 36)) as pilot:
        await on_pane(pilot, VerifierPane)
        assert "reject" not in plain(app, VerifierPane)
        await pilot.press("/", *"reject", "enter")
        assert "reject" in plain(app, VerifierPane)


async def test_a_pane_that_does_not_scroll_marks_what_it_shows(make_app: MakeApp) -> None:
    app: PredtuiApp = make_app(ScriptedDriver([*machine(), *first_exchange(), *answered()]))
    async with app.run_test(size=(120, 36)) as pilot:
        await settle(pilot)
        for pane in app.query(Pane):
            if pane.document() and pane.display and pane.size.height:
                words = next((word for line in pane.document() for word in line.plain.split() if len(word) > 2), "")
                pane.find(words)
                assert words
                assert pane.found.hits
