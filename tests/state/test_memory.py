"""What a session remembers of itself: the last turns as they were, in little room."""

from __future__ import annotations

import tracemalloc

from hypothesis import given, settings
from hypothesis import strategies as st

from predtui.state import events as ev
from predtui.state.memory import Memory
from predtui.state.reducer import reduce
from predtui.state.turn import Turn
from tests.laws.test_replay import EVENTS


def a_turn(number: int) -> list[ev.Event]:
    """As many events as a spoken question of ten words brings, sound and all."""
    at = 10.0 * number
    stamp = {"turn": number, "revision": 1}
    words = [f"word{index}" for index in range(10)]
    return [
        ev.TurnStarted(turn=number, time=at),
        *(ev.AudioFrame(turn=number, time=at + 0.02 * frame, pcm=bytes(640)) for frame in range(200)),
        *(
            event
            for count in range(1, 11)
            for event in (
                ev.Transcript(**stamp, time=at + 0.4 * count, stable=" ".join(words[:count])),
                ev.Verdict(**stamp, time=at + 0.4 * count),
                ev.Candidate(**stamp, time=at + 0.4 * count, kept="a guess of some length " * count),
                *(ev.Work(**stamp, time=at, stage=stage, start=at, end=at + 1.0) for stage in ("asr", "llm", "tts")),
            )
        ),
        ev.Transcript(**stamp, time=at + 5.0, stable=" ".join(words), unfinished=False, final=True),
        ev.SpeechChunk(**stamp, time=at + 5.1, pcm=bytes(100_000)),
        *(ev.Playback(**stamp, time=at + 5.2 + 0.1 * index, state="playing") for index in range(30)),
    ]


@given(st.lists(EVENTS, max_size=80), st.integers(1, 3))
@settings(max_examples=60, deadline=None)
def test_what_is_remembered_ends_as_now_is(events: list[ev.Event], turns: int) -> None:
    memory, turn = Memory(turns, most=30), Turn()
    for event in events:
        memory(event)
        turn = reduce(turn, event)
    tape = memory.tape()
    assert tape.state(len(tape)) == turn
    assert len(tape) <= 31
    assert len(tape.places("turn")) <= turns


def test_as_many_turns_as_it_should_and_their_beginnings_whole() -> None:
    memory, turn, states = Memory(turns=3), Turn(), {}
    for number in range(1, 8):
        for event in a_turn(number):
            memory(event)
            turn = reduce(turn, event)
            if isinstance(event, ev.TurnStarted):
                states[number] = turn
    tape = memory.tape()
    assert [tape.state(place) for place in tape.places("turn")] == [states[number] for number in (5, 6, 7)]


def test_idle_hours_leave_one_figure() -> None:
    memory = Memory()
    for event in a_turn(1):
        memory(event)
    before = len(memory.tape())
    for second in range(5000):
        memory(ev.Usage(time=100.0 + second, cpu=float(second)))
    tape = memory.tape()
    assert len(tape) == before + 1
    assert tape.state(len(tape)).usage.cpu == 4999.0


def test_a_day_of_talk_takes_no_more_room_than_its_last_turns() -> None:
    memory = Memory()
    tracemalloc.start()
    for number in range(1, 61):
        for event in a_turn(number):
            memory(event)
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert size < 2**20, "less than a megabyte, where the sound alone was fourteen"
