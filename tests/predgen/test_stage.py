"""The "llm" stage on the scripted model, handled as a host would."""

from __future__ import annotations

import logging
import pickle
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predtui.clock import RealClock, VirtualClock
from predtui.decoding.assembly import DecodingOptions
from predtui.decoding.autoregressive import generate
from predtui.decoding.costs.instrument import Instrument
from predtui.decoding.duo import Duo, DuoOptions
from predtui.decoding.sampler import Greedy
from predtui.errors import PredtuiError
from predtui.llm.abilities import Abilities
from predtui.llm.around import ModelAround
from predtui.llm.base import LanguageModel, LoadedModel, Preempted, Stale, never
from predtui.llm.load import load
from predtui.llm.rows import ArrayRows, Rows
from predtui.llm.scripted import ScriptedModel
from predtui.llm.templates import PlainTemplate
from predtui.predgen.options import SpeculationOptions
from predtui.predgen.stage import SpeculationStage, create
from predtui.settings import LlmSettings
from predtui.state.events import (
    Baseline,
    Candidate,
    Configure,
    Decoding,
    EndOfTurn,
    Event,
    Interrupt,
    MeasureBaseline,
    Message,
    Notice,
    ReplyCommitted,
    ReplyFinished,
    Resumed,
    Retrieved,
    SentenceAhead,
    StageStatus,
    Transcript,
    TurnStarted,
    Verdict,
    Work,
)
from predtui.state.exchange import Exchange
from predtui.state.stage import Listener, StageContext
from predtui.text import first_sentence
from tests.decoding.test_duo import Faulty

OPTIONS = SpeculationOptions(model="5", engine="scripted", system="sys", reply_tokens=120)
WORDS = ["what", "is", "the", "sun", "made", "of", "Why?", "no"]
said = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)


TURN = (TurnStarted(turn=1), Transcript(turn=1, revision=1, stable="what is the sun", final=True))


class Rig:
    """A stage with its host's side in the test's hands: ``stale`` may be set before each event."""

    def __init__(self, options: SpeculationOptions = OPTIONS) -> None:
        self.stale: Callable[[], bool] = never
        self.stage: SpeculationStage = create(options)
        context = StageContext(VirtualClock(), lambda: self.stale(), logging.getLogger("test"))
        self.opening = list(self.stage.open(context))

    def send(self, *events: Event, stale: Callable[[], bool] = never) -> list[Event]:
        self.stale = stale
        return [out for event in events for out in self.stage.handle(event)]

    def turn(self, *prompts: str) -> list[Event]:
        """Partial prompts and a final one, nothing pre-empted."""
        partial = [Transcript(tentative=prompt, unfinished=False) for prompt in prompts[:-1]]
        return self.send(TurnStarted(turn=1), *partial, Transcript(stable=prompts[-1], final=True))

    def prompted(self, said: str) -> str:
        """What the model is told where ``said`` is all."""
        parts = self.stage._parts
        return parts.loaded.tokenizer.decode(parts.window.tokens((), said))


class Halting(ModelAround):
    """During each of its forwards somebody begins a turn; it ends where it is halted."""

    def __init__(self, model: LanguageModel, halt: Stale, heard: list[Listener]) -> None:
        super().__init__(model)
        self.halt, self.heard = halt, heard

    def _forward(self, forward: Callable[[], Rows], length: int, rows: int) -> Rows:
        for listener in self.heard:
            listener(TurnStarted(turn=1))
        if self.halt():
            raise Preempted
        return forward()


def test_a_turn_that_begins_while_the_model_is_opened_waits_and_is_answered() -> None:
    heard: list[Listener] = []

    def lend(model: str, engine: str, threads: int | None, length: int, halt: Stale) -> LoadedModel:
        loaded = load(model, engine, threads, length, halt)
        return replace(loaded, model=Halting(loaded.model, halt, heard))

    stage = SpeculationStage(OPTIONS, lend)
    context = StageContext(VirtualClock(), never, logging.getLogger("test"), heard.append)
    ready = list(stage.open(context))[-1]
    assert isinstance(ready, StageStatus)
    assert ready.progress == 1.0
    heard.clear()
    said = [out for event in TURN for out in stage.handle(event)]
    assert isinstance(said[-1], ReplyFinished)


