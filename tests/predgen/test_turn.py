"""One turn: what may be lost on a prompt, how long a candidate grows, and how a reply ends that is broken off."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from predtui.lab.bench.shared_model import priced
from predtui.llm.base import LoadedModel, common_prefix
from predtui.llm.load import load
from predtui.predgen.algorithm import Prompt
from predtui.predgen.assembly import Sources
from predtui.predgen.baseline import BaselineMeter
from predtui.predgen.lookahead.idle import IdleWork
from predtui.predgen.options import SpeculationOptions
from predtui.predgen.preemption import Preemption
from predtui.predgen.turn import SpeculatedTurn
from predtui.state.events import Candidate, Event, Message, Notice, ReplyCommitted, ReplyFinished, Transcript, Verdict
from tests.curves import curve
from tests.predgen.test_assembly import CONTEXT, OPTIONS, parts_of


def lend(*request: Any) -> LoadedModel:
    """A model whose forwards take what ``PRICED`` says, since they are measured."""
    loaded = load(*request)
    return replace(loaded, model=priced(loaded.model, lambda new, _known: 1 + 0.1 * (new - 1), CONTEXT.clock))


PRICED = Sources(lend, load, curve(1.0, 0.1), False)


def turn_of(
    options: SpeculationOptions = OPTIONS, sources: Sources = PRICED, history: tuple[Message, ...] = ()
) -> SpeculatedTurn:
    parts, _ = parts_of(options, sources)
    preemption = Preemption(CONTEXT.clock, True, lambda: None)
    meter = BaselineMeter(parts.loaded, parts.plain, parts.window, options.reply_tokens, CONTEXT.clock)
    return SpeculatedTurn(parts, CONTEXT, preemption, IdleWork(False, False), meter, history)


def test_what_may_be_lost_is_what_was_read_ahead_and_a_forward() -> None:
    turn = turn_of()
    prompt = [*turn.opening[:-1], 30, 31, 32]
    assert turn.risk(prompt) == pytest.approx(1.0)
    longer = turn._parts.window.tokens((), "what is the sun")
    unread = len(longer) - common_prefix(longer, turn.opening)
    list(turn._parts.speculator.advance(Prompt(longer)))
    assert turn.risk(longer) == pytest.approx(1.0 + 1.0 + 0.1 * (unread - 1))
    assert turn_of(replace(OPTIONS, policy=False), Sources(load, load, None, False)).risk(prompt) == math.inf


@pytest.mark.parametrize(("most", "beyond"), [(5, 6), (40, 0), (40, 3)])
def test_a_candidate_grows_to_its_limit_or_so_far_beyond_its_first_sentence(most: int, beyond: int) -> None:
    turn = turn_of(replace(OPTIONS, candidate_tokens=most, beyond_sentence=beyond))
    out = [*turn.hear(Transcript(tentative="what is", unfinished=False))]
    sizes = [event.tokens for event in out if isinstance(event, Candidate)]
    assert max(sizes) <= most
    (verdict,) = (event for event in out if isinstance(event, Verdict))
    assert not verdict.final


def test_candidates_count_the_tokens_and_forwards_of_the_whole_turn() -> None:
    turn = turn_of()
    counters = turn._parts.loaded.model.counters
    before = counters.forwards
    heard = [Transcript(tentative="what is", unfinished=False), Transcript(stable="what is the sun", final=True)]
    told = []
    for words in heard:
        out = [*turn.hear(words)]
        told += [event for event in out if isinstance(event, Candidate)]
    assert [one.generated for one in told] == sorted(one.generated for one in told)
    assert [one.forwards for one in told] == sorted(one.forwards for one in told)
    (reply,) = (event for event in out if isinstance(event, ReplyFinished))
    assert 0 < told[-1].generated == reply.generated
    assert reply.forwards < told[-1].forwards == counters.forwards - before


def test_the_same_words_again_are_no_news_but_their_end_is() -> None:
    turn = turn_of()
    first = Transcript(tentative="what is", unfinished=False)
    assert [*turn.hear(first)]
    assert [*turn.hear(first)] == []
    out = [*turn.hear(Transcript(stable="what is", final=True))]
    assert isinstance(out[-1], ReplyFinished)


def broken_off(turn: SpeculatedTurn, after: int) -> list[Event]:
    """What is said of a reply that is left after so many events."""
    events: list[Event] = []
    for event in turn.hear(Transcript(stable="what is the sun", final=True)):
        events.append(event)
        if len(events) == after:
            break
    return events


@pytest.mark.parametrize("after", [1, 3, 5])
def test_a_reply_that_is_broken_off_ends_with_what_is_committed(after: int) -> None:
    turn = turn_of()
    said = broken_off(turn, after)
    (finished,) = turn.interrupt()
    assert isinstance(finished, ReplyFinished)
    assert finished.reason == "interrupted"
    assert finished.text == "".join(event.text for event in said if isinstance(event, ReplyCommitted))
    assert [*turn.interrupt()] == []


def test_it_is_told_once_where_the_beginning_of_a_prompt_is_not_read() -> None:
    turn = turn_of()
    room = turn._parts.window.budget
    for text, told in (("what is love", []), ("what " * room, [f"{room:,} tokens"])):
        heard = [*turn.hear(Transcript(stable=text[: len(text) // 2], unfinished=False))]
        assert not any(isinstance(event, Notice) for event in heard), "it may yet be edited"
        heard = [*turn.hear(Transcript(stable=text, final=True, unfinished=False))]
        notices = [event.text for event in heard if isinstance(event, Notice)]
        assert len(notices) == len(told)
        assert all(one in notice for one, notice in zip(told, notices, strict=True))


def test_silence_is_answered_by_nothing() -> None:
    (finished,) = turn_of().hear(Transcript(stable="", final=True))
    assert isinstance(finished, ReplyFinished)
    assert (finished.text, finished.verifier) == ("", "greedy")
