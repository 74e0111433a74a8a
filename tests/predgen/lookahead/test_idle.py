"""Idle work: a step a call, given up when it is dropped, done or pre-empted."""

from __future__ import annotations

from predtui.llm.base import Preempted
from predtui.predgen.lookahead.idle import IdleWork
from predtui.predgen.lookahead.lookahead import Steps
from predtui.state.events import Continuation, SentenceAhead


def steps() -> Steps:
    yield None
    yield Continuation(prompt="what is", sentence="It is.")
    yield SentenceAhead(text="It is.")


def test_each_call_takes_a_step() -> None:
    work = IdleWork(enabled=True, always=False)
    work.begin(steps())
    seen = []
    while work.pending:
        seen.append(work.step())
    assert seen == [None, Continuation(prompt="what is", sentence="It is."), SentenceAhead(text="It is."), None]


def test_it_is_over_when_it_is_dropped_or_pre_empted() -> None:
    def halted() -> Steps:
        yield None
        raise Preempted

    work = IdleWork(enabled=True, always=False)
    work.begin(halted())
    assert (work.step(), work.pending) == (None, True)
    assert (work.step(), work.pending) == (None, False)
    work.begin(steps())
    work.drop()
    assert (work.step(), work.pending) == (None, False)


def test_it_stops_where_it_saves_nothing_and_is_tried_again_unless_it_is_always_wanted() -> None:
    work, always, off = IdleWork(True, False), IdleWork(True, True), IdleWork(False, True)
    assert (work.pays, always.pays, off.pays) == (True, True, False)
    for one in (work, always):
        for _ in range(60):
            if one.pays:
                one.begin(steps())
            one.prompted(saved=0)
            if not one.pays:
                break
    assert (work.pays, always.pays) == (False, True)
    waited = 0
    while not work.pays:
        work.prompted(saved=0)
        waited += 1
    assert waited > 5
