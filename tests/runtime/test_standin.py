"""Numpy stands in for llama.cpp while that is compiled, and gives way when no turn is under way."""

from __future__ import annotations

from dataclasses import replace

import pytest

from predtui.llm.llamacpp.compile import Build
from predtui.runtime.standin import StandIn
from predtui.state import events as ev
from predtui.state.turn import Turn
from tests.cast import Pace, cast
from tests.runtime.harness import Harness


class Stage:
    """What a pipeline is asked to do with its model."""

    def __init__(self, state: ev.StageState = "ready", message: str = "7.6M · numpy · cpu") -> None:
        self.state = Turn(stages={"llm": ev.StageStatus(stage="llm", state=state, message=message)})
        self.said: list[str] = []
        self.renewed = 0

    def publish(self, event: ev.Event) -> None:
        assert isinstance(event, ev.Notice)
        self.said.append(event.text)

    def renew_stage(self, name: str) -> None:
        self.renewed += 1

    def describe_stage(self, name: str, message: str) -> None:
        self.said.append(message)
        self.state = replace(self.state, stages={name: replace(self.state.stages[name], message=message)})


def test_progress_then_the_handover() -> None:
    half = Build("compiling", 0.0, 1, 0.5)
    looks = iter([half, replace(half, fraction=0.75), None])
    stage = Stage()
    stand_in = StandIn(stage, lambda: next(looks))
    assert [stand_in.step() for _ in range(3)] == [True, True, False]
    assert stage.said[0] == "7.6M · numpy · cpu · compiling llama.cpp 50%"
    assert stage.said[1] == "7.6M · numpy · cpu · compiling llama.cpp 75%"
    assert stage.renewed == 1


def test_a_compile_that_fails_is_told_and_numpy_stays() -> None:
    stage = Stage()
    assert not StandIn(stage, lambda: Build("failed", 0.0, 1, reason="no compiler")).step()
    assert "no compiler" in stage.said[0]
    assert stage.renewed == 0


def test_another_engine_is_left_alone() -> None:
    stage = Stage(message="7.6M · torch · cpu")
    assert not StandIn(stage, lambda: None).step()
    assert stage.renewed == 0


def test_a_stage_that_is_still_starting_is_waited_for() -> None:
    assert StandIn(Stage(state="starting", message="loading"), lambda: None).step()


@pytest.mark.parametrize("typed", ["", "hello there"])
def test_a_stage_is_renewed_between_turns_and_nothing_is_lost(typed: str) -> None:
    harness = Harness(cast(Pace()))
    before = harness.hosts["llm"]
    harness.type(typed)
    harness.pipeline.renew_stage("llm")
    harness.settle()
    assert (harness.hosts["llm"] is before) is bool(typed)
    harness.type(f"{typed} and you", final=True)
    for _ in range(20):
        harness.wait(1.0)
    assert harness.hosts["llm"] is not before
    assert f"{typed} and you".strip() in harness.turn.reply_text
    harness.type("again", final=True)
    for _ in range(20):
        harness.wait(1.0)
    assert "again" in harness.turn.reply_text


def test_what_is_said_of_a_stage_is_said_while_it_is_ready() -> None:
    harness = Harness(cast(Pace()))
    harness.pipeline.describe_stage("llm", "43 %")
    harness.settle()
    assert harness.turn.stages["llm"].message == "43 %"
    harness.kill("llm")
    harness.pipeline.describe_stage("llm", "44 %")
    harness.pipeline.pump()
    assert harness.turn.stages["llm"].state == "restarting"
