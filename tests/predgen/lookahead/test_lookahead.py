"""Answers to what has not been said yet: words in the user's mouth, and replies that cost nothing once asked for."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predtui.clock import VirtualClock
from predtui.decoding.autoregressive import Autoregressive
from predtui.decoding.sampler import Greedy
from predtui.llm.base import LoadedModel, never
from predtui.llm.load import load
from predtui.models.shipped import asset
from predtui.predgen.algorithm import Prompt, Speculator
from predtui.predgen.lookahead.completion import Completer
from predtui.predgen.lookahead.idle import LookaheadGate
from predtui.predgen.lookahead.lookahead import GUESSES
from predtui.predgen.lookahead.marks import end_mark
from predtui.predgen.options import SpeculationOptions
from predtui.predgen.stage import SpeculationStage, create
from predtui.predgen.verifiers import make_verifier
from predtui.predgen.window import Window
from predtui.state.events import Continuation, Event, Message, ReplyFinished, SentenceAhead, Transcript, TurnStarted
from predtui.state.stage import StageContext
from predtui.text import first_sentence
from tests.predgen.test_stage import plain_text

OPTIONS = SpeculationOptions(model="5", engine="scripted", system="sys", reply_tokens=120)


class Rig:
    """A stage whose host has nothing else to do between two events, for at most so many idle calls."""

    def __init__(self, options: SpeculationOptions = OPTIONS) -> None:
        self.stale: Callable[[], bool] = never
        self.stage: SpeculationStage = create(options)
        list(self.stage.open(StageContext(VirtualClock(), lambda: self.stale(), logging.getLogger("test"))))
        list(self.stage.handle(TurnStarted(turn=1)))

    def send(self, event: Event, idle: int = 2000) -> list[Event]:
        outs = list(self.stage.handle(event))
        while self.stage.tick is not None and idle:
            before = self.stage._parts.loaded.model.counters.forwards
            outs += self.stage.idle()
            assert self.stage._parts.loaded.model.counters.forwards - before <= 2
            idle -= 1
        return outs


def letters(text: str) -> Transcript:
    return Transcript(tentative=text)


def finished(outs: list[Event]) -> ReplyFinished:
    (reply,) = (out for out in outs if isinstance(out, ReplyFinished))
    return reply


def test_the_unfinished_word_is_answered_as_if_it_were_whole() -> None:
    rig = Rig()
    outs = rig.send(letters("what is the sun"))
    continuations = {out.prompt: out.sentence for out in outs if isinstance(out, Continuation)}
    assert "what is the sun" in continuations
    assert continuations["what is the sun"] == first_sentence(plain_text("what is the sun"), complete=True)
    reply = finished(rig.send(Transcript(stable="what is the sun", final=True)))
    assert (reply.nfetfs, reply.outcome, reply.text) == (0, "accept", plain_text("what is the sun"))


@pytest.mark.parametrize("guesses", GUESSES)
def test_each_tells_the_forwards_that_were_spent_on_it_and_no_others(guesses: str) -> None:
    rig = Rig(replace(OPTIONS, guesses=guesses))
    counters = rig.stage._parts.loaded.model.counters
    before = counters.forwards
    outs = [out for out in rig.send(letters("what is the s")) if isinstance(out, Continuation)]
    assert outs
    assert all(out.forwards > 0 for out in outs)
    assert sum(out.forwards for out in outs) <= counters.forwards - before
    again = rig.send(letters("what is the su"))
    assert not {out.prompt for out in outs} & {out.prompt for out in again if isinstance(out, Continuation)}


def test_whoever_writes_marks_is_answered_with_the_mark_to_come() -> None:
    """By the time it is typed, the reply to the whole is there."""
    rig = Rig(replace(OPTIONS, continuations=1))
    outs = rig.send(letters("What is the sun"))
    assert any(out.prompt == "What is the sun?" for out in outs if isinstance(out, Continuation))
    rig.send(Transcript(stable="What is the sun?", unfinished=False), idle=0)
    reply = finished(rig.send(Transcript(stable="What is the sun?", final=True)))
    assert (reply.nfetfs, reply.text) == (0, plain_text("What is the sun?"))


@pytest.mark.parametrize(
    ("before", "text", "mark"),
    [
        ("", "What is the sun", "?"),
        ("", "Tell me what the sun is", "."),
        ("", "My soup is salty. Can I save it", "?"),
        ("", "Tom’s soup is salty! Couldn’t he save it", "?"),
        ("", "what is the sun", ""),
        ("", "What is the sun?", ""),
        ("", "I wonder", ""),
        ("", "It is hot", "."),
        ("", "", ""),
        ("What is the sun", "What is the moon", ""),
        ("What is the sun?", "what is the moon", ""),
        ("what is the sun", "What is the moon", "?"),
        ("what is the sun?", "what is the moon", "?"),
        ("Tell me.", "and how is the moon", ""),
    ],
)
def test_the_mark_that_ends_a_sentence(before: str, text: str, mark: str) -> None:
    assert end_mark([Message("user", before), Message("assistant", "Hot!")] if before else [], text) == mark


def test_of_the_guesses_the_likeliest_is_spoken_ahead_and_the_others_may_be_instead() -> None:
    rig = Rig()
    rig.send(Transcript(tentative="what is", unfinished=False))
    outs = rig.send(letters("what is t"))
    first, *others = (out.sentence for out in outs if isinstance(out, Continuation))
    ahead = [out for out in outs if isinstance(out, SentenceAhead)]
    assert {out.text for out in ahead} == {first}
    assert {*ahead[-1].others} >= {*others} - {first}


@pytest.mark.parametrize("guesses", GUESSES)
@pytest.mark.parametrize("count", [1, 2, 3])
def test_no_more_guesses_are_answered_than_wanted(guesses: str, count: int) -> None:
    rig = Rig(replace(OPTIONS, continuations=count, guesses=guesses))
    said = "what is the s"
    outs = rig.send(letters(said))
    prompts = [out.prompt for out in outs if isinstance(out, Continuation) and out.prompt != said]
    assert 0 < len(prompts) <= count
    assert all(prompt.startswith(said) for prompt in prompts)


def test_words_of_the_user_cost_no_forward() -> None:
    """The very first forward is one of the reply to them; by the model's account, one about the words."""
    answering = []
    for guesses in ("user", "both", "model"):
        rig = Rig(replace(OPTIONS, continuations=1, guesses=guesses))
        rig.send(TurnStarted(turn=2, history=(Message("user", "what is the sun"), Message("assistant", "hot"))))
        rig.send(letters("what is the"), idle=1)
        rig.send(letters("what is the s"), idle=1)
        answering.append(rig.stage._parts.lookahead.answering)
    assert answering == ["what is the sun", "what is the sun", ""]


