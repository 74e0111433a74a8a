"""What a host emits, for tests to wait for."""

from __future__ import annotations

import time
from collections.abc import Callable

from predtui.state import events as ev

PATIENCE_S = 20.0


class Collector(list[ev.Event]):
    """What a host emitted; ``wait`` until it holds what is asked for."""

    def wait(self, wanted: Callable[[ev.Event], bool], after: int = 0) -> ev.Event:
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            for event in list(self)[after:]:
                if wanted(event):
                    return event
            time.sleep(0.005)
        raise AssertionError(f"not among {self!r}")

    def status(self, state: str, after: int = 0) -> ev.StageStatus:
        found = self.wait(lambda e: isinstance(e, ev.StageStatus) and e.state == state, after)
        assert isinstance(found, ev.StageStatus)
        return found

    def candidate(self, text: str) -> ev.Event:
        return self.wait(lambda e: isinstance(e, ev.Candidate) and e.new == text)
