"""What comes from a stage is an event, or an error: never code that runs."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable
from multiprocessing import Pipe
from pathlib import Path
from typing import Any

import pytest

from predtui.runtime.hosts import wire
from predtui.runtime.sound import SoundStore
from predtui.state import events as ev
from predtui.state.codec import KINDS


def carried(message: object) -> Any:
    ours, theirs = Pipe()
    theirs.send(message)
    return wire.receive(ours)


class Calls:
    """A pickle of this calls a function."""

    def __init__(self, function: Callable[..., object], *arguments: object) -> None:
        self._call = function, arguments

    def __reduce__(self) -> Any:
        return self._call


def test_every_event_arrives_as_it_was_sent() -> None:
    for kind in KINDS.values():
        event = kind(turn=3, revision=2, time=0.5)
        assert carried(event) == event
    assert carried(tuple(KINDS.values())) == tuple(KINDS.values())
    message = ev.TurnStarted(turn=1, history=(ev.Message("user", "hi"),))
    assert carried(message) == message
    clip = SoundStore().stored(ev.SpeechChunk(turn=1, pcm=b"word"))
    assert carried(clip) == clip


@pytest.mark.parametrize(
    "call",
    [(os.mkdir, "owned"), (eval, "open('owned', 'w')"), (ev.dataclass, ev.Event), (getattr, ev.Event, "__init__")],
    ids=lambda call: call[0].__name__,
)
def test_no_function_is_called(call: tuple[Any, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(pickle.UnpicklingError, match="is no event"):
        carried(Calls(*call))
    with pytest.raises(pickle.UnpicklingError, match="is no event"):
        carried(ev.Notice(text=Calls(*call)))  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


def test_a_name_does_not_lead_out_of_the_events() -> None:
    ours, theirs = Pipe()
    theirs.send_bytes(b"\x80\x04\x8c\x14predtui.state.events\x8c\x15dataclass.__globals__\x93.")
    with pytest.raises(pickle.UnpicklingError, match="is no event"):
        wire.receive(ours)


def test_a_message_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "LARGEST", 1000)
    with pytest.raises(OSError, match="length"):
        carried(ev.Notice(text="a" * 2000))