def test_a_prompt_that_has_come_is_answered_before_any_that_has_not() -> None:
    rig = Rig()
    rig.send(Transcript(tentative="what is the sun", unfinished=False), idle=3)
    outs = rig.send(letters("what is the sun m"), idle=0)
    assert outs == []
    assert rig.stage._parts.speculator.candidate_for(rig.stage._parts.window.tokens((), "what is the sun"))


def test_nothing_is_looked_ahead_for_where_that_is_off_or_the_input_is_over() -> None:
    assert Rig(replace(OPTIONS, continuations=0)).send(letters("what is")) != []
    off = Rig(replace(OPTIONS, continuations=0))
    off.send(letters("what is"))
    assert off.stage.tick is None
    over = Rig()
    over.send(letters("what is"), idle=5)
    over.send(Transcript(stable="what is", final=True), idle=0)
    assert over.stage.tick is None
    assert list(over.stage.idle()) == []


said = st.text("what is", min_size=0, max_size=9)


@given(
    st.lists(st.tuples(said, st.booleans(), st.integers(0, 60)), max_size=6),
    said,
    st.sampled_from("0123"),
    st.sampled_from([0.0, 0.9]),
    st.integers(1, 3),
)
@settings(max_examples=30, deadline=None)
def test_whatever_is_guessed_the_reply_is_the_plain_one(
    heard: list[tuple[str, bool, int]], final: str, model: str, temperature: float, continuations: int
) -> None:
    options = replace(OPTIONS, model=model, temperature=temperature, seed=7, reply_tokens=40, context=200)
    rig = Rig(replace(options, continuations=continuations, memory=continuations))
    for text, unfinished, idle in heard:
        rig.send(Transcript(tentative=text.strip(), unfinished=unfinished), idle)
    plain = Rig(replace(options, continuations=0, memory=1))
    end = Transcript(stable=final.strip(), final=True)
    assert finished(rig.send(end)).text == finished(plain.send(end)).text


