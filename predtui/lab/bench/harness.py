"""Plays timed input through the "llm" and the "tts" stage and returns their events, in real or in virtual time.

On the real clock each stage has a thread and input comes as it does in life. On a virtual one the stages are machines
of their own, as processes are: sound never delays words, so first the words are worked out in full, then the sound.
The runtime's bus is not used, since it has one clock, on which the work of one stage would hold up the other's, and
both plays are to hand on the same events, not those that a bus admits. Must not know how either stage works, or what is
measured.
"""

from __future__ import annotations

import queue
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from predtui.clock import Clock, RealClock
from predtui.errors import PredtuiError
from predtui.lab.bench.virtual import Timetable
from predtui.runtime.hosts.inline import InlineHost
from predtui.runtime.hosts.thread import ThreadHost
from predtui.state.events import Baseline, Event, MeasureBaseline, ReplyFinished, SpeechEnd, StageStatus, TurnStarted
from predtui.state.stage import Stage, StageSpec

PATIENCE_S = 300.0
"""A turn in which no stage says anything for so long has failed."""


@dataclass(frozen=True, slots=True)
class StageFactories:
    """How to make the two stages. In virtual time each has a clock of its own, on which its work is priced."""

    llm: Callable[[Clock], Stage]
    tts: Callable[[Clock], Stage]


Arrived = Callable[[Event], None]
Play = Callable[[StageFactories, Sequence[Event], Arrived], list[Event]]
"""(cast, input, arrived) → the stages' events of one turn, each stage's in order. ``input`` begins with TurnStarted and
ends with the final Transcript; its times are seconds from the start. ``arrived`` is called for each as it comes, with
the clock's time. Where there was a reply, its comparison with plain decoding is among the events. Raises PredtuiError
where a stage fails."""


def play_real(cast: StageFactories, inputs: Sequence[Event], arrived: Arrived) -> list[Event]:
    """One turn as it happens."""
    clock = RealClock()
    inbox: queue.SimpleQueue[Event] = queue.SimpleQueue()
    tts = ThreadHost(spec("tts", cast.tts, clock), inbox.put, clock)
    llm = ThreadHost(spec("llm", cast.llm, clock), lambda event: _pass_on(event, tts, inbox), clock)
    try:
        for host in (tts, llm):
            host.start()
            list(_until(inbox, _is_ready))
        start = clock.now()
        for event in inputs:
            clock.sleep(start + event.time - clock.now())
            now = replace(event, time=clock.now())
            arrived(now)
            llm.send(now)
        outs = list(_until(inbox, lambda event: isinstance(event, SpeechEnd)))
        if question := _question(inputs, outs):
            llm.send(question)
            outs += _until(inbox, lambda event: isinstance(event, Baseline))
        return outs
    finally:
        llm.stop()
        tts.stop()


def play_virtual(cast: StageFactories, inputs: Sequence[Event], arrived: Arrived) -> list[Event]:
    """One turn on two virtual clocks that start together."""
    said: list[Event] = []
    spoken: list[Event] = []
    clocks = Timetable(), Timetable()
    llm = InlineHost(spec("llm", cast.llm, clocks[0]), said.append, clocks[0])
    tts = InlineHost(spec("tts", cast.tts, clocks[1]), spoken.append, clocks[1])
    try:
        for host in (llm, tts):
            host.start()
            host.run()
        start = max(clock.now() for clock in clocks)
        let_play(llm, clocks[0], (replace(event, time=start + event.time) for event in inputs), arrived)
        _check(said)
        clocks[1].until(start)
        let_play(tts, clocks[1], said, lambda event: None)
        _check(spoken)
        if question := _question(inputs, said):
            llm.send(question)
            llm.run()
        return [*spoken, *said]
    finally:
        llm.stop()
        tts.stop()


def staged(make: Callable[[], Stage]) -> Stage:
    """The factory of a stage that is described by how to make it."""
    return make()


def spec(name: str, make: Callable[[Clock], Stage], clock: Clock) -> StageSpec:
    """A stage in this process, on ``clock``."""
    return StageSpec(name, f"{__name__}:{staged.__name__}", partial(make, clock))


def _pass_on(event: Event, tts: ThreadHost, inbox: queue.SimpleQueue[Event]) -> None:
    if not isinstance(event, Baseline):
        tts.send(event)
    inbox.put(event)


def let_play(host: InlineHost, clock: Timetable, events: Iterable[Event], arrived: Arrived) -> None:
    """Let ``host`` work on ``events``, each arriving at its time; idle work between them, at the stage's tick."""

    def deliver(event: Event) -> None:
        arrived(event)
        host.send(event)

    for event in list(events):
        clock.at(event.time, partial(deliver, event))
    host.run()
    while (due := clock.next) is not None:
        if host.tick is not None and clock.now() + host.tick < due:
            clock.until(clock.now() + host.tick)
            host.idle()
        else:
            clock.until(due)
        host.run()


def _question(inputs: Sequence[Event], outs: Sequence[Event]) -> MeasureBaseline | None:
    """What compares the committed reply with plain decoding."""
    reply = next(out for out in outs if isinstance(out, ReplyFinished))
    history = next(event.history for event in inputs if isinstance(event, TurnStarted))
    if not reply.text:
        return None
    return MeasureBaseline(
        turn=reply.turn, revision=reply.revision, prompt=reply.prompt, reply=reply.text, history=history
    )


def _until(inbox: queue.SimpleQueue[Event], enough: Callable[[Event], bool]) -> Iterator[Event]:
    """Events up to the first that is ``enough``, that one included."""
    while True:
        try:
            event = inbox.get(timeout=PATIENCE_S)
        except queue.Empty:
            raise PredtuiError(f"No stage has said anything for {PATIENCE_S:.0f} s.") from None
        _check([event])
        yield event
        if enough(event):
            return


def _is_ready(event: Event) -> bool:
    return isinstance(event, StageStatus) and event.state == "ready"


def _check(events: Iterable[Event]) -> None:
    for event in events:
        if isinstance(event, StageStatus) and event.state == "failed":
            raise PredtuiError(f"The {event.stage} stage failed: {event.message}")
