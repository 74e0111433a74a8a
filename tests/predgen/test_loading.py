"""A model that loads says how far it is, and is given up once nobody wants it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from predtui.errors import PredtuiError
from predtui.llm.base import LoadedModel
from predtui.llm.load import load
from predtui.predgen.loading import Loading, loaded_by
from predtui.state.events import Event, StageStatus


def test_what_the_engine_tells_comes_out_while_it_loads() -> None:
    loading, seen = Loading(), threading.Event()

    def slow() -> LoadedModel:
        for done in (25, 50):
            assert loading(done << 20, 100 << 20)
            seen.clear()
            assert seen.wait(30)
        return load("5", "scripted")

    said, brought = [], []

    def waiting() -> Iterator[Event]:
        brought.append((yield from loaded_by(slow, loading, "big", lambda: False)))

    for event in waiting():
        said.append(event)
        seen.set()
    assert isinstance(brought[0], LoadedModel)
    assert [event.message for event in said if isinstance(event, StageStatus)] == [
        "loading big: 25 MB of 100 MB",
        "loading big: 50 MB of 100 MB",
    ]
    assert all(0 < event.progress < 0.9 for event in said if isinstance(event, StageStatus))


def test_one_that_is_no_longer_wanted_is_given_up() -> None:
    loading, told = Loading(), threading.Event()

    def endless() -> LoadedModel:
        done = 0
        while loading(done := done + 1, 1 << 40):
            told.wait(0.01)
        told.set()
        raise PredtuiError("given up")

    with pytest.raises(PredtuiError, match="The loading of big was given up"):
        list(loaded_by(endless, loading, "big", lambda: True))
    assert told.is_set()


def test_what_was_loaded_for_nobody_is_closed() -> None:
    closed, go = [], threading.Event()
    loaded = load("5", "scripted")
    loaded.model.close = lambda: closed.append(True)  # type: ignore[method-assign]
    loading = Loading()

    def late() -> LoadedModel:
        loading(1, 2)
        go.wait(30)
        return loaded

    steps = loaded_by(late, loading, "big", lambda: False)
    next(steps)
    threading.Timer(0.05, go.set).start()
    steps.close()
    assert closed == [True]


def test_a_failure_comes_through_and_without_an_ear_nothing_is_said() -> None:
    def broken() -> LoadedModel:
        raise PredtuiError("no such file")

    for loading in (None, Loading()):
        with pytest.raises(PredtuiError, match="no such file"):
            list(loaded_by(broken, loading, "big", lambda: False))
    assert list(loaded_by(lambda: load("5", "scripted"), None, "big", lambda: True)) == []


@pytest.mark.parametrize("mapped", [True, False])
def test_llama_cpp_tells_and_can_be_stopped(mapped: bool, tmp_path: Path) -> None:
    from predtui.llm.placement import Placement
    from tests.tiny_gguf import write

    path = write(tmp_path / "tiny.gguf", hidden=128, feed_forward=256)
    size, heard = path.stat().st_size, []

    def told(done: int, total: int) -> bool:
        heard.append((done, total))
        return True

    load(str(path), threads=1, placement=Placement(mapped=mapped), told=told).model.close()
    assert all(0 <= done <= total == size for done, total in heard)
    assert max(done for done, _ in heard) == size
    heard.clear()
    with pytest.raises(PredtuiError, match="was given up"):
        load(str(path), threads=1, placement=Placement(mapped=mapped), told=lambda done, total: False)
