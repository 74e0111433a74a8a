"""Small stages for tests of hosts and pipeline: each misbehaves, or works, on demand."""

from __future__ import annotations

import ctypes
import importlib
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from predtui.errors import PredtuiError
from predtui.state import events as ev
from predtui.state.stage import StageContext


@dataclass
class Toy:
    """A stage out of plain functions."""

    accepts: tuple[type[ev.Event], ...] = (ev.Transcript,)
    handler: Callable[[ev.Event, StageContext], Iterator[ev.Event]] | None = None
    opener: Callable[[StageContext], Iterator[ev.Event]] | None = None
    tick: float | None = None
    closed: list[bool] = field(default_factory=list)

    def open(self, context: StageContext) -> Iterator[ev.Event]:
        self.context = context
        if self.opener:
            yield from self.opener(context)

    def handle(self, event: ev.Event) -> Iterator[ev.Event]:
        if self.handler:
            yield from self.handler(event, self.context)

    def idle(self) -> Iterator[ev.Event]:
        yield ev.Notice(text="idle")

    def close(self) -> None:
        self.closed.append(True)


def given(stage: Toy) -> Toy:
    """A factory for inline hosts: the stage itself is the option."""
    return stage


def echo(options: object) -> Toy:
    """Repeats a transcript's text as a candidate; some words make it misbehave."""

    def handle(event: ev.Event, context: StageContext) -> Iterator[ev.Event]:
        assert isinstance(event, ev.Transcript)
        text = event.text
        if text == "raise":
            raise ValueError("a bad word\nand more")
        if text == "refuse":
            raise PredtuiError("the server is away.", "Start it.")
        if text == "segfault":
            ctypes.string_at(0)
        if text == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        if text == "hoard":
            bytearray(1 << 28)
        if text == "print":
            os.write(1, b"from C out\n")
            os.write(2, b"from C err\n")
            print("from python", file=sys.stdout, flush=True)
        if text == "work":
            for step in range(1000):
                if context.stale():
                    yield ev.Candidate(new="stopped")
                    return
                yield ev.Candidate(new=f"step {step}")
                time.sleep(0.01)
        if text == "hang":
            yield ev.Candidate(new="hanging")
            while True:
                time.sleep(1)
        while text == "spin":
            pass
        if text == "seize":
            ctypes.PyDLL(None).pause()
        if text == "modules":
            yield ev.Candidate(prompt=" ".join(sys.modules))
        yield ev.Candidate(prompt=text, new=text)

    return Toy(handler=handle)


def deaf(options: object) -> Toy:
    """Opens without its device, finds it at "found", and fails once at "refuse"."""

    def opener(context: StageContext) -> Iterator[ev.Event]:
        yield ev.StageStatus(message="none found", lacks="microphone", progress=1.0)

    def handle(event: ev.Event, context: StageContext) -> Iterator[ev.Event]:
        assert isinstance(event, ev.Transcript)
        if event.text == "refuse":
            raise PredtuiError("no.", "Ask again.")
        if event.text == "found":
            yield ev.StageStatus(state="ready", progress=1.0)

    return Toy(handler=handle, opener=opener)


def broken(options: object) -> Toy:
    """Cannot be opened."""

    def opener(context: StageContext) -> Iterator[ev.Event]:
        yield ev.StageStatus(state="starting", message="trying", progress=0.5)
        raise PredtuiError("no model at /nowhere.", "Give --model.")

    return Toy(opener=opener)


def crash_at_open(options: object) -> Toy:
    """Dies each time it is opened."""

    def opener(context: StageContext) -> Iterator[ev.Event]:
        os.kill(os.getpid(), signal.SIGKILL)
        yield ev.Notice()

    return Toy(opener=opener)


def counter(options: object) -> Toy:
    """Answers the final transcript with how many audio frames and other events it was given."""
    seen = {"frames": 0, "others": 0}

    def handle(event: ev.Event, context: StageContext) -> Iterator[ev.Event]:
        if isinstance(event, ev.AudioFrame):
            seen["frames"] += 1
        else:
            seen["others"] += 1
        if isinstance(event, ev.Endpoint):
            yield ev.Candidate(tokens=seen["frames"], new=str(seen["others"]))

    return Toy(accepts=(ev.AudioFrame, ev.Endpoint, ev.Configure), handler=handle)


def pooled(options: object) -> Toy:
    """Says how many threads the numeric libraries of its process use, once they have worked."""

    def opened(context: StageContext) -> Iterator[ev.Event]:
        import json

        import numpy as np
        from threadpoolctl import threadpool_info

        importlib.import_module("ctranslate2")  # it brings OpenMP
        np.ones((64, 64), np.float32) @ np.ones((64, 64), np.float32)
        yield ev.StageStatus(progress=1.0, message=json.dumps([one["num_threads"] for one in threadpool_info()]))

    return Toy(opener=opened)