def test_a_stage_that_could_not_open_closes_what_it_had_opened() -> None:
    loaded = load("5", engine="scripted")
    closed: list[bool] = []
    loaded.model.close = lambda: closed.append(True)  # type: ignore[method-assign]
    stage = SpeculationStage(replace(OPTIONS, decoding=DecodingOptions("no such decoder")), lambda *_: loaded)
    context = StageContext(VirtualClock(), never, logging.getLogger("test"))
    with pytest.raises(PredtuiError):
        list(stage.open(context))
    stage.close()
    assert closed == [True]
    create(replace(OPTIONS, temperature=-1.0)).close()


def of(kind: type, events: Iterable[Event]) -> list[Event]:
    return [event for event in events if isinstance(event, kind)]


def one(kind: type, events: Iterable[Event]) -> Event:
    (event,) = of(kind, events)
    return event


def plain_text(prompt: str, options: SpeculationOptions = OPTIONS) -> str:
    loaded = load(options.model, options.engine)
    tokens = loaded.prompt_tokens([Message("system", options.system), Message("user", prompt)])
    reply = generate(loaded.model, tokens, Greedy(), options.reply_tokens, loaded.tokenizer.is_end)
    return loaded.tokenizer.decode(list(reply)).strip()


def stale_after(questions: int) -> Callable[[], bool]:
    left = iter(range(questions))
    return lambda: next(left, None) is None


def test_options_travel_and_come_from_the_settings() -> None:
    assert pickle.loads(pickle.dumps(OPTIONS)) == OPTIONS
    assert SpeculationOptions.of(LlmSettings(temperature=0.5, seed=3)).seed == 3


def test_opening_reads_the_system_prompt() -> None:
    rig = Rig()
    messages = [event.message for event in rig.opening]  # type: ignore[attr-defined]
    assert messages[:2] == ["loading 5", "reading the system prompt"]
    assert messages[2].endswith("scripted · cpu")
    before = rig.stage._parts.loaded.model.counters.tokens
    rig.send(Transcript(tentative="a", unfinished=False))
    first = rig.stage._parts.loaded.model.counters
    assert first.tokens - before < 3 + first.forwards


def opened(loaded: LoadedModel) -> list[Event]:
    """What a stage says while it opens ``loaded``."""
    context = StageContext(VirtualClock(), never, logging.getLogger("test"))
    return list(SpeculationStage(OPTIONS, lambda *_: loaded).open(context))


def test_a_model_without_a_chat_template_is_told_of() -> None:
    loaded = replace(load("5", engine="scripted"), template=PlainTemplate())
    notice = one(Notice, opened(loaded))
    assert isinstance(notice, Notice)
    assert "no chat template" in notice.text


def test_a_model_that_cannot_go_back_is_told_of() -> None:
    class Stateful(ScriptedModel):
        @property
        def abilities(self) -> Abilities:
            return replace(super().abilities, rollback="none")

    loaded = load("5", engine="scripted")
    assert not [event for event in opened(loaded) if isinstance(event, Notice)]
    notice = one(Notice, opened(replace(loaded, model=Stateful(5))))
    assert isinstance(notice, Notice)
    assert "scripted cannot go back" in notice.text


def test_a_stop_string_ends_a_reply_and_is_never_shown_spoken_or_remembered() -> None:
    def turn(*stops: str) -> list[Event]:
        loaded = replace(load("5", engine="scripted"), stops=stops)
        stage = SpeculationStage(OPTIONS, lambda *_: loaded)
        list(stage.open(StageContext(VirtualClock(), never, logging.getLogger("test"))))
        partial = [Transcript(tentative=said, unfinished=False) for said in ("what", "what is", "what is a", "what is")]
        events = [TurnStarted(turn=1), *partial, Transcript(stable="what is the sun", final=True)]
        said = [out for event in events for out in stage.handle(event)]
        finished = one(ReplyFinished, said)
        assert isinstance(finished, ReplyFinished)
        return [*said, *stage.handle(MeasureBaseline(prompt="what is the sun", reply=finished.text))]

    def texts(events: list[Event]) -> list[str]:
        told = [e.text for e in events if isinstance(e, SentenceAhead | ReplyCommitted | ReplyFinished)]
        return told + [e.text + e.rejected for e in events if isinstance(e, Candidate)]

    stopped, whole = turn("p"), turn()
    replies = [one(ReplyFinished, events) for events in (stopped, whole)]
    assert [reply.reason for reply in replies if isinstance(reply, ReplyFinished)] == ["end", "length"]
    assert any("p" in text for text in texts(whole))
    assert not any("p" in text for text in texts(stopped))
    assert [e.identical for e in stopped if isinstance(e, Baseline)] == [True]


