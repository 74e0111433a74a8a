"""A conversation is kept as it goes, and one that is gone on with is the one that was left."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from predtui.errors import PredtuiError
from predtui.runtime.typing import Typed
from predtui.state import events as ev
from predtui.state.exchange import Exchange
from predtui.state.kept import store as stores
from predtui.state.kept.keeper import Keeper, silenced
from predtui.state.kept.store import LAST, Store
from tests.cast import Pace, cast
from tests.runtime.harness import Harness
from tests.state.kept.test_store import fresh

ACTIONS = st.one_of(
    st.tuples(st.just("ask"), st.sampled_from(["one", "two words", "and three more"])),
    st.tuples(st.just("type"), st.sampled_from(["half", "half a line"])),
    st.tuples(st.sampled_from(["silence", "talk", "release", "kill"]), st.just("")),
    st.tuples(st.just("work"), st.integers(1, 6).map(str)),
    st.tuples(st.just("wait"), st.sampled_from(["0.1", "1", "5"])),
)
END_S = 30.0


def kept_by(harness: Harness, path: Path, private: bool = False) -> Keeper:
    keeper = Keeper(path, lambda: harness.turn, harness.pipeline.publish, private)
    harness.pipeline.subscribe(keeper)
    return keeper


def act(harness: Harness, what: str, which: str) -> None:
    pipeline = harness.pipeline
    match what:
        case "ask":
            harness.type(which, final=True)
        case "type":
            harness.type(which)
        case "wait":
            harness.wait(float(which))
        case "kill":
            harness.kill("llm")
        case "work":
            for host in list(harness.hosts.values()):
                for _ in range(int(which)):
                    host.step()
            pipeline.pump()
        case _:
            {"talk": lambda: pipeline.talk(True), "release": lambda: pipeline.talk(False), "silence": pipeline.silence}[
                what
            ]()
            pipeline.pump()


def until(there: Callable[[], Any]) -> None:
    began = time.monotonic()
    while not there():
        assert time.monotonic() - began < END_S
        time.sleep(0.01)


def asked(harness: Harness) -> tuple[ev.Message, ...]:
    """What the model is told before the next prompt."""
    harness.type("and now", final=True)
    return [event for event in harness.events if isinstance(event, ev.TurnStarted)][-1].history


@given(st.lists(ACTIONS, max_size=12))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_resumed_is_never_left(tmp_path: Path, actions: list[tuple[str, str]]) -> None:
    """Whatever was said, silenced or cut off: the model is told the same, and the screen shows the same."""
    path = fresh(tmp_path)
    harness = Harness(cast(Pace(words=("x", "y"), step_s=0.05)))
    keeper = kept_by(harness, path)
    for what, which in actions:
        act(harness, what, which)
    assert keeper.close()
    left = silenced(harness.turn, keeper._time)
    resumed = Harness(cast(Pace(step_s=0.05)))
    if left.conversation:
        with Store(path) as store:
            session = store.find(LAST)
            resumed.pipeline.resume(session.number, store.exchanges(session.number))
        resumed.settle()
    else:
        assert not path.exists()
    assert resumed.turn.conversation == left.conversation
    assert resumed.turn.history == left.history
    if not harness.turn.busy:
        assert asked(resumed) == asked(harness)


@given(st.lists(ACTIONS, max_size=8), st.lists(ACTIONS, max_size=8))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_said_after_it_goes_on_is_kept_with_the_rest(
    tmp_path: Path, before: list[tuple[str, str]], after: list[tuple[str, str]]
) -> None:
    path, past = fresh(tmp_path), [Exchange("earlier", "Yes. No.", interrupted=True, heard="Yes.")]
    with Store(path, "another") as store:
        number = store.put(0, 0, past[0])
    harness = Harness(cast(Pace(words=("x", "y"), step_s=0.05)))
    keeper = kept_by(harness, path)
    for what, which in before:
        act(harness, what, which)
    harness.pipeline.resume(number, tuple(past))
    harness.pipeline.pump()
    for what, which in after:
        act(harness, what, which)
    assert keeper.close()
    left = silenced(harness.turn, keeper._time)
    with Store(path) as store:
        assert store.exchanges(number) == left.conversation
        assert {one.number for one in store.sessions()} <= {number, number + 1}


def test_nothing_is_written_while_one_types_and_little_for_a_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However long the line, and the conversation before it."""
    put, counts = Store.put, list[int]()
    written: list[int] = []
    monkeypatch.setattr(Store, "put", lambda store, *args: (written.append(args[1]), put(store, *args))[1])
    for turns in (1, 30):
        written.clear()
        harness = Harness(cast(Pace()))
        harness.pipeline.resume(0, tuple(Exchange(f"q{n}", f"a{n}.") for n in range(turns)))
        harness.settle()
        keeper = kept_by(harness, fresh(tmp_path))
        line = "a long line that is typed letter by letter and gone on with " * 3
        for length in range(1, len(line)):
            harness.type(line[:length])
        until(keeper._waiting.empty)
        assert written == []
        harness.type(line, final=True)
        harness.wait(5)
        keeper.close()
        assert set(written) == {turns}
        counts.append(len(written))
    assert counts[0] == counts[1] < 10


