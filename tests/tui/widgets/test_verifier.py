"""The verifier pane: a row for each verification, and what a server was asked for."""

from __future__ import annotations

import pytest

from predtui.state import events as ev
from predtui.state.turn import Turn
from predtui.tui.widgets.verifier import VerifierPane
from tests.tui.scenes import fold, speculating

ASKED = ev.Requests(turn=2, server="http://far", proof="regenerates", count=7, cancelled=3, generated=120, wasted=80)


def drawn(turn: Turn, width: int = 70) -> list[str]:
    pane = VerifierPane(turn)
    return [line.plain for line in pane.draw(pane.read(turn), width, 6)]


def test_requests_are_told_where_a_server_is_asked_and_nowhere_else() -> None:
    without, asked = drawn(fold(speculating())), drawn(fold([*speculating(), ASKED]))
    assert asked == ["regenerated · 7 requests · 3 cancelled · 80/120 wasted", *without[:5]]
    assert drawn(fold([*speculating(), ASKED, ev.TurnStarted(turn=3)]))[0] == drawn(Turn())[0]


@pytest.mark.parametrize("width", range(12, 70, 3))
def test_as_much_is_told_as_there_is_room_for_and_the_proof_first(width: int) -> None:
    line = drawn(fold([*speculating(), ASKED]), width)[0]
    assert len(line) <= width
    assert line.startswith("regenerated")


def test_it_tells_that_guessing_waits() -> None:
    saving = ev.Requests(turn=2, proof="text", count=1, saving=True)
    assert drawn(fold([*speculating(), saving]))[0] == "text · 1 request · 0/0 wasted · saving"


@pytest.mark.parametrize(
    ("proof", "says"),
    [
        ("exact", "kept 12 of 24 tokens"),
        ("regenerates", "confirmed 12 of 24 tokens"),
        ("text", "confirmed 12 of 24 words"),
    ],
)
def test_what_holds_of_guesses_is_told_in_what_the_server_tells(proof: ev.Proof, says: str) -> None:
    verdict = ev.Verdict(turn=1, outcome="accept", accepted=6, of=12)
    turn = Turn(verdicts=(verdict, verdict), requests=ev.Requests(proof=proof, count=1))
    pane = VerifierPane(turn)
    assert pane.heading(pane.read(turn)) == (f" · {says}",)
    assert pane.heading(pane.read(Turn(verdicts=(verdict, verdict)))) == (" · kept 12 of 24 tokens",)