def test_weights_that_compute_no_numbers_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded, damaged = load("5", engine="scripted"), ArrayRows(np.full((1, 9), np.nan, np.float32))
    monkeypatch.setattr(loaded.model, "forward", lambda tokens, last=1: damaged)
    with pytest.raises(PredtuiError, match="weights are damaged"):
        opened(loaded)


@given(st.lists(st.tuples(said, st.none() | st.integers(0, 25)), max_size=5), said, st.sampled_from("0123456789"))
@settings(max_examples=75, deadline=None)
def test_a_turn_commits_the_plain_reply_and_nothing_before_its_end(
    revisions: list[tuple[str, int | None]], final: str, model: str
) -> None:
    options = replace(OPTIONS, model=model)
    rig = Rig(options)
    rig.send(TurnStarted(turn=1))
    for prompt, questions in revisions:
        stale = never if questions is None else stale_after(questions)
        assert not of(ReplyCommitted, rig.send(Transcript(tentative=prompt, unfinished=False), stale=stale))
    out = rig.send(Transcript(stable=final, final=True))
    finished = out[-1]
    assert isinstance(finished, ReplyFinished)
    committed = [event.text for event in out if isinstance(event, ReplyCommitted)]
    assert "".join(committed) == finished.text == (plain_text(final, options) if final else "")
    assert [event.index for event in out if isinstance(event, ReplyCommitted)] == list(range(len(committed)))
    assert finished.sentences == len(committed)
    if final:
        verdict = one(Verdict, out)
        assert isinstance(verdict, Verdict)
        assert (verdict.final, verdict.forwards) == (True, finished.nfetfs)
        result = rig.send(MeasureBaseline(prompt=final, reply=finished.text))
        baseline = one(Baseline, result)
        assert isinstance(baseline, Baseline)
        assert (baseline.identical, baseline.divergence, baseline.logit_gap) == (True, -1, 0.0)
        assert baseline.first_sentence == (committed[0] if committed else "")
        assert baseline.nfetfs >= finished.nfetfs


def test_a_decoder_that_drafts_commits_the_same_and_tells_how_its_drafts_fare() -> None:
    rig = Rig(replace(OPTIONS, decoding=DecodingOptions("speculative", "lookup")))
    prompts = ("what is", "what is the", "what is the sun the sun the sun")
    out = rig.turn(*prompts)
    reply, plain = one(ReplyFinished, out), one(ReplyFinished, Rig().turn(*prompts))
    assert isinstance(reply, ReplyFinished)
    assert isinstance(plain, ReplyFinished)
    assert (reply.text, reply.tokens) == (plain.text, plain.tokens)
    assert reply.forwards < plain.forwards
    statistics = rig.stage._parts.decoding.decoder.statistics
    last = of(Decoding, out)[-1]
    assert isinstance(last, Decoding)
    assert (last.decoder, last.acceptance_rate) == ("speculative + lookup", statistics.acceptance_rate)
    assert statistics.proposed >= statistics.accepted > 0
    assert not of(Decoding, Rig().turn(*prompts))
    busy = [event for event in out if isinstance(event, Work)]
    assert {work.stage for work in busy} == {"target", "draft"}
    assert all(work.end >= work.start for work in busy)


@pytest.mark.parametrize("stalls", [False, True])
def test_a_reply_goes_on_without_a_draft_that_is_lost_and_the_screen_is_told(stalls: bool) -> None:
    rig, prompts, faulty = Rig(), ("what is", "what is the sun"), Faulty(after=1, stalls=stalls)
    duo = Duo(
        rig.stage._parts.loaded.model, faulty, Greedy(), Instrument(RealClock()), DuoOptions(budget=3, patience=0.2)
    )
    rig.stage._parts.speculator._decoder = rig.stage._parts.report._decoder = duo
    reply, plain = one(ReplyFinished, out := rig.turn(*prompts)), one(ReplyFinished, Rig().turn(*prompts))
    assert isinstance(reply, ReplyFinished)
    assert isinstance(plain, ReplyFinished)
    assert (reply.text, reply.tokens) == (plain.text, plain.tokens)
    last = of(Decoding, out)[-1]
    assert isinstance(last, Decoding)
    assert "the draft is lost" in last.note
    faulty.let_go.set()
    rig.stage.close()


