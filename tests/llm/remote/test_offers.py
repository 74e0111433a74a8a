"""Whether a server goes on with what it was not to go on with is found out by asking for something else."""

from __future__ import annotations

from collections.abc import Generator, Sequence

import pytest

from predtui.clock import VirtualClock
from predtui.llm.remote.base import About, Finish
from predtui.llm.remote.offers import offers
from predtui.llm.remote.pieces import loaded
from predtui.llm.waiting import Waiting
from predtui.state.events import Message

TOKEN_S = 0.02


class OneAtATime:
    """A ``ChatServer`` that works on one request at a time; ``stops``: as soon as that is given up."""

    continues, unread = False, 0

    def __init__(self, clock: VirtualClock, stops: bool) -> None:
        self.about = About("one", "m")
        self._clock, self._stops, self._busy = clock, stops, 0.0

    def chat(self, messages: Sequence[Message], limit: int) -> Generator[str, None, Finish]:
        self._clock.sleep(self._busy)
        self._busy, left = 0.0, limit
        try:
            while left:
                self._clock.sleep(TOKEN_S)
                left -= 1
                yield "one "
            return "length"
        finally:
            self._busy = 0.0 if self._stops else left * TOKEN_S

    def think(self, mode: str) -> str:
        return f"asked for {mode}"

    def close(self) -> None:
        """Nothing is open."""


@pytest.mark.parametrize(
    ("stops", "line"),
    [
        (True, "what is given up is in nobody's way: the next request waits 0 ms longer than the usual 20 ms"),
        (False, "it goes on with what is given up: the next request waits 2540 ms longer than the usual 20 ms"),
    ],
)
def test_a_server_that_goes_on_with_what_is_given_up_is_told_of(stops: bool, line: str) -> None:
    clock = VirtualClock()
    server = OneAtATime(clock, stops)
    told = dict(offers(server, loaded(server, "http://far", 4096, Waiting()), "brief", 100, clock))
    assert told["cancellation"] == line
    assert told["thinking"] == "asked for brief"
