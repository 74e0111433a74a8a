"""Over a network, whatever comes while a server is waited for: the reply is plain decoding's, nothing stale is spoken,
one request runs at a time, and no token is asked for twice while nothing has changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predtui.decoding.assembly import DecodingOptions
from predtui.decoding.autoregressive import generate
from predtui.decoding.sampler import Greedy
from predtui.llm.base import LoadedModel, common_prefix
from predtui.predgen.algorithm import Progress, Prompt
from predtui.predgen.window import Window
from predtui.state.events import Event, Interrupt, ReplyCommitted, ReplyFinished, Requests
from tests.around import innermost
from tests.llm.remote.chat import chatting
from tests.predgen.distant import OPTIONS, Assistant, DistantModel, Network, distant, typed

WORDS = ["what", "is", "the", "sun", "made", "of", "Why?", "no"]
TOKENS: dict[str, Callable[[Network], LoadedModel]] = {
    "exact": partial(distant, 5, True),
    "regenerates": partial(distant, 5, False),
}
KINDS = TOKENS | {"text": partial(chatting, 5, True, 3), "text, begun anew": partial(chatting, 5, False, 3)}
LONG = 10_000
"""Waits until a turn is over."""
said = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)
turns = st.lists(st.lists(said, min_size=1, max_size=5), min_size=1, max_size=3)
waits = st.lists(st.integers(0, 40), min_size=18, max_size=18)
budgets = st.sampled_from([0.0, 0.5, 4.0, 1e9])


def plain(kind: str, prompt: str) -> str:
    """The reply to ``prompt`` in one request that nothing disturbs."""
    loaded = KINDS[kind](Network())
    tokens = Window(loaded, OPTIONS.system, OPTIONS.reply_tokens).tokens((), prompt)
    reply = generate(loaded.model, tokens, Greedy(), OPTIONS.reply_tokens, loaded.tokenizer.is_end)
    return loaded.tokenizer.decode(list(reply)).strip()


def spoken(events: list[Event], turn: int) -> str:
    return "".join(event.text for event in events if isinstance(event, ReplyCommitted) and event.turn == turn).strip()


def far(assistant: Assistant) -> DistantModel:
    model = innermost(assistant.loaded.model)
    assert isinstance(model, DistantModel)
    return model


@pytest.mark.parametrize("kind", KINDS)
@given(turns, waits, budgets)
@settings(max_examples=40, deadline=None)
def test_the_reply_is_plain_decodings_whatever_comes_while_the_server_is_waited_for(
    kind: str, said: list[list[str]], waits: list[int], budget: float
) -> None:
    assistant = Assistant(KINDS[kind], replace(OPTIONS, remote_budget=budget))
    events = [event for prompts in said for event in typed(*prompts)]
    out = assistant.run(*zip(waits, events, strict=False))
    for number, prompts in enumerate(said, 1):
        finished = [event for event in out if isinstance(event, ReplyFinished) and event.turn == number]
        whole = plain(kind, prompts[-1])
        if finished:
            assert spoken(out, number) == finished[-1].text.strip() == whole
        assert finished or number < len(said)
        assert whole.startswith(spoken(out, number))
    final = {number: len(prompts) for number, prompts in enumerate(said, 1)}
    assert all(event.revision == final[event.turn] for event in out if isinstance(event, ReplyCommitted))
    assert assistant.network.most == 1
    assert assistant.network.open == 0


@pytest.mark.parametrize("decoder", ["speculative", "duo"])
@given(turns, waits, budgets, st.sampled_from([5, 6]))
@settings(max_examples=25, deadline=None)
def test_with_a_draft_here_the_reply_is_plain_decodings_too(
    decoder: str, said: list[list[str]], waits: list[int], budget: float, draft: int
) -> None:
    options = replace(OPTIONS, remote_budget=budget, decoding=DecodingOptions(decoder))
    assistant = Assistant(KINDS["exact"], options, draft=str(draft))
    events = [event for prompts in said for event in typed(*prompts)]
    out = assistant.run(*zip(waits, events, strict=False))
    for number, prompts in enumerate(said, 1):
        finished = [event for event in out if isinstance(event, ReplyFinished) and event.turn == number]
        whole = plain("exact", prompts[-1])
        if finished:
            assert spoken(out, number) == finished[-1].text.strip() == whole
        assert finished or number < len(said)
        assert whole.startswith(spoken(out, number))
    assert assistant.network.most == 1
    assert assistant.network.open == 0
    assistant.stage.close()


@pytest.mark.parametrize("kind", KINDS)
@given(said, st.integers(0, 30))
@settings(max_examples=20, deadline=None)
def test_an_interruption_ends_the_request(kind: str, prompt: str, wait: int) -> None:
    assistant = Assistant(KINDS[kind])
    start, final = typed(prompt)
    out = assistant.run((0, start), (0, final), (wait, Interrupt()))
    assert assistant.network.open == 0
    assert plain(kind, prompt).startswith(spoken(out, 1))


@pytest.mark.parametrize("kind", TOKENS)
@given(said, st.lists(st.integers(0, 40), min_size=4, max_size=4))
@settings(max_examples=40, deadline=None)
def test_no_token_is_asked_for_twice_while_the_prompt_stays_the_same(kind: str, prompt: str, waits: list[int]) -> None:
    assistant = Assistant(KINDS[kind], replace(OPTIONS, continuations=0))
    out = assistant.run(*zip(waits, typed(prompt, prompt, prompt), strict=True))
    asked = far(assistant).asked
    assert len(asked) == len(set(asked))
    (finished,) = [event for event in out if isinstance(event, ReplyFinished)]
    assert len(asked) == finished.generated == finished.tokens


@given(said, said, st.integers(0, 25), st.integers(1, 25))
@settings(max_examples=30, deadline=None)
def test_what_is_regenerated_is_kept_as_far_as_a_candidate_foretold_it(
    before: str, after: str, most: int, enough: int
) -> None:
    assistant = Assistant(KINDS["regenerates"])
    window, speculator = assistant.stage._parts.window, assistant.stage._parts.speculator
    long_enough: Callable[[Progress], bool] = lambda progress: len(progress.tokens) >= enough  # noqa: E731
    list(speculator.advance(Prompt(window.tokens((), before), longest=most)))
    old = speculator.candidate
    steps = list(speculator.advance(Prompt(window.tokens((), after), enough=long_enough)))
    if before == after:
        return
    for step in steps:
        shared = common_prefix(old, step.tokens)
        assert step.kept == old[:shared]
        assert step.kept + step.rejected in (old, old[:shared])
        assert step.verifying == (shared == len(step.tokens) < len(old) and step is not steps[-1])
    assert far(assistant).counters.cancelled == (not steps[-1].ended)


@pytest.mark.parametrize("kind", TOKENS)
@given(turns, st.lists(st.integers(0, 40), min_size=12, max_size=12), budgets)
@settings(max_examples=40, deadline=None)
def test_no_more_is_wasted_than_the_budget_says(
    kind: str, said: list[list[str]], waits: list[int], budget: float
) -> None:
    assistant = Assistant(KINDS[kind], replace(OPTIONS, remote_budget=budget))
    model, before = far(assistant), far(assistant).counters.generated
    replied = 0
    for prompts in said:
        start, *partial_prompts = typed(*prompts)
        out = assistant.run((LONG, start), *zip(waits, partial_prompts, strict=False))
        (finished,) = [event for event in out if isinstance(event, ReplyFinished)]
        replied += finished.tokens
        wasted = model.counters.generated - before - replied
        assert wasted <= budget * (replied + 32) + 1
        told = [event for event in out if isinstance(event, Requests)][-1]
        assert told.cancelled <= told.count
        assert told.wasted <= told.generated
    if not budget:
        assert wasted <= 0