def test_a_reply_known_beforehand_needs_no_forward_or_one() -> None:
    reply = plain_text("what is the sun")
    assert len(reply) > 5
    out = Rig().turn("what is the", "what is the sun", "what is the sun")
    finished = one(ReplyFinished, out)
    assert isinstance(finished, ReplyFinished)
    assert (finished.nfetfs, finished.outcome, finished.text) == (0, "accept", reply)
    first = of(Verdict, out)[0]
    assert isinstance(first, Verdict)
    assert (first.outcome, first.of, first.final) == ("reject", 0, False)


def test_all_three_outcomes_are_what_they_say() -> None:
    seen = set()
    for model in map(str, range(12)):
        for last in WORDS:
            options = replace(OPTIONS, model=model)
            out = Rig(options).turn("what is", f"what is {last}")
            verdict = [event for event in out if isinstance(event, Verdict)][-1]
            ahead = [event.text for event in out if isinstance(event, SentenceAhead)]
            first = first_sentence(plain_text(f"what is {last}", options), True)
            seen.add(verdict.outcome)
            if verdict.outcome == "accept":
                assert ahead == [first]
                assert verdict.forwards == 1
            elif verdict.outcome == "reject":
                assert verdict.accepted == 0
            else:
                assert verdict.accepted > 0
                assert ahead != [first] or verdict.accepted < verdict.of
    assert seen == {"accept", "partial", "reject"}


def test_the_first_sentence_is_ahead_while_input_goes_on_and_once() -> None:
    rig = Rig()
    rig.send(TurnStarted(turn=1))
    partial = Transcript(tentative="what is the sun", unfinished=False)
    out = rig.send(partial)
    ahead = one(SentenceAhead, out)
    assert isinstance(ahead, SentenceAhead)
    assert ahead.text == first_sentence(plain_text("what is the sun"), True)
    assert out.index(ahead) < out.index(one(Verdict, out))
    assert not of(SentenceAhead, rig.send(partial))
    assert of(SentenceAhead, rig.send(TurnStarted(turn=2), partial))


def test_a_candidate_stops_growing_while_input_goes_on() -> None:
    rig = Rig(replace(OPTIONS, candidate_tokens=9, beyond_sentence=2))
    out = rig.send(TurnStarted(turn=1), Transcript(tentative="what is", unfinished=False))
    last = of(Candidate, out)[-1]
    assert isinstance(last, Candidate)
    assert last.tokens <= 9
    assert len(of(Verdict, out)) == 1


def test_candidate_parts_join_to_what_is_guessed_and_what_was() -> None:
    rig = Rig()
    rig.send(TurnStarted(turn=1))
    before = {""}
    for prompt in ("what", "what is", "what is the", "what no the", "what is"):
        candidates = of(Candidate, rig.send(Transcript(tentative=prompt, unfinished=False)))
        assert all(isinstance(c, Candidate) and c.kept + c.rejected in before for c in candidates)
        assert isinstance(candidates[-1], Candidate)
        before.add(candidates[-1].text)
        assert plain_text(prompt).startswith(candidates[-1].text.strip())


def test_a_core_is_left_to_the_recogniser_while_it_is_at_work() -> None:
    class Sharing(ScriptedModel):
        left = 0

        @property
        def abilities(self) -> Abilities:
            return replace(super().abilities, shares=True)

        def leave(self, cores: int) -> None:
            self.left += cores

    model = Sharing()

    def lend(*_: object) -> LoadedModel:
        return replace(load("0", engine="scripted"), model=model)

    stage = SpeculationStage(OPTIONS, lend)
    list(stage.open(StageContext(VirtualClock(), never, logging.getLogger("test"))))
    for event, left in (
        (TurnStarted(turn=1, source="voice"), 1),
        (Transcript(turn=1, tentative="what is"), 1),
        (Transcript(turn=1, tentative="what is", unfinished=False, paused=True), 0),
        (Transcript(turn=1, tentative="what is the"), 1),
        (Transcript(turn=1, stable="what is the sum", final=True), 0),
        (TurnStarted(turn=2, source="typed"), 0),
        (Transcript(turn=2, tentative="and"), 0),
        (TurnStarted(turn=3, source="voice"), 1),
        (Interrupt(turn=3), 0),
    ):
        list(stage.handle(event))
        assert model.left == left, event


