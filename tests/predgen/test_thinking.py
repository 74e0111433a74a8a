"""A model that thinks, in the "llm" stage: its thought is shown, and is neither spoken nor remembered."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace

import pytest

from predtui.clock import VirtualClock
from predtui.decoding.sampler import Greedy
from predtui.llm.base import LoadedModel, never
from predtui.llm.forcing import with_forced_endings
from predtui.llm.thinking import fragment, with_thinking
from predtui.llm.thoughts import THINK
from predtui.predgen.options import SpeculationOptions
from predtui.predgen.reflection import Reflection, _question
from predtui.predgen.stage import SpeculationStage
from predtui.settings import LlmSettings
from predtui.state.events import (
    Baseline,
    Candidate,
    Continuation,
    Event,
    MeasureBaseline,
    Message,
    Notice,
    ReplyCommitted,
    ReplyFinished,
    SentenceAhead,
    Transcript,
    TurnStarted,
)
from predtui.state.stage import StageContext
from tests import thinkers
from tests.llm.remote.chat import chatting
from tests.predgen.distant import Network
from tests.thinkers import MARKS, MarkTokenizer, Reciter

OPTIONS = SpeculationOptions(
    model="thinker", engine="scripted", system="sys", thinking="on", thought_tokens=200, policy=False
)
HM = "Okay, the user asks. It is Paris! Or is it?"
ANSWER = "Paris it is. It lies on the Seine."
SAID = {
    "think": f"{HM}</think>\n\n{ANSWER}",
    "spelled": f"{HM}</think>\n\n{ANSWER}",
    "harmony": f"<|channel|>analysis<|message|>{HM}<|end|><|start|>assistant<|channel|>final<|message|>{ANSWER}",
}


def thinker(kind: str, said: str = "", mode: str = "on") -> LoadedModel:
    """A model that says so, or what its kind says."""
    tokenizer = MarkTokenizer(MARKS[kind])

    def say(_prompt: str) -> str:
        return said or (ANSWER if mode == "off" else SAID[kind])

    if kind == "harmony":
        start = "<|start|>assistant" + ("<|channel|>final<|message|>" if mode == "off" else "")
        model = Reciter(tokenizer, say, start, "<|channel|>final<|message|>", after="<|start|>user")
        return thinkers.loaded(thinkers.HARMONY, tokenizer, model)
    model = Reciter(tokenizer, say, "</think>\n\n" if mode == "off" else "<think>\n", "</think>")
    return thinkers.loaded(thinkers.DISTILLED, tokenizer, model)


class Rig:
    """The stage over a model, as its host drives it."""

    def __init__(self, loaded: LoadedModel, options: SpeculationOptions = OPTIONS) -> None:
        self._stage = SpeculationStage(options, lambda *_: loaded)
        self.opening = [*self._stage.open(StageContext(VirtualClock(), never, logging.getLogger("test")))]

    def send(self, *events: Event) -> list[Event]:
        return [out for event in events for out in self._stage.handle(event)]

    def turn(self, number: int = 1, history: tuple[Message, ...] = ()) -> list[Event]:
        partial = [Transcript(tentative=said, unfinished=False) for said in ("what", "what is", "what is the")]
        return self.send(
            TurnStarted(turn=number, history=history), *partial, Transcript(stable="what is the capital", final=True)
        )


def texts(events: list[Event]) -> str:
    """All that may be spoken, shown as the reply, or remembered."""
    said = [e.text for e in events if isinstance(e, SentenceAhead | ReplyCommitted | ReplyFinished)]
    said += [e.text + e.rejected for e in events if isinstance(e, Candidate)]
    return "\n".join([*said, *(e.sentence for e in events if isinstance(e, Continuation))])


def finished(events: list[Event]) -> ReplyFinished:
    (reply,) = (event for event in events if isinstance(event, ReplyFinished))
    return reply


@pytest.mark.parametrize("kind", sorted(SAID))
def test_a_thought_is_shown_and_is_neither_spoken_nor_committed(kind: str) -> None:
    events = Rig(thinker(kind)).turn()
    reply, said = finished(events), texts(events)
    assert not any(word in said for word in ("Okay", "Or is it", "think", "<|", "analysis"))
    assert (reply.text, reply.sentences, reply.reason) == (ANSWER, 2, "end")
    assert reply.thought.text == HM
    assert reply.thought.tokens > len("Okay, the user asks.")
    assert reply.tokens - reply.thought.tokens >= len(ANSWER)
    assert [e.text.strip() for e in events if isinstance(e, ReplyCommitted)] == [
        "Paris it is.",
        "It lies on the Seine.",
    ]
    ahead = [e.text for e in events if isinstance(e, SentenceAhead)]
    assert ahead[0] == "Paris it is.", "the first sentence is the answer's"
    shown = [e for e in events if isinstance(e, Candidate) and not e.text]
    assert any(e.thought.text and HM.startswith(e.thought.text) for e in shown), "a thought is shown while it grows"


@pytest.mark.parametrize("kind", sorted(SAID))
def test_with_thinking_off_there_is_no_thought(kind: str) -> None:
    events = Rig(thinker(kind, mode="off"), replace(OPTIONS, thinking="off")).turn()
    reply = finished(events)
    assert (reply.text, reply.thought.tokens) == (ANSWER, 0)
    assert all(e.thought.tokens == 0 for e in events if isinstance(e, Candidate))


@pytest.mark.parametrize("kind", sorted(SAID))
def test_the_history_is_rendered_without_thoughts(kind: str) -> None:
    """The template of gpt-oss refuses a conversation in which a channel stands."""
    rig = Rig(thinker(kind))
    first = finished(rig.turn())
    history = (Message("user", first.prompt), Message("assistant", first.text))
    second = finished(rig.turn(2, history))
    assert (second.text, second.thought.text) == (ANSWER, HM)


@pytest.mark.parametrize(("mode", "most"), [("brief", 10), ("on", 10)])
@pytest.mark.parametrize("kind", sorted(SAID))
def test_a_thought_that_is_too_long_ends_and_the_answer_follows(kind: str, mode: str, most: int) -> None:
    events = Rig(thinker(kind), replace(OPTIONS, thinking=mode, thought_tokens=most)).turn()
    reply = finished(events)
    assert reply.text == ANSWER
    assert HM.startswith(reply.thought.text)
    assert len(reply.thought.text) <= most


def test_a_thought_does_not_count_as_reply() -> None:
    reply = finished(Rig(thinker("think"), replace(OPTIONS, reply_tokens=14)).turn())
    assert reply.thought.text == HM
    assert reply.text == "Paris it is."
    assert reply.reason == "length"


@pytest.mark.parametrize("kind", sorted(SAID))
def test_a_reply_that_ends_within_its_thought_is_told_of_and_nothing_is_said(kind: str) -> None:
    head, _, _ = SAID[kind].partition(HM)
    model = thinker(kind, said=f"{head}{'So it goes on. ' * 40}")
    model.model.context_size = 260  # type: ignore[misc]
    rig = Rig(model, replace(OPTIONS, thought_tokens=5000))
    events = rig.turn()
    reply = finished(events)
    assert (reply.text, reply.sentences, reply.reason) == ("", 0, "length")
    assert not [e for e in events if isinstance(e, ReplyCommitted | SentenceAhead)]
    (notice,) = (e for e in events if isinstance(e, Notice))
    assert "within its thought" in notice.text
    assert "llm.thinking" in notice.text
    assert finished(rig.turn(2)).text == "", "and the next turn is as any other"


@pytest.mark.parametrize("kind", sorted(SAID))
def test_the_baseline_thinks_the_same_and_its_first_sentence_is_the_answers(kind: str) -> None:
    rig = Rig(thinker(kind))
    reply = finished(rig.turn())
    (baseline,) = rig.send(MeasureBaseline(prompt=reply.prompt, reply=reply.text))
    assert isinstance(baseline, Baseline)
    assert (baseline.identical, baseline.first_sentence) == (True, "Paris it is.")
    assert baseline.nfetfs > reply.thought.tokens, "the thought is part of what the first sentence takes"


@pytest.mark.parametrize("kind", sorted(SAID))
def test_a_judge_answers_without_a_thought_and_judges_no_thought(kind: str) -> None:
    found = with_thinking(thinker(kind), "on", 200)
    assert found.thinking is not None
    assert found.thinking.closing
    closing = fragment(found.tokenizer, found.thinking.closing)
    assert _question(found)[-len(closing) :] == closing
    judge = Reflection(found, Greedy())
    tokens = found.tokenizer.encode(SAID[kind], special=True)
    thought = len(tokens) - len(found.tokenizer.encode(ANSWER))
    assert judge._first_sentence(tokens[: thought - 3]) == []
    assert judge._first_sentence(tokens) == tokens[: thought + len("Paris it is.")]


def test_a_server_of_text_is_taken_to_think_as_most_models_do() -> None:
    text = chatting(5, True, 3, Network())
    found = with_thinking(text, "off", 200)
    assert found.thinking is not None
    assert (found.thinking.form, found.template) == (THINK, text.template)
    assert with_forced_endings(found) is text.model


@pytest.mark.parametrize("set_", [lambda: {"thinking": "brief", "thought_tokens": 7, "reply_tokens": 9}, dict])
def test_what_a_person_chooses_is_what_the_stage_does(set_: Callable[[], dict[str, object]]) -> None:
    chosen = {"thinking": "off", "thought_tokens": 1024, "reply_tokens": 256} | set_()
    options = SpeculationOptions.of(LlmSettings(**set_()))  # type: ignore[arg-type]
    assert {name: getattr(options, name) for name in chosen} == chosen
