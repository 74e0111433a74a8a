"""The baseline is asked for once a turn, in idle time, and only of a turn that came to its end."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from predtui.clock import VirtualClock
from predtui.runtime.baseline import BaselineSchedule
from predtui.runtime.bus import Bus
from predtui.state import events as ev

IDLE_S = 2.0


class Scheduled:
    """A bus with nothing on it but the schedule."""

    def __init__(self) -> None:
        self.clock = VirtualClock(10.0)
        self.bus = Bus(self.clock)
        self.asked: list[ev.MeasureBaseline] = []
        self.bus.connect(lambda event, origin: None, BaselineSchedule(self.bus, IDLE_S).react)
        self.bus.subscribe(lambda event: self.asked.append(event) if isinstance(event, ev.MeasureBaseline) else None)

    def reply(self, turn: int, text: str = "Yes.", heard: bool = True) -> None:
        """A typed turn up to its reply, heard to its end or not."""
        self.bus.enter(ev.TurnStarted(turn=turn, history=self.bus.state.history))
        self.bus.dispatch(ev.Transcript(turn=turn, stable="is it", final=True))
        revision = self.bus.state.revision
        if text:
            self.bus.dispatch(ev.ReplyCommitted(turn=turn, revision=revision, text=text))
        self.bus.dispatch(ev.ReplyFinished(turn=turn, revision=revision, prompt="is it", text=text))
        if heard:
            self.bus.dispatch(ev.Playback(turn=turn, revision=revision, state="finished"))

    def wait(self, seconds: float) -> None:
        self.clock.advance(seconds)
        self.bus.dispatcher.pump()


@given(st.lists(st.floats(0.0, 4.0), min_size=1, max_size=6))
def test_it_is_asked_for_once_where_nothing_came_for_long_enough(pauses: list[float]) -> None:
    scheduled = Scheduled()
    for number, pause in enumerate(pauses, 1):
        scheduled.reply(number)
        scheduled.wait(pause)
    expected = [number for number, pause in enumerate(pauses, 1) if pause >= IDLE_S]
    assert [event.turn for event in scheduled.asked] == expected
    scheduled.wait(10.0)
    assert len({event.turn for event in scheduled.asked}) == len(scheduled.asked)


def test_it_asks_for_the_reply_to_the_prompt_as_it_was_asked() -> None:
    scheduled = Scheduled()
    for number in (1, 2):
        scheduled.reply(number)
    scheduled.wait(IDLE_S)
    (asked,) = scheduled.asked
    assert (asked.turn, asked.prompt, asked.reply) == (2, "is it", "Yes.")
    assert [message.content for message in asked.history] == ["is it", "Yes."]


def test_an_empty_reply_or_one_that_was_silenced_has_no_baseline() -> None:
    scheduled = Scheduled()
    scheduled.reply(1, text="")
    scheduled.wait(10.0)
    scheduled.reply(2, heard=False)
    scheduled.bus.publish(ev.Interrupt(), bump=1)
    scheduled.wait(10.0)
    assert scheduled.asked == []


def test_a_reply_that_nobody_can_hear_has_one_all_the_same() -> None:
    scheduled = Scheduled()
    scheduled.reply(1, heard=False)
    scheduled.wait(10.0)
    assert scheduled.asked == []
    scheduled.bus.publish(ev.StageStatus(stage="player", state="failed"))
    scheduled.wait(IDLE_S)
    assert [event.turn for event in scheduled.asked] == [1]