def test_a_held_back_word_and_silence_cost_nothing() -> None:
    rig = Rig()
    before = rig.stage._parts.loaded.model.counters.forwards
    assert rig.send(Transcript(tentative="wha", unfinished=True)) == []
    assert rig.send(Transcript(stable="")) == []
    assert rig.stage._parts.loaded.model.counters.forwards == before
    (finished,) = rig.send(Transcript(stable="", final=True))
    assert isinstance(finished, ReplyFinished)
    assert (finished.text, finished.sentences) == ("", 0)


def test_a_pre_empted_revision_says_no_more_but_keeps_its_tokens() -> None:
    rig = Rig()
    rig.send(TurnStarted(turn=1))
    out = rig.send(Transcript(tentative="what is the", unfinished=False), stale=stale_after(8))
    assert not of(Verdict, out)
    assert 0 < len(rig.stage._parts.speculator.candidate) < 8


def test_an_interrupted_reply_ends_with_what_was_committed() -> None:
    rig = Rig(replace(OPTIONS, model="0"))
    rig.send(TurnStarted(turn=1))
    out = rig.send(Transcript(stable="what is", final=True), stale=stale_after(90))
    assert not of(ReplyFinished, out)
    finished = one(ReplyFinished, rig.send(Interrupt()))
    assert isinstance(finished, ReplyFinished)
    assert finished.reason == "interrupted"
    assert finished.text == "".join(e.text for e in out if isinstance(e, ReplyCommitted))
    assert rig.send(Interrupt()) == []


def test_nothing_is_left_to_interrupt_after_a_whole_reply() -> None:
    rig = Rig()
    rig.turn("what is")
    assert rig.send(Interrupt()) == []


def test_history_and_length_reach_the_model() -> None:
    rig = Rig(replace(OPTIONS, context=200))
    history = (Message("user", "is it " * 30), Message("assistant", "No. " * 30))
    out = rig.send(TurnStarted(turn=1, history=history), Transcript(stable="why " * 90, final=True))
    finished = out[-1]
    assert isinstance(finished, ReplyFinished)
    assert finished.reason in ("end", "length")


def test_the_baseline_tells_where_a_reply_diverges_and_by_how_much() -> None:
    rig = Rig()
    rig.turn("what is the sun")
    reply = plain_text("what is the sun")
    wrong = ("x" if reply[4] != "x" else "y").join((reply[:4], reply[5:]))
    baseline = one(Baseline, rig.send(MeasureBaseline(prompt="what is the sun", reply=wrong)))
    assert isinstance(baseline, Baseline)
    assert not baseline.identical
    assert baseline.divergence in (4, 5)
    assert baseline.logit_gap > 0


def test_a_stale_baseline_is_dropped() -> None:
    rig = Rig()
    rig.turn("what is")
    assert rig.send(MeasureBaseline(prompt="what is", reply="?"), stale=stale_after(5)) == []


def test_a_verifier_is_chosen_by_name() -> None:
    rig = Rig()
    assert rig.send(Configure(verifier="greedy"), Configure()) == []
    notice = one(Notice, rig.send(Configure(verifier="psychic")))
    assert isinstance(notice, Notice)
    assert "greedy" in notice.text
    with pytest.raises(PredtuiError, match="greedy"):
        Rig(replace(OPTIONS, verifier="psychic"))


@given(st.lists(said.filter(bool), min_size=1, max_size=4))
@settings(max_examples=25, deadline=None)
def test_every_token_chosen_in_a_turn_was_committed_or_rejected(prompts: list[str]) -> None:
    outs = Rig(replace(OPTIONS, memory=1, continuations=0)).turn(*prompts)
    rejected = sum(verdict.of - verdict.accepted for verdict in of(Verdict, outs) if isinstance(verdict, Verdict))
    reply = one(ReplyFinished, outs)
    assert isinstance(reply, ReplyFinished)
    assert reply.generated == reply.tokens + rejected


