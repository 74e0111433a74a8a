"""A draft here, its target behind a network: whatever the way takes, the reply is plain decoding's, and hardly ever
later than if it had been streamed; where a few tokens drafted beat the server's own, it is sooner."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predtui.clock import VirtualClock
from predtui.decoding.assembly import Assembly, DecodingOptions, assemble
from predtui.decoding.autoregressive import generate
from predtui.decoding.costs.instrument import Instrument
from predtui.decoding.sampler import Greedy
from predtui.llm.base import LoadedModel, Preempted
from predtui.llm.scripted import CharacterTokenizer, ScriptedModel
from tests.decoding.far import FarModel, far, near, shy

WAYS = [("speculative", "model"), ("speculative", "suffix"), ("speculative", "fused"), ("duo", "model")]
ROOM = 40
ways = st.sampled_from(WAYS)
seconds = st.sampled_from([0.0, 0.001, 0.02, 0.15])
errs = st.sampled_from([0, 1, 2, 9])


def hybrid(way: tuple[str, str], target: LoadedModel, draft: LoadedModel, clock: VirtualClock) -> Assembly:
    return assemble(DecodingOptions(*way), target, Greedy(), Instrument(clock), loader=lambda *_: draft)


def prompts(count: int, seed: int = 0) -> Iterator[list[int]]:
    rng = random.Random(seed)
    for _ in range(count):
        yield [rng.randrange(4, 50) for _ in range(6)]


def plain(seed: int, prompt: list[int], limit: int = ROOM) -> list[int]:
    return list(generate(ScriptedModel(seed), prompt, Greedy(), limit, CharacterTokenizer().is_end))


@pytest.mark.parametrize("knows", [True, False])
@given(ways, st.integers(0, 9), errs, seconds, seconds, st.data())
@settings(max_examples=30, deadline=None)
def test_the_reply_is_plain_decodings_whatever_the_way_takes(
    knows: bool, way: tuple[str, str], seed: int, errs: int, there: float, token: float, data: st.DataObject
) -> None:
    """However it is asked, given up or goes on; also where it is not known beforehand which tokens end a reply."""
    clock = VirtualClock()
    target = far(seed, clock, there, token)
    target = target if knows else shy(target)
    made = hybrid(way, target, near(seed, errs, clock), clock)
    for prompt in prompts(8, seed):
        whole = plain(seed, prompt)
        guess = data.draw(st.sampled_from([[], whole, whole[:5], whole[1:]]))
        wanted, begun = data.draw(st.integers(0, 50)), data.draw(st.integers(0, len(whole) - 1))
        reply = made.decoder.generate(
            [*prompt, *whole[:begun]], ROOM - begun, target.tokenizer.is_end, position=begun, guesses=[guess]
        )
        assert list(itertools.islice(reply, wanted)) == whole[begun : begun + wanted]
    made.close()


@given(ways, st.integers(0, 9), errs, st.integers(0, 99))
@settings(max_examples=30, deadline=None)
def test_a_request_that_fails_or_is_given_up_in_the_midst_leaves_nothing_wrong(
    way: tuple[str, str], seed: int, errs: int, luck: int
) -> None:
    clock, rng = VirtualClock(), random.Random(luck)
    target = far(seed, clock, 0.05, 0.05)
    made = hybrid(way, target, near(seed, errs, clock), clock)

    def fails() -> bool:
        if rng.random() < 0.05:
            raise Preempted
        return False

    for number, prompt in enumerate(prompts(20, luck)):
        target.model.fails = fails if number % 2 else bool  # type: ignore[attr-defined]
        said, whole = list[int](), plain(seed, prompt)
        try:
            said.extend(made.decoder.generate(prompt, ROOM, target.tokenizer.is_end))
        except Preempted:
            assert number % 2
            assert whole[: len(said)] == said
        else:
            assert said == whole
    made.close()


def work(way: tuple[str, str] | None, errs: int, there: float, token: float, replies: int) -> tuple[float, int]:
    """Seconds that so many replies take, streamed or drafted, and their requests. Duo's draft, at work beside the
    target, takes none of its own."""
    clock = VirtualClock()
    beside = way is not None and way[0] == "duo"
    target, draft = far(5, clock, there, token), near(5, errs, clock, 0.0 if beside else token / 20)
    made = hybrid(way or ("ar", ""), target, draft, clock)
    for prompt in prompts(replies):
        assert list(made.decoder.generate(prompt, ROOM, target.tokenizer.is_end)) == plain(5, prompt)
    made.close()
    assert isinstance(target.model, FarModel)
    return clock.now(), target.model.counters.forwards


@pytest.mark.parametrize("way", [WAYS[0], WAYS[3]])
@pytest.mark.parametrize("errs", [0, 1, 3])
@pytest.mark.parametrize(("there", "token"), [(0.001, 0.02), (0.01, 0.02), (0.05, 0.02), (0.15, 0.02), (0.15, 0.002)])
def test_hardly_ever_later_than_streamed(way: tuple[str, str], errs: int, there: float, token: float) -> None:
    took, _ = work(way, errs, there, token, 60)
    streamed, _ = work(None, errs, there, token, 60)
    assert took <= 1.03 * streamed + 6 * (there + token)


@pytest.mark.parametrize("way", [WAYS[0], WAYS[3]])
def test_where_drafts_beat_the_server_the_reply_is_sooner(way: tuple[str, str]) -> None:
    took, _ = work(way, 9, 0.01, 0.1, 40)
    streamed, _ = work(None, 9, 0.01, 0.1, 40)
    assert took < 0.75 * streamed


@pytest.mark.parametrize("way", [WAYS[0], WAYS[3]])
def test_on_a_fast_server_over_a_slow_way_a_reply_is_one_request_but_for_few_trials(way: tuple[str, str]) -> None:
    _, asked = work(way, 1, 0.15, 0.002, 200)
    assert 200 <= asked <= 215


@pytest.mark.parametrize("way", [WAYS[0], WAYS[3]])
def test_why_nothing_is_drafted_is_told(way: tuple[str, str]) -> None:
    clock = VirtualClock()
    target = far(5, clock, 0.15, 0.002)
    made = hybrid(way, target, near(5, 1, clock), clock)
    for prompt in prompts(30):
        list(made.decoder.generate(prompt, ROOM, target.tokenizer.is_end))
    assert "streamed, which is faster here: " in made.decoder.statistics.note
    assert made.decoder.statistics.tokens == sum(len(plain(5, prompt)) for prompt in prompts(30))
    made.close()


@given(ways, errs)
@settings(max_examples=20, deadline=None)
def test_what_drafts_bring_is_counted_as_generated(way: tuple[str, str], errs: int) -> None:
    """So that a budget of wasted tokens means the same, however they came."""
    clock = VirtualClock()
    target = far(5, clock, 0.01, 0.1)
    made = hybrid(way, target, near(5, errs, clock), clock)
    said = sum(len(list(made.decoder.generate(prompt, ROOM, target.tokenizer.is_end))) for prompt in prompts(12))
    assert target.model.counters.generated == said
    made.close()