def words(loaded: LoadedModel, said: str, begun: str, count: int = 3) -> list[str]:
    found: list[tuple[str, float]] = []

    def search() -> Iterator[None]:
        found.extend((yield from Completer(loaded, Window(loaded, "sys", 40), count).words((), said, begun)))

    list(search())
    assert all(0 <= share <= 1 for _, share in found)
    assert sum(share for _, share in found) <= 1 + 1e-9
    return [word for word, _ in found]


@given(said, said, st.integers(1, 4))
@settings(max_examples=40, deadline=None)
def test_words_begin_as_they_were_begun_and_are_words(before: str, begun: str, count: int) -> None:
    before, begun = f"so {before.strip()}", begun.replace(" ", "")
    found = words(load("3", engine="scripted"), before, begun, count)
    assert len(found) == len(set(found)) <= count
    assert all(word.startswith(begun) and word and " " not in word for word in found)


@pytest.mark.skipif(not asset("pocket", "target", "model.gguf").is_file(), reason="the pocket model is not there")
def test_the_pocket_knows_how_france_is_spelled() -> None:
    loaded = load(threads=1)
    assert "france" in [word.lower() for word in words(loaded, "what is the capital of", "fran")]
    loaded.model.close()


def test_candidates_for_what_has_not_come_do_not_displace_those_for_what_has() -> None:
    loaded = load("3", engine="scripted")
    verifier = make_verifier("greedy", loaded, Greedy())
    speculator = Speculator(loaded, Autoregressive(loaded.model, Greedy()), verifier, 20, memory=2, continuations=2)
    real = [list(speculator.advance(Prompt([5, 9, token])))[-1].tokens for token in (30, 31)]
    for token in range(32, 40):
        list(speculator.advance(Prompt([5, 9, token], ahead=True)))
    assert [speculator.candidate_for([5, 9, token]) for token in (30, 31)] == real
    assert [bool(speculator.candidate_for([5, 9, token])) for token in range(35, 40)] == [
        False,
        False,
        True,
        True,
        True,
    ]


def test_looking_ahead_stops_where_it_finds_nothing_and_is_tried_again() -> None:
    payoff = LookaheadGate()
    for _ in range(100):
        if payoff.pays:
            payoff.observe(looked=True, saved=0)
    assert not payoff.pays
    for _ in range(100):
        payoff.observe(looked=payoff.pays, saved=20)
    assert payoff.pays


def test_in_a_script_without_spaces_no_words_are_guessed_and_what_is_typed_is_answered_ahead() -> None:
    rig = Rig(replace(OPTIONS, model="3"))
    outs = rig.send(Transcript(stable="法国的首", tentative="都"))
    assert {out.prompt for out in outs if isinstance(out, Continuation)} == {"法国的首都"}
    reply = finished(rig.send(Transcript(stable="法国的首都", final=True)))
    assert (reply.nfetfs, reply.outcome, reply.prompt) == (0, "accept", "法国的首都")
    assert end_mark([Message("user", "is it?")], "法国的首都") == ""
