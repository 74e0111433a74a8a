"""Playing a tape, and a recording: from the first turn on, to and fro, at any speed, and broken ones."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from predtui.clock import VirtualClock
from predtui.state import events as ev
from predtui.state.player import SPEEDS, Player
from predtui.state.replay import Replay
from predtui.state.tape import Tape
from tests.state.test_session import record

STARTING = [ev.StageStatus(stage="llm", state=state, time=at) for at, state in ((1.0, "starting"), (4.0, "ready"))]
TURNS: list[ev.Event] = [
    event
    for turn, at in ((1, 10.0), (2, 20.0))
    for event in (
        ev.TurnStarted(turn=turn, time=at),
        ev.Transcript(turn=turn, revision=1, time=at + 1, stable="hello"),
        ev.Verdict(turn=turn, revision=1, time=at + 2),
        ev.Verdict(turn=turn, revision=1, time=at + 3, final=True),
        ev.ReplyCommitted(turn=turn, revision=1, time=at + 4, text="hi"),
    )
]
EVENTS: list[ev.Event] = [*STARTING, *TURNS]


def over(replay: Replay) -> None:
    until = time.monotonic() + 60
    while replay.running:
        assert time.monotonic() < until
        time.sleep(0.005)
    replay.stop()


def paused(clock: VirtualClock | None = None) -> Player:
    """At the end of a tape."""
    return Player(Tape(events=EVENTS), clock or VirtualClock())


def test_keys_go_from_verdict_to_verdict_and_from_turn_to_turn() -> None:
    player = paused()

    def after(go: Any, *to: Any) -> tuple[int, float]:
        go(*to)
        return player.state.number, player.position.moment + 1.0

    assert after(player.jump, "verdict", -1) == (2, 23.0)
    assert after(player.jump, "turn", -1) == (2, 20.0)
    assert after(player.jump, "turn", -1) == (1, 10.0)
    assert after(player.jump, "verdict", 1) == (1, 12.0)
    assert after(player.step, 1) == (1, 13.0)
    assert after(player.step, -2) == (1, 11.0)
    assert after(player.home) == (1, 10.0)
    assert after(player.home) == (0, 1.0)
    assert after(player.step, -1) == (0, 1.0)
    assert after(player.seek, 20.5) == (2, 21.5)
    assert after(player.seek, 1e9) == after(player.end) == (2, 24.0)


def test_time_passes_at_the_speed_that_is_shown_and_not_in_a_pause() -> None:
    clock = VirtualClock()
    player = paused(clock)
    player.home()
    clock.advance(5.0)
    assert player.position.moment == 9.0
    player.toggle()
    clock.advance(2.0)
    player.change_speed(1)
    assert player.position.speed == 2.0
    clock.advance(1.0)
    assert player.position.moment == 9.0 + 2.0 + 2.0
    player.toggle()
    clock.advance(5.0)
    assert player.position.moment == 13.0
    for by, last in ((1, SPEEDS[-1]), (-1, SPEEDS[0])):
        for _ in SPEEDS:
            player.change_speed(by)
        assert player.position.speed == last


def test_going_on_at_the_end_begins_anew() -> None:
    player = paused()
    player.toggle()
    assert player.position.playing
    assert player.state.number == 1


def test_listeners_hear_each_event_once_and_of_each_jump() -> None:
    player = Player(Tape(events=EVENTS), speed=1e6)
    heard: list[ev.Event] = []
    ignored: list[ev.Event] = []
    player.subscribe(heard.append)
    player.subscribe(ignored.append)()
    player.home()
    player.start()
    player.toggle()
    until = time.monotonic() + 60
    while player.position.playing and time.monotonic() < until:
        time.sleep(0.005)
    player.stop()
    player.stop()
    assert heard == [ev.Event(), *TURNS[1:]]
    assert ignored == []


def test_a_recording_is_played_from_its_first_turn_to_its_end(tmp_path: Path) -> None:
    record(tmp_path / "s", EVENTS)
    replay = Replay(tmp_path / "s", speed=1e6)
    heard: list[ev.Event] = []
    replay.subscribe(heard.append)
    assert replay.running
    replay.start()
    over(replay)
    assert [event for event in heard if event.time] == TURNS[1:], "the start-up is skipped"
    assert replay.state == Tape(events=EVENTS).state(len(EVENTS))
    assert replay.state.stages["llm"].state == "ready", "and yet it has been"


def test_one_without_a_turn_is_played_from_its_beginning(tmp_path: Path) -> None:
    record(tmp_path / "s", STARTING)
    replay = Replay(tmp_path / "s", speed=1e6)
    heard: list[ev.Event] = []
    replay.subscribe(heard.append)
    replay.start()
    over(replay)
    assert [event for event in heard if event.time] == STARTING


def test_one_that_is_cut_off_is_shown_up_to_there(tmp_path: Path) -> None:
    record(tmp_path / "s", EVENTS)
    file = tmp_path / "s" / "session.jsonl"
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) - 30])
    replay = Replay(tmp_path / "s", speed=1e6)
    replay.start()
    over(replay)
    assert len(replay.tape) == len(EVENTS)
    assert replay.state.number == 2
    assert not replay.state.sentences
    assert "no JSON; the line is left out" in replay.state.notices[-1].text


@pytest.mark.parametrize("junk", ["nothing of ours", json.dumps({"type": "Verdict", "time": -5})])
def test_one_that_breaks_while_it_is_opened_says_so(tmp_path: Path, junk: str) -> None:
    record(tmp_path, EVENTS[:1])
    replay = Replay(tmp_path)
    (tmp_path / "session.jsonl").write_text(junk + "\n")
    replay.start()
    over(replay)
    (notice,) = replay.state.notices
    assert notice.severity == "error"
