"""The timeline: a row per stage, parts where they are known and fit, and what speculation gained."""

from __future__ import annotations

import pytest

from predtui.state import events as ev
from predtui.state.reducer import reduce
from predtui.tui.widgets.timeline import TimelinePane
from tests.tui.scenes import fold


def test_the_axis_before_the_first_turn_begins_with_the_first_bar() -> None:
    warming = [ev.Work(stage="llm", start=3112.0, end=3112.5), ev.Work(stage="tts", start=3113.0, end=3113.1)]
    pane = TimelinePane(fold(warming))
    lines = [line.plain for line in pane.draw(pane.values, 40, 5)]
    assert lines[1].startswith("llm   █████ ")
    assert lines[4].strip().startswith("┴0 s")


def test_the_timeline_shows_target_and_draft_where_the_model_drafts() -> None:
    spans = [ev.Work(turn=2, stage=worker, start=10.0, end=10.3) for worker in ("llm", "target", "draft")]
    pane = TimelinePane(fold([ev.TurnStarted(turn=2, time=10.0), *spans]))
    lines = [line.plain for line in pane.draw(pane.values, 40, 7)]
    assert [line.split()[0] for line in lines[:6]] == ["asr", "llm", "target", "draft", "tts", "audio"]
    assert lines[2:4] == ["target ███".ljust(40), "draft  ███".ljust(40)]


@pytest.mark.parametrize(
    ("parts", "height", "shown"),
    [
        (["encode", "write"], 7, ["asr", "encode", "write", "llm", "tts", "audio"]),
        (["target", "draft"], 6, ["asr", "target", "draft", "tts", "audio"]),
        (["encode", "write", "target", "draft"], 7, ["encode", "write", "target", "draft", "tts", "audio"]),
        (["encode", "write", "target", "draft"], 6, ["asr", "target", "draft", "tts", "audio"]),
        ([], 4, ["asr", "llm", "tts"]),
    ],
)
def test_parts_stand_for_the_whole_where_room_is_short(parts: list[str], height: int, shown: list[str]) -> None:
    spans = [ev.Work(turn=2, stage=worker, start=10.0, end=10.1) for worker in parts]
    pane = TimelinePane(fold([ev.TurnStarted(turn=2, time=10.0), *spans]))
    assert [line.plain.split()[0] for line in pane.draw(pane.values, 40, height)][:-1] == shown


def test_the_timeline_tells_how_the_synthesiser_fares() -> None:
    told = fold([ev.TurnStarted(turn=1, time=1.0), ev.Synthesis(turn=1, ready=17, released=3, real_time_factor=0.251)])
    pane = TimelinePane(told)
    assert pane.heading(pane.values) == (" · seconds", " · 17 chunks ready, 3 sent")
    pane.set_reactive(TimelinePane.figured, True)
    assert pane.heading(pane.values) == (" · seconds", " · 17 chunks ready, 3 sent · RTF 0.25")
    after = reduce(told, ev.TurnStarted(turn=2, time=9.0))
    assert after.synthesis == ev.Synthesis(turn=1, real_time_factor=0.251)
