"""When a server is asked: at each word, in pauses, or at the end, by what it takes and how soon one goes on."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui.clock import VirtualClock
from predtui.llm.base import Preempted
from predtui.llm.halt import Halt
from predtui.llm.requested import RequestedModel, ServerTimes
from predtui.predgen.asking import Asking, survey
from predtui.state.events import Transcript, TurnStarted
from tests.predgen.distant import Network, distant


def server(first: float, token: float, busy: float) -> ServerTimes:
    times = ServerTimes()
    times.began(first, float("inf"))
    times.went_on(token)
    times.began(first + busy, 0.0)
    return times


def spoken(asking: Asking, *heard: tuple[float, str], paused: bool = False) -> None:
    """A turn of whole words, the last ones final; ``paused``: the first were taken for said in a pause."""
    asking.arrived(TurnStarted(), 0.0)
    for number, (time, text) in enumerate(heard[:-1]):
        asking.arrived(Transcript(stable=text, unfinished=False, paused=paused and not number), time)
    time, text = heard[-1]
    asking.arrived(Transcript(stable=text, unfinished=False, final=True), time)


WORD, PAUSE = Transcript(stable="a", unfinished=False), Transcript(stable="a", paused=True)
FINAL = Transcript(stable="a", final=True)


@given(st.floats(0, 3), st.floats(0, 1))
def test_an_engine_that_keeps_nobody_waiting_is_asked_at_each_word(first: float, token: float) -> None:
    assert all(asking.admits(heard) for asking in (Asking(), Asking(server(first, token, 0.0), 64)) for heard in
               (WORD, PAUSE, FINAL))  # fmt: skip


@pytest.mark.parametrize(
    ("interval", "asks"), [(0.5, "end"), (3.0, "words")], ids=["words come sooner", "words come later"]
)
def test_a_server_that_does_not_stop_is_asked_for_what_is_over_before_the_next_word(interval: float, asks: str) -> None:
    asking = Asking(server(0.2, 0.01, 5.0), 64)
    assert asking.asks == "end"
    for _ in range(2):
        spoken(asking, *((interval * at, "a " * at) for at in range(1, 5)))
    assert asking.asks == asks
    assert asking.admits(WORD) == (asks == "words")
    assert asking.admits(FINAL)


def test_it_is_asked_in_pauses_where_much_follows_them() -> None:
    asking = Asking(server(0.5, 0.1, 1.0), 64)
    for _ in range(3):
        spoken(asking, (1.0, "a"), (2.0, "a b"), (5.0, "a b c"), paused=True)
    assert asking.asks == "pauses"
    assert (asking.admits(WORD), asking.admits(PAUSE)) == (False, True)
    spoken(asking, (1.0, "a"), (2.0, "a b"), (2.4, "a b c"), paused=True)
    assert asking.asks == "end", "an end may follow at once"


def test_a_server_is_tried_where_its_prompts_are_requests_of_their_own() -> None:
    """Those that take long are not what is to be given up."""
    clock, halt = VirtualClock(), Halt()

    def waited(seconds: float) -> None:
        clock.advance(seconds)
        if halt():
            raise Preempted

    network = Network(wait=lambda: waited(0.1))

    def prompt(word: str) -> list[int]:
        waited(1.0)
        return [5, len(word)]

    model = RequestedModel(distant(5, False, network).model, clock.now, lambda: False)
    survey(model, prompt, halt, clock.now)
    assert model.times.first == pytest.approx(0.1)
    assert not halt()
