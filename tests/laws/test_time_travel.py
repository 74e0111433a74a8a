"""Any time is as it was: the Turn at a place of a tape is what folding all events before it gives, from wherever one
comes."""

from __future__ import annotations

from functools import reduce as fold

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predtui.state import events as ev
from predtui.state import tape as tapes
from predtui.state.player import Player
from predtui.state.reducer import reduce
from predtui.state.tape import LONGEST_PAUSE, Tape
from predtui.state.turn import Turn
from tests.laws.test_replay import EVENTS

HISTORIES = st.lists(EVENTS, max_size=60)
PLACES = st.lists(st.integers(0, 60), max_size=12)


@pytest.fixture(autouse=True)
def _few_between_two_kept_states(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tapes, "EVERY", 7)


def folded(events: list[ev.Event]) -> Turn:
    return fold(reduce, events, Turn())


def on_tape(events: list[ev.Event]) -> list[ev.Event]:
    return [event for event in events if not isinstance(event, ev.AudioFrame)]


@given(HISTORIES, PLACES)
@settings(max_examples=60, deadline=None)
def test_seeking_is_folding(events: list[ev.Event], places: list[int]) -> None:
    tape, kept = Tape(events=events), on_tape(events)
    for place in places:
        at = min(place, len(tape))
        assert tape.state(at) == folded(kept[:at])
    assert tape.state(len(tape)) == folded(events), "what was heard changes nothing that is seen"


@given(HISTORIES, st.floats(0, 700), PLACES)
@settings(max_examples=60, deadline=None)
def test_a_player_shows_the_time_that_it_tells(events: list[ev.Event], moment: float, places: list[int]) -> None:
    tape = Tape(events=events)
    player = Player(tape)
    player.seek(moment)
    position = player.position
    assert position.moment <= position.seconds
    due = [event for at, event in enumerate(on_tape(events), 1) if tape.moment(at) <= min(moment, tape.seconds)]
    assert player.state == folded(due)
    for by in places:
        player.step(by - 30)
        assert player.state == folded(on_tape(events)[: player.position.place])


@given(HISTORIES)
@settings(max_examples=60, deadline=None)
def test_time_never_goes_back_on_a_tape_and_no_pause_is_long(events: list[ev.Event]) -> None:
    tape = Tape(events=events)
    moments = [tape.moment(at) for at in range(len(tape) + 1)]
    assert moments == sorted(moments)
    assert tape.seconds <= LONGEST_PAUSE * len(events)
    assert all(at <= tape.place(moment) for at, moment in enumerate(moments))


@given(HISTORIES, st.integers(0, 60), PLACES)
@settings(max_examples=60, deadline=None)
def test_a_tape_that_forgot_its_beginning_shows_the_same(
    events: list[ev.Event], forgotten: int, places: list[int]
) -> None:
    tape = Tape(events=events)
    first = min(forgotten, len(tape))
    rest = tape.since(first)
    assert len(rest) == len(tape) - first
    for place in places:
        at = min(place, len(rest))
        assert rest.state(at) == tape.state(first + at)


@given(HISTORIES, st.integers(0, 60), st.sampled_from(["turn", "verdict"]))
@settings(max_examples=60, deadline=None)
def test_jumps_go_to_the_nearest_of_their_kind(events: list[ev.Event], place: int, mark: tapes.Mark) -> None:
    tape = Tape(events=events)
    place = min(place, len(tape))
    kind = ev.TurnStarted if mark == "turn" else ev.Verdict
    there = [at for at, event in enumerate(on_tape(events), 1) if isinstance(event, kind)]
    assert tape.next(mark, place, 1) == min((at for at in there if at > place), default=len(tape))
    assert tape.next(mark, place, -1) == max((at for at in there if at < place), default=0)
