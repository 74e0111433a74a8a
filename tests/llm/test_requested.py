"""Requests are timed, and one that the same is asked of again goes on."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui.clock import VirtualClock
from predtui.decoding.autoregressive import generate
from predtui.decoding.sampler import Greedy
from predtui.llm.requested import GRACE_S, RequestedModel, ServerTimes
from predtui.llm.scripted import CharacterTokenizer
from tests.predgen.distant import DistantModel, Network

PROMPT = [5, 6, 7]


def asked(goes_on: bool = True) -> tuple[RequestedModel, DistantModel]:
    model = DistantModel(5, False, Network())
    return RequestedModel(model, VirtualClock().now, lambda: goes_on), model


def request(model: RequestedModel, tokens: list[int], limit: int) -> Iterator[int]:
    return generate(model, tokens, Greedy(), limit, CharacterTokenizer().is_end)


def read_of(stream: Iterator[int], count: int) -> list[int]:
    """The first tokens of a request that is then closed."""
    assert isinstance(stream, Generator)
    read = list(islice(stream, count))
    stream.close()
    return read


@given(st.integers(1, 10), st.integers(1, 12), st.integers(1, 12))
def test_a_request_that_is_asked_again_for_what_it_is_at_goes_on(read: int, limit: int, more: int) -> None:
    model, far = asked()
    whole = list(request(asked()[0], PROMPT, 30))[: read + more]
    begun = read_of(request(model, PROMPT, limit), read)
    ended = any(map(CharacterTokenizer().is_end, begun))
    went_on = [] if ended else list(request(model, [*PROMPT, *begun], more))
    said = [*begun, *went_on]
    assert said == whole[: len(said)]
    assert len(far.asked) == len(set(far.asked)), "no token is made twice"
    model.drop()
    assert far._network.open == 0


@pytest.mark.parametrize("goes_on", [True, False])
def test_a_request_that_is_not_asked_for_again_is_given_up(goes_on: bool) -> None:
    model, far = asked(goes_on)
    read_of(request(model, PROMPT, 9), 2)
    assert far.counters.cancelled == (not goes_on)
    assert list(request(model, [8, 9], 3)) == list(request(asked()[0], [8, 9], 3))
    assert far.counters.cancelled == 1
    assert far._network.open == 0


@given(st.floats(0.01, 3), st.floats(0, 0.9), st.floats(0, 5))
def test_what_keeps_a_server_busy_shows_in_the_request_after_it(first: float, since: float, busy: float) -> None:
    times = ServerTimes()
    assert (times.first, times.busy) == (float("inf"), float("inf"))
    for _ in range(3):
        times.began(first, float("inf"))
        times.began(first + max(0.0, busy - since), since)
    assert times.first == first
    assert times.busy == pytest.approx(busy if busy - since > GRACE_S / 2 else 0.0, abs=1e-9)


def test_one_slow_answer_may_be_chance() -> None:
    times = ServerTimes()
    times.began(0.1, float("inf"))
    for waited in (0.1, 0.9, 0.1):
        times.began(waited, 0.0)
    assert times.busy == 0.0
    times.waited_for(0.9, 0.0)
    assert times.busy > GRACE_S