def test_a_candidate_comes_back_with_its_prompt_at_no_forward() -> None:
    rig = Rig()
    rig.send(TurnStarted(turn=1))
    first, *_, again = [
        one(Verdict, rig.send(Transcript(tentative=prompt, unfinished=False)))
        for prompt in ("what is", "what is the", "the sun", "what is")
    ]
    assert isinstance(first, Verdict)
    assert isinstance(again, Verdict)
    assert first.forwards > 0
    assert (again.outcome, again.forwards) == ("accept", 0)


def test_a_change_of_verifier_verifies_again() -> None:
    rig = Rig(replace(OPTIONS, verifier="top5"))
    rig.send(TurnStarted(turn=1), *(Transcript(tentative=said, unfinished=False) for said in ("what", "what is")))
    outs = rig.send(Configure(verifier="greedy"), Transcript(stable="what is", final=True))
    reply = one(ReplyFinished, outs)
    assert isinstance(reply, ReplyFinished)
    assert reply.lossless
    assert reply.forwards > 0


def test_without_preemption_old_input_is_worked_off() -> None:
    outs = Rig(replace(OPTIONS, preempts=False)).send(
        TurnStarted(turn=1), Transcript(tentative="what is", unfinished=False), stale=stale_after(3)
    )
    assert of(Verdict, outs)


@pytest.mark.parametrize("more", [None, " and so on"], ids=["taken back", "gone on with"])
def test_a_newer_word_does_not_wait_until_the_words_before_it_are_read(more: str | None) -> None:
    """What is read when it comes is read to the end of the piece, and nothing twice."""
    heard: list[Listener] = []
    pieces: list[int] = []
    pasted = Transcript(turn=1, revision=1, tentative=" ".join(["cat"] * 900), unfinished=False)
    newer = Transcript(turn=1, revision=2, tentative="hi" if more is None else pasted.text + more, unfinished=False)

    def lend(model: str, engine: str, threads: int | None, length: int, halt: Stale) -> LoadedModel:
        loaded = load(model, engine, threads, length, halt)
        evaluate = loaded.model._evaluate  # type: ignore[attr-defined]

        def evaluating(tokens: Sequence[int]) -> object:
            pieces.append(len(tokens))
            if heard and len(pieces) == 2:
                heard[0](newer)
            return evaluate(tokens)

        loaded.model._evaluate = evaluating  # type: ignore[attr-defined]
        return loaded

    stage = SpeculationStage(replace(OPTIONS, model="pocket", engine="numpy"), lend)
    assert list(stage.open(StageContext(VirtualClock(), never, logging.getLogger("test"), heard.append)))
    pieces.clear()
    list(stage.handle(TurnStarted(turn=1)))
    pieces.clear()
    assert list(stage.handle(pasted)) == []
    assert len(pieces) == 2
    read = sum(pieces)
    pieces.clear()
    assert of(Candidate, stage.handle(newer))
    prompt = stage._parts.window.tokens((), newer.prompt)
    assert sum(pieces) <= len(prompt) - (read if more else 0) + OPTIONS.candidate_tokens
    stage.close()


def test_a_spoken_turn_tells_how_likely_it_is_over_and_a_typed_one_does_not() -> None:
    for source, told in (("voice", ["what is the sun", "what is the sun made"]), ("typed", [])):
        rig = Rig()
        said = [Transcript(tentative=text, unfinished=False) for text in ("what is the sun", "what is the sun made")]
        final = Transcript(stable="what is the sun made", final=True)
        events = rig.send(TurnStarted(turn=1, source=source), *said, final)  # type: ignore[arg-type]
        assert [event.prompt for event in events if isinstance(event, EndOfTurn)] == told
        finished = one(ReplyFinished, events)
        assert isinstance(finished, ReplyFinished)
        assert finished.text == plain_text(final.text)


def test_a_conversation_that_goes_on_is_read_before_anybody_types() -> None:
    """The next turn evaluates nothing of it, and is answered as if it had never been left."""
    exchanges = (Exchange("is it", "No. It is not."), Exchange("why", "Since it is so.", True, "Since"))
    resumed, plain = Rig(), Rig()
    resumed.send(Resumed(turn=1, exchanges=exchanges))
    counters = resumed.stage._parts.loaded.model.counters
    read = counters.tokens
    start = TurnStarted(turn=2, history=Resumed(exchanges=exchanges).history)
    resumed.send(start)
    assert counters.tokens - read <= 1
    last = Transcript(stable="what is the sun", final=True)
    replies = [
        event.text for rig in (resumed, plain) for event in rig.send(start, last) if isinstance(event, ReplyFinished)
    ]
    assert len(replies) == 2
    assert replies[0] == replies[1]


