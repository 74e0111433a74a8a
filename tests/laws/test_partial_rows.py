"""An engine that tells only the likeliest tokens, many of them a request, serves as any other does, or is refused."""

from __future__ import annotations

import logging
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predtui.clock import VirtualClock
from predtui.decoding.assembly import DecodingOptions, assemble
from predtui.decoding.autoregressive import generate
from predtui.decoding.costs.instrument import Instrument
from predtui.decoding.sampler import Greedy, Seeded
from predtui.errors import PredtuiError
from predtui.llm.base import generates, never
from predtui.llm.load import load
from predtui.llm.scripted import ScriptedModel
from predtui.predgen.options import SpeculationOptions
from predtui.predgen.stage import SpeculationStage
from predtui.predgen.verifiers import make_verifier
from predtui.state.events import Baseline, MeasureBaseline, ReplyFinished, Transcript, TurnStarted
from predtui.state.stage import StageContext
from tests.llm.remote.double import remote

PROMPT = load(engine="scripted").tokenizer.encode("what is the sun made of")
DRAFTERS = ["lookup", "suffix", "recycling"]
EXACT = ["ar", "jacobi", "speculative", "sps"]


def no_end(token: int) -> bool:
    return False


def plain(seed: int, limit: int) -> list[int]:
    return list(generate(ScriptedModel(seed), PROMPT, Greedy(), limit, no_end))


@given(st.integers(0, 30), st.integers(0, 60), st.sampled_from(EXACT), st.sampled_from(DRAFTERS))
@settings(max_examples=30, deadline=None)
def test_a_greedy_reply_is_plain_decodings(seed: int, limit: int, decoder: str, drafter: str) -> None:
    made = assemble(DecodingOptions(decoder, drafter), remote(seed), Greedy(), Instrument(VirtualClock()))
    assert list(made.decoder.generate(PROMPT, limit, no_end)) == plain(seed, limit)


def test_many_tokens_are_one_request_as_long_as_they_are_asked_for() -> None:
    loaded = remote(4)
    assert generates(loaded.model)
    tokens = generate(loaded.model, PROMPT, Greedy(), 40, no_end)
    first = [next(tokens) for _ in range(3)]
    assert (loaded.model.counters.forwards, loaded.model.counters.tokens) == (1, 3)
    assert [*first, *tokens] == plain(4, 40)
    assert loaded.model.counters.forwards == 1


@given(st.integers(0, 9), st.integers(0, 30))
def test_a_request_ends_with_the_reply_and_with_the_context_and_where_it_is_stale(seed: int, limit: int) -> None:
    wanted = plain(seed, 30)
    end = wanted[min(limit, 29)]
    said = list(generate(remote(seed).model, PROMPT, Greedy(), 30, end.__eq__))
    assert said == wanted[: wanted.index(end) + 1]
    count = 0

    def stale() -> bool:
        nonlocal count
        count += 1
        return count > limit

    assert list(generate(remote(seed).model, PROMPT, Greedy(), 30, no_end, stale)) == wanted[:limit]
    full = [5] * 1024
    assert len(list(generate(remote(seed).model, full, Greedy(), 9, no_end))) == 1
    assert not list(generate(remote(seed).model, [*full, 5], Greedy(), 9, no_end))


@given(st.integers(0, 9), st.lists(st.integers(4, 40), max_size=8), st.integers(0, 8))
def test_verification_keeps_what_plain_decoding_says(seed: int, wrong: list[int], right: int) -> None:
    candidate = [*plain(seed, 8)[:right], *wrong]
    *_, far = make_verifier("greedy", remote(seed), Greedy()).verify(PROMPT, [tuple(candidate)])
    *_, near = make_verifier("greedy", load(str(seed), engine="scripted"), Greedy()).verify(PROMPT, [tuple(candidate)])
    assert far == near
    assert far.lossless


@pytest.mark.parametrize("verifier", ["greedy", "top3"])
def test_a_turn_is_answered_and_its_baseline_measured(verifier: str) -> None:
    options = SpeculationOptions(model="5", engine="scripted", system="sys", reply_tokens=60, verifier=verifier)
    stage = SpeculationStage(options, lambda *_: remote(5))
    list(stage.open(StageContext(VirtualClock(), never, logging.getLogger("test"))))
    events = [TurnStarted(turn=1), Transcript(tentative="what is", unfinished=False)]
    events += [Transcript(stable="what is the sun", final=True)]
    out = [event for sent in events for event in stage.handle(sent)]
    finished = [event for event in out if isinstance(event, ReplyFinished)][-1]
    assert finished.text
    measured = list(stage.handle(MeasureBaseline(prompt="what is the sun", reply=finished.text)))
    baseline = next(event for event in measured if isinstance(event, Baseline))
    assert baseline.identical or verifier == "top3"


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (SpeculationOptions(temperature=0.7), "Sampling at a temperature needs whole rows of logits"),
        (SpeculationOptions(temperature=0.7, decoding=DecodingOptions("sps", "suffix")), "Sampling at a temperature"),
        (SpeculationOptions(verifier="reflection"), "reflection verifier needs the log-probability of any token"),
        (SpeculationOptions(verifier="top21"), "top21 needs the 21 likeliest tokens"),
        (SpeculationOptions(decoding=DecodingOptions("lookahead")), "token trees"),
    ],
)
def test_what_needs_more_is_refused_when_it_is_put_together(options: SpeculationOptions, reason: str) -> None:
    stage = SpeculationStage(replace(options, engine="scripted"), lambda *_: remote(5))
    with pytest.raises(PredtuiError, match=reason) as refused:
        list(stage.open(StageContext(VirtualClock(), never, logging.getLogger("test"))))
    assert "\n" not in str(refused.value)


def test_what_needs_a_few_likely_tokens_is_refused_where_fewer_are_told() -> None:
    options = DecodingOptions("speculative", "recycling")
    with pytest.raises(PredtuiError, match=r"recycling needs the 8 likeliest tokens, and .* gives only the 5 "):
        assemble(options, remote(3, told=5), Greedy())
    made = assemble(options, remote(3, told=8), Greedy(), Instrument(VirtualClock()))
    assert list(made.decoder.generate(PROMPT, 60, no_end)) == plain(3, 60)


def test_a_sampler_that_needs_whole_rows_says_so() -> None:
    assert Seeded().whole
    assert not Greedy().whole
