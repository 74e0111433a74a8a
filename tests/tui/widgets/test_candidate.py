"""The candidate: how drafts do, and how much was answered ahead."""

from __future__ import annotations

from dataclasses import replace

from textual.content import Content

from predtui.state import events as ev
from predtui.state.reducer import reduce
from predtui.state.turn import Turn
from predtui.tui.widgets.candidate import CandidatePane
from tests.tui.scenes import fold, speculating


def test_the_candidate_pane_tells_how_drafts_fare_where_there_are_any() -> None:
    draft = ev.Decoding(turn=2, decoder="speculative + model", proposed=4, accepted=3, acceptance_rate=0.81)
    turn = fold([*speculating(), replace(draft, tokens_per_forward=3.4)])
    off = fold([*speculating(), replace(draft, note="drafting is off")])
    lines = [[line.plain for line in drawn(state)] for state in (fold(speculating()), turn, off)]
    assert not any("drafted" in line for line in lines[0])
    assert any("3/4 drafted, 81% · 3.4/forward" in line for line in lines[1])
    assert any("drafting is off" in line for line in lines[2])
    assert all(len(found) == 6 and "kept" in found[-1] for found in lines)


def drawn(turn: Turn) -> list[Content]:
    pane = CandidatePane(turn)
    return pane.draw(pane.read(turn), 70, 6)


def test_the_candidate_tells_how_many_ends_of_the_sentence_were_answered_ahead() -> None:
    continuation = ev.Continuation(turn=2, prompt="what is the sun", sentence="It is a star.")
    headings = []
    for state in (fold(speculating()), fold([*speculating(), continuation, continuation])):
        pane = CandidatePane(state)
        headings.append(pane.heading(pane.read(state)))
    assert headings[1] == (*headings[0], " · 2 ahead")
    assert reduce(fold([*speculating(), continuation]), ev.TurnStarted(turn=3)).continuations == ()