def test_a_private_session_writes_nothing_and_still_knows_what_was_asked(tmp_path: Path) -> None:
    path = fresh(tmp_path)
    with Store(path, "another") as store:
        store.put(0, 0, Exchange("earlier", "Yes."))
    before = {file: file.read_bytes() for file in path.parent.iterdir()}
    harness = Harness(cast(Pace()))
    keeper = kept_by(harness, path, private=True)
    until(lambda: keeper.prompts == ["earlier"])
    harness.type("a secret", final=True)
    harness.wait(5)
    assert keeper.close()
    with Store(path) as store:
        assert [one.title for one in store.sessions()] == ["earlier"]
    assert {file: file.read_bytes() for file in path.parent.iterdir()} == before
    nowhere = fresh(tmp_path)
    keeper = kept_by(harness, nowhere, private=True)
    harness.type("another", final=True)
    keeper.close()
    assert not nowhere.parent.exists()


@pytest.mark.parametrize("fault", ["damaged", "locked", "no folder"])
def test_a_file_that_cannot_be_used_is_told_of_once_and_the_conversation_goes_on(
    tmp_path: Path, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stores, "PATIENCE_S", 0.05)
    path = fresh(tmp_path)
    if fault == "no folder":
        path.parent.write_text("a file")
    else:
        with Store(path, "another") as store:
            store.put(0, 0, Exchange("earlier", "Yes."))
    if fault == "damaged":
        path.write_bytes(b"nothing of use" * 999)
    holder = sqlite3.connect(path, isolation_level=None) if fault == "locked" else None
    if holder:
        holder.execute("BEGIN IMMEDIATE")
    harness = Harness(cast(Pace()))
    keeper = kept_by(harness, path)
    for prompt in ("one", "two"):
        harness.type(prompt, final=True)
        harness.wait(5)
        until(lambda: keeper._waiting.empty())
    until(lambda: harness.pipeline.pump() or harness.notices())
    if holder:  # it is free again: nothing is missing
        holder.execute("ROLLBACK")
        holder.close()
        harness.type("three", final=True)
        harness.wait(5)
    assert keeper.close()
    harness.settle()
    (notice,) = harness.notices()
    assert str(path.parent) in notice
    assert [exchange.user for exchange in harness.turn.conversation][:2] == ["one", "two"]
    if holder:
        with Store(path) as store:
            assert [one.user for one in store.exchanges(keeper.session)] == ["one", "two", "three"]
    else:
        with pytest.raises(PredtuiError):
            Store(path)


def test_a_reply_that_is_being_heard_when_the_app_closes_ends_where_it_was_heard(tmp_path: Path) -> None:
    path, harness = fresh(tmp_path), Harness(cast(Pace(step_s=1.0)), lagging=True)
    keeper = kept_by(harness, path)
    harness.pipeline.type_line(Typed("how far", final=True))
    harness.pipeline.pump()
    until(lambda: advanced(harness) and harness.turn.audible)
    assert keeper.close()
    with Store(path) as store:
        (exchange,) = store.exchanges(1)
    assert exchange.interrupted
    assert exchange.heard is not None
    assert exchange.heard != exchange.assistant


def advanced(harness: Harness) -> bool:
    for host in list(harness.hosts.values()):
        host.step()
    harness.arrive()
    harness.pipeline.pump()
    return True


def test_what_is_asked_for_show_is_not_kept(tmp_path: Path) -> None:
    path = tmp_path / "kept" / "conversations.sqlite"
    harness = Harness(cast(Pace()))
    keeper = kept_by(harness, path)
    for text, aside in [("for show", True), ("in earnest", False), ("for show", True)]:
        harness.pipeline.type_line(Typed(text, final=True, aside=aside))
        harness.settle()
        harness.settle()
    assert keeper.close()
    with Store(path, "reader") as store:
        assert store.prompts(10) == ["in earnest"]
        assert [session.turns for session in store.sessions()] == [1]