def test_notes_are_looked_up_at_every_prompt_and_the_reply_names_those_of_the_last(tmp_path: Path) -> None:
    (tmp_path / "sun.md").write_text("the sun is made of hydrogen")
    (tmp_path / "moon.md").write_text("the moon is a stone")
    rig = Rig(replace(OPTIONS, notes=str(tmp_path)))
    found = [
        event
        for event in rig.turn("what", "what is the sun", "what is the sun made", "what is the moon")
        if isinstance(event, Retrieved)
    ]
    assert [event.notes for event in found] == [(), ("sun.md",), ("sun.md",), ("moon.md",)]
    assert [(event.count, event.held) for event in found] == [(1, 0), (2, 0), (3, 1), (4, 1)]
    assert [event.final for event in found] == [False, False, False, True]
    assert "hydrogen" in rig.prompted("what is the sun")


def test_a_folder_without_notes_is_a_notice_and_the_turn_is_answered(tmp_path: Path) -> None:
    rig = Rig(replace(OPTIONS, notes=str(tmp_path / "nowhere")))
    assert [event.severity for event in rig.opening if isinstance(event, Notice)] == ["warning"]
    assert isinstance(rig.turn("what is the sun")[-1], ReplyFinished)


def test_a_draft_learns_between_turns_and_not_while_one_is_under_way(tmp_path: Path) -> None:
    learnt = tmp_path / "learnt"
    options = replace(OPTIONS, continuations=0, decoding=DecodingOptions("speculative", "osd", learnt=str(learnt)))
    stage = SpeculationStage(options, draft_loader=lambda *_: load("2", engine="scripted"))
    rig = Rig.__new__(Rig)
    rig.stale, rig.stage = never, stage
    list(stage.open(StageContext(VirtualClock(), lambda: rig.stale(), logging.getLogger("test"))))
    (learner,) = stage._parts.decoding.learners
    assert stage.tick is None
    rig.send(TurnStarted(turn=1), Transcript(turn=1, revision=1, tentative="what is the", unfinished=False))
    assert stage.tick is None, "somebody types"
    rig.send(Transcript(turn=1, revision=2, stable="what is the sun", final=True))
    assert stage.tick
    pieces = 0
    while stage.tick and pieces < 3:
        pieces += not list(stage.idle())
    studied = learner.adapter.weights["copy"].copy()  # type: ignore[attr-defined]
    rig.send(TurnStarted(turn=2))
    assert stage.tick is None
    list(stage.idle())
    assert (learner.adapter.weights["copy"] == studied).all()  # type: ignore[attr-defined]
    rig.send(Transcript(turn=2, revision=1, stable="why", final=True))
    rig.stale = lambda: True
    list(stage.idle())
    assert stage.tick is None, "what has come is handled first"
    rig.stale = never
    rig.send(Transcript(turn=2, revision=2, stable="why not", final=True))
    while stage.tick:
        list(stage.idle())
    assert learner.studied  # type: ignore[attr-defined]
    stage.close()
    assert [*learnt.iterdir()]


def test_what_cannot_be_read_of_what_was_learnt_is_told(tmp_path: Path) -> None:
    options = replace(OPTIONS, decoding=DecodingOptions("speculative", "osd", learnt=str(tmp_path / "learnt")))

    def opened() -> list[Event]:
        stage = SpeculationStage(options, draft_loader=lambda *_: load("2", engine="scripted"))
        told = list(stage.open(StageContext(VirtualClock(), never, logging.getLogger("test"))))
        list(stage.handle(Transcript(turn=1, revision=1, stable="why", final=True)))
        while stage.tick is not None:
            list(stage.idle())
        stage.close()
        return [event for event in told if isinstance(event, Notice) and "set aside" in event.text]

    assert not opened()
    (file,) = (tmp_path / "learnt").iterdir()
    file.write_bytes(b"damaged")
    assert len(opened()) == 1
    assert not opened()
