"""The comparison with plain decoding is for idle time: whenever the next turn comes, it is not kept waiting."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predtui.clock import Clock, VirtualClock
from predtui.decoding.costs.curve import Curve
from predtui.decoding.sampler import Greedy
from predtui.lab.bench import harness
from predtui.lab.bench.shared_model import priced
from predtui.lab.bench.virtual import Timetable
from predtui.llm.base import LoadedModel, Stale, never
from predtui.llm.load import load
from predtui.predgen.baseline import BaselineMeter, diverges
from predtui.predgen.options import SpeculationOptions
from predtui.predgen.stage import SpeculationStage
from predtui.predgen.window import Window
from predtui.runtime.hosts.inline import InlineHost
from predtui.state.events import (
    Baseline,
    Event,
    MeasureBaseline,
    Message,
    ReplyCommitted,
    ReplyFinished,
    Transcript,
    TurnStarted,
)
from predtui.state.stage import StageSpec

FORWARD_S, TOKEN_S = 0.2, 0.03
"""A slow machine: a forward, and each of the tokens that it evaluates."""
PROMPT = "what is the sun made of and why is it so hot in there"
OPTIONS = SpeculationOptions(model="5", engine="scripted", system="sys", reply_tokens=120)


def price(new: int, known: int) -> float:
    return FORWARD_S + TOKEN_S * new


def make(clock: Clock) -> SpeculationStage:
    def lend(model: str, engine: str, threads: int | None, context: int, stale: Stale) -> LoadedModel:
        loaded = load(model, engine)
        return replace(loaded, model=priced(loaded.model, price, clock))

    curve = Curve()
    curve.add(1, price(1, 0))
    curve.add(50, price(50, 0))
    return SpeculationStage(OPTIONS, lend, curve)


def latency(after_s: float, measured: bool) -> tuple[float, list[Event]]:
    """Seconds from a second prompt, given whole ``after_s`` after the first reply, to its first sentence; and what the
    stage said of the first turn since then."""
    clock, said = Timetable(), list[Event]()
    host = InlineHost(
        StageSpec("llm", f"{harness.__name__}:{harness.staged.__name__}", partial(make, clock)), said.append, clock
    )
    host.start()
    host.run()
    for event in (TurnStarted(turn=1), Transcript(turn=1, revision=1, stable=PROMPT, final=True)):
        host.send(event)
        host.run()
    (reply,) = (event for event in said if isinstance(event, ReplyFinished))
    said.clear()
    begun = clock.now() + after_s
    history = (Message("user", PROMPT), Message("assistant", reply.text))
    clock.at(begun, lambda: host.send(TurnStarted(turn=2, history=history)))
    clock.at(begun, lambda: host.send(Transcript(turn=2, revision=1, stable="and the moon", final=True)))
    if measured:
        host.send(MeasureBaseline(turn=1, revision=1, prompt=PROMPT, reply=reply.text))
        host.run()
    clock.until(begun)
    host.run()
    first = next(event for event in said if isinstance(event, ReplyCommitted))
    return first.time - begun, [event for event in said if event.turn == 1]


READING_S = price(1, 0) + price(len(PROMPT) + 10, 0)
"""The measurement's first two forwards, over the prompt, are over by then; each of the others evaluates a token."""


@given(st.floats(0.0, 40.0))
@settings(max_examples=40, deadline=None)
def test_a_turn_that_comes_during_the_measurement_waits_for_one_forward_at_most(after_s: float) -> None:
    alone, _ = latency(after_s, measured=False)
    disturbed, _ = latency(after_s, measured=True)
    forward = price(1 if after_s > READING_S else len(PROMPT) + 10, 0)
    assert disturbed - alone <= forward + 1e-6


def test_left_alone_the_measurement_is_done_and_leaves_the_memory_as_it_was() -> None:
    alone, _ = latency(200.0, measured=False)
    after, said = latency(200.0, measured=True)
    (baseline,) = (event for event in said if isinstance(event, Baseline))
    assert baseline.identical
    assert baseline.ttfs_ms > 0
    assert after == pytest.approx(alone)


tokens = st.lists(st.integers(4, 12), max_size=6)


@given(tokens, tokens)
def test_a_reply_diverges_at_its_first_token_that_plain_decoding_did_not_choose(
    plain: list[int], reply: list[int]
) -> None:
    at = diverges(plain, reply)
    assert plain[:at] == reply[:at] if at >= 0 else plain[: len(reply)] == reply
    assert at < 0 or at == len(plain) or plain[at] != reply[at]


@pytest.mark.parametrize("stale_after", [0, 1, 5])
def test_a_measurement_that_is_stale_says_nothing(stale_after: int) -> None:
    questions = iter(range(stale_after))
    asked = MeasureBaseline(prompt=PROMPT, reply="?")
    assert [*meter().measure(asked, lambda: next(questions, None) is None)] == []


def test_the_committed_tokens_are_compared_where_there_are_some_and_else_those_of_the_text() -> None:
    one, asked = meter(), MeasureBaseline(prompt=PROMPT, reply="")
    (unknown,) = one.measure(asked, never)
    assert unknown.identical
    loaded = load("5", engine="scripted")
    one.replied(PROMPT, (loaded.tokenizer.encode("x")[0],) * 3)
    (known,) = one.measure(asked, never)
    assert (known.identical, known.divergence) == (False, 0)
    assert known.logit_gap > 0
    assert (known.first_sentence, known.nfetfs) == (unknown.first_sentence, unknown.nfetfs)


def meter() -> BaselineMeter:
    loaded = load("5", engine="scripted")
    return BaselineMeter(loaded, Greedy(), Window(loaded, "sys", 120), 120, VirtualClock())
