"""However fast a server is, and whether or not it stops with what is given up: with speculation no first sentence comes
later than without by more than nobody notices, and the replies are the same."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from predtui.lab.bench.streams import Stream
from predtui.lab.bench.streams import events as streamed
from predtui.llm.requested import GRACE_S
from predtui.predgen.options import SpeculationOptions
from predtui.state.events import Event, ReplyCommitted, ReplyFinished, Requests
from tests.predgen.timed import STEP_S, Speeds, TimedAssistant

OPTIONS = SpeculationOptions(model="5", engine="scripted", system="sys", reply_tokens=60, candidate_tokens=60)
"""A first sentence is no longer than what is asked for ahead: of one that is, the rest is one more request."""
PAUSE_S = 0.06
WORDS = ["what", "is", "the", "sun", "made", "of", "no", "a"]
said = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)
speeds = st.builds(
    Speeds, st.floats(0.005, 1.5), st.floats(0.0, 0.1), st.sampled_from(["at once", "between forwards", "never"])
)


@st.composite
def turns(draw: st.DrawFn) -> list[Stream]:
    """Keys of one who types at a pace, each up to nearly twice as long as the shortest."""
    key = draw(st.floats(0.04, 0.4))
    jitter = itertools.cycle(draw(st.lists(st.floats(1.0, 1.9), min_size=1, max_size=7)))
    streams = []
    for text in draw(st.lists(said, min_size=1, max_size=3)):
        times = [*itertools.accumulate(key * next(jitter) for _ in range(len(text) + 1))]
        partials = [(times[at], text[: at + 1]) for at in range(len(text))]
        streams.append(Stream((*partials, (times[-1], text)), None, key))
    return streams


TYPED = ((0.38, "i"), (0.94, "is"), (1.31, "is "), (1.88, "is w"), (2.25, "is wh"), (2.81, "is wha"), (3.19, "is what"))
LONG = Stream((*TYPED, (3.75, "is what")), None, 0.38)
"""Guessed right, with a reply whose first sentence is long."""


def heard(turn: int, stream: Stream, speculates: bool) -> list[Event]:
    return [replace(event, turn=turn) for event in streamed(stream, (), speculates, PAUSE_S * speculates)]


def first(out: list[Event], stream: Stream) -> float:
    return next(event.time for event in out if isinstance(event, ReplyCommitted)) - stream.partials[-1][0]


def reply(out: list[Event]) -> str:
    (finished,) = [event.text for event in out if isinstance(event, ReplyFinished)]
    return finished


@pytest.mark.parametrize("given_rows", [False, True], ids=["regenerates", "exact"])
@given(speeds, turns())
@example(Speeds(0.5, 0.0, "at once"), [LONG])
@settings(max_examples=40, deadline=None)
def test_no_first_sentence_comes_later_than_without_speculation(
    given_rows: bool, speed: Speeds, streams: list[Stream]
) -> None:
    ahead = TimedAssistant(given_rows, speed, OPTIONS)
    plain = TimedAssistant(False, speed, replace(OPTIONS, remote_budget=0.0))
    verification = speed.first if given_rows else 0.0
    for turn, stream in enumerate(streams, 1):
        out, wanted = ahead.play(heard(turn, stream, True)), plain.play(heard(turn, stream, False))
        assert reply(out) == reply(wanted)
        assert first(out, stream) <= first(wanted, stream) + GRACE_S + 2 * STEP_S + verification


def asks(assistant: TimedAssistant, text: str, key: float) -> str:
    times = [key * (at + 1) for at in range(len(text) + 1)]
    stream = Stream((*zip(times[:-1], (text[: at + 1] for at in range(len(text))), strict=True), (times[-1], text)))
    out = assistant.play(heard(1, stream, True))
    return [event.asks for event in out if isinstance(event, Requests)][-1]


@pytest.mark.parametrize(
    ("speed", "wanted"),
    [
        (Speeds(1.0, 0.05, "at once"), "words"),
        (Speeds(1.0, 0.05, "between forwards"), "end"),
        (Speeds(1.0, 0.05, "never"), "end"),
        (Speeds(0.02, 0.0, "never"), "words"),
    ],
)
def test_it_is_told_what_a_server_is_asked_for(speed: Speeds, wanted: str) -> None:
    assert asks(TimedAssistant(False, speed, OPTIONS), "what is the sun made of", 0.1) == wanted


def test_a_pause_that_turns_out_to_be_the_end_is_won() -> None:
    """The request that was begun in it goes on, and is the only one for these words."""
    speed, text = Speeds(0.8, 0.02, "at once"), "what is it"
    assistant = TimedAssistant(False, speed, OPTIONS)
    keys = [(0.1 * (at + 1), text[: at + 1]) for at in range(len(text))]
    stream = Stream((*keys, (keys[-1][0] + 1.0, text)), None, 0.1)
    before = assistant.stage._parts.loaded.model.counters.cancelled
    out = assistant.play(heard(1, stream, True))
    without = TimedAssistant(False, speed, replace(OPTIONS, remote_budget=0.0)).play(heard(1, stream, False))
    assert reply(out) == reply(without)
    assert first(out, stream) < first(without, stream) - 0.7
    requests = [event for event in out if isinstance(event, Requests)][-1]
    assert requests.cancelled == assistant.stage._parts.loaded.model.counters.cancelled - before
