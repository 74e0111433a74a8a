"""The machine's figures as graphs: within their bounds at any size, and each of them told where there is room."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui.state import events as ev
from predtui.state.reducer import reduce
from predtui.state.turn import Turn
from predtui.tui import graphs
from predtui.tui.load import HISTORY, Load, followed
from tests.tui.scenes import utilised


def after(events: list[ev.Event]) -> Load:
    load, turn = Load(), Turn()
    for event in events:
        turn = reduce(turn, event)
        load = followed(load, turn)
    return load


def plain(load: Load, width: int, height: int) -> list[str]:
    assert load.now
    lines = graphs.picture(load, load.now, width, height)
    assert len(lines) <= height
    assert all(line.cell_length <= width for line in lines)
    return [line.plain for line in lines]


@given(st.integers(36, 240), st.integers(8, 60), st.integers(0, 128), st.booleans(), st.integers(1, 9))
def test_nothing_leaves_its_bounds(width: int, height: int, cores: int, gpu: bool, seconds: int) -> None:
    assert plain(after(utilised(seconds, cores, gpu)), width, height)[0].startswith("cpu")


@pytest.mark.parametrize("size", [(78, 21), (118, 30), (198, 44)])
def test_a_large_pane_tells_all_there_is(size: tuple[int, int]) -> None:
    load = after(utilised(60, 4))._replace(joules=41.2)
    lines = plain(load, *size)
    names = ["cpu", "gpu", "tokens/s", "forwards/s", *(f"core {at}" for at in range(4)), "llm", "player"]
    if size[0] >= graphs.WIDE:
        names += ["cpu W", "gpu MB", "gpu W", "gpu °C"]
    for name in names:
        assert any(name in line for line in lines), name
    whole = ("31 %   640 MB   24 W   41 J the last reply", "27 %   2.3 GB   100 W   48 °C")
    for told in (*whole, "12   most 40", "4   most 14", "75 %"):
        assert any(told in line for line in lines), told
    assert len(lines) == size[1]


def test_what_is_not_known_is_not_shown() -> None:
    quiet = [event for event in utilised(5, 4, gpu=False) if not isinstance(event, ev.Candidate)]
    text = "\n".join(plain(after(quiet), 118, 30))
    for name in ("gpu", "tokens/s", "forwards/s", " J ", "most"):
        assert name not in text


def test_cores_are_a_bar_each_where_they_are_too_many_for_lines() -> None:
    load = after(utilised(5, 96, gpu=False))
    few, many = plain(load, 78, 12), plain(load, 198, 60)
    (line,) = (line for line in few if line.startswith("cores"))
    assert not any("core 0" in row for row in few)
    assert len(line) > 60
    assert any("core 0" in row and "core 3" in row for row in many)


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 50), st.integers(0, 9), st.integers(1, 3)), max_size=30))
def test_every_token_and_forward_is_counted_once(steps: list[tuple[bool, int, int, int]]) -> None:
    """Of turns that are no longer than a sample, however many there are."""
    load, turn, number, time = Load(), Turn(), 0, 0.0
    load = followed(load, reduce(turn, ev.Usage(memory_mb=1.0)))
    made, rated, told = [0, 0], [0.0, 0.0], [0, 0]
    for anew, tokens, forwards, seconds in steps:
        time += seconds
        if anew or not number:
            number, told = number + 1, [0, 0]
            turn = reduce(turn, ev.TurnStarted(turn=number, time=time))
        told = [told[0] + tokens, told[1] + forwards]
        made = [made[0] + tokens, made[1] + forwards]
        turn = reduce(turn, ev.Candidate(turn=number, generated=told[0], forwards=told[1]))
        turn = reduce(turn, ev.Usage(turn=number, time=time, memory_mb=1.0))
        load = followed(load, turn)
        for at, name in enumerate(("tokens/s", "forwards/s")):
            rated[at] += load.course(name)[-1] * seconds if load.course(name) else 0.0
    assert rated == pytest.approx(made)


def test_what_was_done_while_nobody_watched_is_no_rate() -> None:
    events = utilised(3)
    later = ev.Candidate(turn=3, time=90.0, generated=5000, forwards=400)
    load = after([*events, later, ev.Usage(turn=3, time=90.0, memory_mb=1.0)])
    assert load.course("tokens/s")[-1] == load.course("forwards/s")[-1] == 0.0


def test_courses_end() -> None:
    load = after(utilised(HISTORY + 20, 2))
    assert {len(course) for _, course in load.courses} == {HISTORY}
    usage = ev.Usage(time=999.0, memory_mb=1.0, stages=(("ui", 1.0, 1.0),))
    assert set(dict(followed(load, Turn(usage=usage)).courses)) == {"cpu", "ui %", "ui MB", "tokens/s", "forwards/s"}


def test_the_same_turn_is_no_news() -> None:
    turn = Turn(usage=ev.Usage(time=1.0, memory_mb=1.0))
    load = followed(Load(), turn)
    assert followed(load, turn) is load
