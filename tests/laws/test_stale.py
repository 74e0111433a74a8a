"""Staleness: whatever is typed, said, silenced or killed, and however work interleaves, nothing stale is committed."""

from __future__ import annotations

from collections.abc import Iterator

from hypothesis import given, settings
from hypothesis import strategies as st

from predtui.clock import VirtualClock
from predtui.runtime.hosts.inbox import Inbox
from predtui.runtime.hosts.inline import InlineHost
from predtui.runtime.typing import Typed
from predtui.state import events as ev
from predtui.state.stage import StageContext, StageSpec
from tests.cast import Pace, cast
from tests.runtime.harness import Harness
from tests.toys import Toy

NAMES = ("mic", "asr", "llm", "tts", "player")
WORDS = st.lists(st.sampled_from(["a", "b", "c"]), max_size=4).map(lambda words: "".join(w + " " for w in words))
ACTIONS = st.one_of(
    st.tuples(st.just("type"), WORDS),
    st.tuples(st.just("enter"), WORDS),
    st.tuples(st.sampled_from(["talk", "release", "silence"]), st.just("")),
    st.tuples(st.just("kill"), st.sampled_from(NAMES)),
    st.tuples(st.just("work"), st.sampled_from(NAMES)),
    st.tuples(st.just("work"), st.just("llm")),
    st.tuples(st.just("arrive"), st.sampled_from(NAMES)),
    st.tuples(st.just("wait"), st.just("")),
)


def act(harness: Harness, what: str, which: str) -> None:
    pipeline = harness.pipeline
    if what in ("type", "enter"):
        pipeline.type_line(Typed(which, final=what == "enter"))
    elif what == "kill":
        harness.kill(which)
    elif what == "work":
        for _ in range(5):
            harness.hosts[which].step()
    elif what == "arrive":
        harness.arrive(which)
    elif what == "wait":
        harness.clock.advance(0.3)
    else:
        {"talk": lambda: pipeline.talk(True), "release": lambda: pipeline.talk(False), "silence": pipeline.silence}[
            what
        ]()
    pipeline.pump()


@given(st.lists(ACTIONS, max_size=80))
@settings(max_examples=75, deadline=None)
def test_only_replies_to_final_prompts_are_committed_and_spoken(actions: list[tuple[str, str]]) -> None:
    harness = Harness(cast(Pace(words=("x", "y"))), lagging=True)
    for what, which in actions:
        act(harness, what, which)
    harness.settle()
    harness.wait(30.0)
    final: dict[int, ev.Transcript] = {}
    closed: set[int] = set()
    indices: dict[int, int] = {}
    for event in harness.events:
        if isinstance(event, ev.Transcript) and event.final:
            assert event.turn not in final
            final[event.turn] = event
        elif isinstance(event, ev.Interrupt):
            closed.add(event.turn)
        elif isinstance(event, ev.ReplyCommitted | ev.SpeechChunk | ev.ReplyFinished):
            assert event.turn in final
            assert event.turn not in closed
        if isinstance(event, ev.ReplyCommitted):
            assert event.index == indices.get(event.turn, 0)
            indices[event.turn] = event.index + 1
            if event.index == 0:
                assert event.text == f"You said {final[event.turn].prompt}."
    for exchange in harness.turn.conversation:
        expected = f"You said {exchange.user}. Over."
        assert (
            exchange.assistant == expected
            or (exchange.interrupted and expected.startswith(exchange.assistant))
            or (harness.turn.stages["llm"].state == "failed")
        )


@given(st.lists(ACTIONS, max_size=60))
@settings(max_examples=50, deadline=None)
def test_generations_only_grow(actions: list[tuple[str, str]]) -> None:
    harness = Harness(cast(Pace(words=("x", "y"))), lagging=True)
    for what, which in actions:
        act(harness, what, which)
    harness.settle()
    commands = (ev.TurnStarted, ev.Transcript, ev.Endpoint, ev.Interrupt)
    generations = [event.generation for event in harness.events if isinstance(event, commands)]
    assert generations == sorted(generations)


EVENTS = st.one_of(
    [
        st.builds(kind, turn=st.integers(1, 3), revision=st.integers(0, 4))
        for kind in (
            ev.Transcript,
            ev.AudioFrame,
            ev.SpeechChunk,
            ev.Endpoint,
            ev.Interrupt,
            ev.Configure,
            ev.Candidate,
        )
    ]
)


@given(st.lists(EVENTS), EVENTS)
@settings(deadline=None)
def test_work_is_stale_exactly_when_something_newer_has_arrived(arrived: list[ev.Event], worked_on: ev.Event) -> None:
    inbox = Inbox()
    for event in arrived:
        inbox.put(event)
    overtaking = [e for e in arrived if not (isinstance(worked_on, ev.AudioFrame) and isinstance(e, ev.Endpoint))]
    assert inbox.stale(worked_on) == any(event.generation > worked_on.generation for event in overtaking)


@given(st.lists(EVENTS))
@settings(deadline=None)
def test_commits_arrive_once_and_in_order_and_of_state_at_least_the_newest(sent: list[ev.Event]) -> None:
    inbox = Inbox()
    for event in sent:
        inbox.put(event)
    got = list(iter(lambda: inbox.get(0), None))
    assert [id(e) for e in got if not e.replaceable] == [id(e) for e in sent if not e.replaceable]
    for kind in (ev.Transcript, ev.Candidate):
        of_kind = [event for event in sent if type(event) is kind]
        assert [id(e) for e in got if type(e) is kind] == [id(e) for e in of_kind[-1:]]


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(1, 9)), min_size=1, max_size=20))
@settings(deadline=None)
def test_a_pre_empted_stage_stops_at_its_next_look_and_finishes_the_newest(plan: list[tuple[int, int]]) -> None:
    """``plan``: how many steps pass before the next revision arrives, and how long work on it would take."""

    def handle(event: ev.Event, context: StageContext) -> Iterator[ev.Event]:
        assert isinstance(event, ev.Transcript)
        for step in range(int(event.stable)):
            if context.stale():
                return
            yield ev.Candidate(tokens=step)
        yield ev.Verdict()

    out: list[ev.Event] = []
    host = InlineHost(StageSpec("toy", "tests.toys:given", Toy(handler=handle)), out.append, VirtualClock())
    host.start()
    host.run()
    for revision, (steps, length) in enumerate(plan, 1):
        for _ in range(steps):
            host.step()
        sent = len(out)
        host.send(ev.Transcript(turn=1, revision=revision, stable=str(length)))
        while host.step() and out[-1].revision < revision:
            pass
        old = [event for event in out[sent:] if event.revision < revision]
        assert not [event for event in old if isinstance(event, ev.Candidate)]
    host.run()
    verdicts = [event.revision for event in out if isinstance(event, ev.Verdict)]
    assert verdicts[-1] == len(plan)
    assert len(set(verdicts)) == len(verdicts)
