"""Reports how far llama.cpp's compile is while numpy stands in for it, and hands the model over when it is there.

Must not know the screen, nor what the stage does inside.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Protocol

from predtui.llm.llamacpp.compile import PATIENCE_S, Build, current
from predtui.state import events as ev
from predtui.state.turn import Turn


class Target(Protocol):
    """The part of a pipeline that is needed."""

    @property
    def state(self) -> Turn: ...
    def publish(self, event: ev.Event) -> None: ...
    def renew_stage(self, name: str) -> None: ...
    def describe_stage(self, name: str, message: str) -> None: ...


class StandIn:
    """Looks at a compile again and again until it is over."""

    def __init__(self, pipeline: Target, look: Callable[[], Build | None] = current) -> None:
        self._pipeline, self._look = pipeline, look

    def watch(self) -> None:
        """In a thread of its own, where a compile is under way."""
        build = self._look()
        if build and build.running:
            threading.Thread(target=self._follow, name="stand-in", daemon=True).start()

    def _follow(self) -> None:
        pause = threading.Event()
        while self.step():
            pause.wait(PATIENCE_S)

    def step(self) -> bool:
        """One look; whether there is more to come."""
        build = self._look()
        status = self._pipeline.state.stages.get("llm")
        if status and status.state == "starting":
            return True
        stands_in = status is not None and status.state == "ready" and "numpy" in status.message
        if build and build.running:
            if status and stands_in:
                said = status.message.split(" · compiling")[0]
                self._pipeline.describe_stage("llm", f"{said} · compiling llama.cpp {build.fraction:.0%}")
            return True
        if build:
            text = f"{build}. Only the models that ship can be run."
            self._pipeline.publish(ev.Notice(text=text, severity="warning"))
        elif stands_in:
            self._pipeline.renew_stage("llm")
            self._pipeline.publish(ev.Notice(text="llama.cpp is compiled and takes over.", severity="information"))
        return False
