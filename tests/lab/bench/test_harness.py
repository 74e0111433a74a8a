"""Virtual time: appointments in the middle of work, prices that can be added up, and stages that do not wait for
each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from predtui.clock import Clock, VirtualClock
from predtui.errors import PredtuiError
from predtui.lab.bench import harness
from predtui.lab.bench.shared_model import PricedModel
from predtui.lab.bench.virtual import CHARACTERS_A_SECOND, PricedSynthesizer, Timetable
from predtui.lab.profiles import HardwareProfile
from predtui.llm.scripted import ScriptedModel
from predtui.state.events import Event, Notice, ReplyCommitted, ReplyFinished, SpeechEnd, Transcript, TurnStarted
from predtui.state.stage import StageContext
from tests.toys import Toy

PROFILE = HardwareProfile("toy", "", (1, 11), (0, 100), ((10.0, 20.0), (30.0, 40.0)), 1000.0, 50.0, 2.0)


def test_appointments_are_kept_in_order_as_time_passes() -> None:
    clock, kept = Timetable(), list[tuple[str, float]]()

    def note(name: str) -> Callable[[], None]:
        return lambda: kept.append((name, clock.now()))

    for name, time in (("late", 3.0), ("first", 1.0), ("second", 1.0)):
        clock.at(time, note(name))
    clock.sleep(0.5)
    assert kept == []
    assert clock.next == 1.0
    clock.sleep(1.0)
    assert kept == [("first", 1.5), ("second", 1.5)]
    clock.until(1.0)
    assert clock.now() == 1.5
    clock.until(3.0)
    assert kept[-1] == ("late", 3.0)
    assert clock.next is None


def test_a_priced_forward_costs_what_the_profile_says_and_answers_as_the_model_does() -> None:
    clock, plain = VirtualClock(), ScriptedModel(seed=1)
    model = PricedModel(ScriptedModel(seed=1), PROFILE.forward_seconds, clock)
    assert (model.forward([5] * 11).logits == plain.forward([5] * 11).logits).all()
    assert clock.now() == pytest.approx(0.020)  # 11 new tokens after none
    model.forward([5] * 11 + [6])
    assert clock.now() == pytest.approx(0.020 + 0.0122)  # one more after 11: 10 + 20 x 11/100 ms
    assert model.counters.forwards == 2


def test_a_priced_voice_is_late_once_and_then_steady() -> None:
    clock = VirtualClock()
    voice = PricedSynthesizer(PROFILE, clock)
    speech = voice.synthesize("x" * round(CHARACTERS_A_SECOND))
    times = [(clock.now(), len(chunk)) for chunk in speech if chunk]
    assert times == [(pytest.approx(0.05 + 0.05 * n), 3200) for n in range(10)]
    assert list(voice.synthesize("")) == []


def busy(event: Event, context: StageContext) -> Iterator[Event]:
    """Works in steps of 10 ms until it is stale, or for half a second."""
    if isinstance(event, Transcript):
        start = context.clock.now()
        while not context.stale() and context.clock.now() - start < 0.4995:
            context.clock.sleep(0.01)
        yield Notice(text=f"{event.prompt} after {context.clock.now() - start:.2f}")
        if event.final:
            yield ReplyCommitted(text="So.")
            yield ReplyFinished(prompt=event.prompt)


def speak(event: Event, context: StageContext) -> Iterator[Event]:
    if isinstance(event, ReplyFinished):
        yield SpeechEnd()


def cast(
    llm: Callable[[Event, StageContext], Iterator[Event]] = busy,
    tts: Callable[[Event, StageContext], Iterator[Event]] = speak,
    tick: float | None = None,
) -> harness.StageFactories:
    def make_llm(clock: Clock) -> Toy:
        return Toy(accepts=(TurnStarted, Transcript), handler=llm, tick=tick)

    return harness.StageFactories(make_llm, lambda clock: Toy(accepts=(ReplyCommitted, ReplyFinished), handler=tts))


INPUTS = [
    TurnStarted(turn=1),
    Transcript(turn=1, revision=1, time=0.1, stable="a", unfinished=False),
    Transcript(turn=1, revision=2, time=0.255, stable="a b", unfinished=False),
    Transcript(turn=1, revision=3, time=2.0, stable="a b c", final=True),
]
QUICK = [replace(event, time=event.time / 20) for event in INPUTS]


def test_input_arrives_in_the_middle_of_work_and_makes_it_stale() -> None:
    arrived: list[Event] = []
    outs = harness.play_virtual(cast(), INPUTS, arrived.append)
    assert [out.text for out in outs if isinstance(out, Notice)] == [
        "a after 0.16",
        "a b after 0.50",
        "a b c after 0.50",
    ]
    assert [event.time for event in arrived] == [event.time for event in INPUTS]
    (committed,) = (out for out in outs if isinstance(out, ReplyCommitted))
    assert committed.time == pytest.approx(2.5)
    (end,) = (out for out in outs if isinstance(out, SpeechEnd))
    assert end.time == pytest.approx(2.5)


def test_idle_work_fills_the_time_between_input() -> None:
    outs = harness.play_virtual(cast(tick=0.4), INPUTS, lambda event: None)
    assert [round(out.time, 6) for out in outs if isinstance(out, Notice) and out.text == "idle"] == [
        1.16,
        1.56,
        1.96,
    ]


def test_real_time_has_the_same_events_in_the_same_order() -> None:
    outs = harness.play_real(cast(), QUICK, lambda event: None)
    kinds = [type(out) for out in outs if isinstance(out, ReplyCommitted | ReplyFinished | SpeechEnd)]
    assert kinds == [ReplyCommitted, ReplyFinished, SpeechEnd]


@pytest.mark.parametrize("play", [harness.play_real, harness.play_virtual])
@pytest.mark.parametrize("faulty", ["llm", "tts"])
def test_a_stage_that_fails_is_named(play: harness.Play, faulty: str) -> None:
    def fail(event: Event, context: StageContext) -> Iterator[Event]:
        raise PredtuiError("out of order.")
        yield

    with pytest.raises(PredtuiError, match=f"The {faulty} stage failed: out of order."):
        play(cast(**{faulty: fail}), QUICK, lambda event: None)
