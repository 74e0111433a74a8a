"""The tts stage: released only when committed, once computed never again, resumable where it stopped."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from predtui.clock import VirtualClock
from predtui.errors import PredtuiError
from predtui.events import (
    Baseline,
    BaselineSpeech,
    Event,
    Interrupt,
    Notice,
    ReplyCommitted,
    ReplyFinished,
    SentenceAhead,
    SpeechChunk,
    SpeechEnd,
    SpeechReady,
)
from predtui.stage import StageContext
from predtui.tts.stage import KEPT_SENTENCES, TtsStage


class Speller:
    """One chunk a letter; counts what it makes; fails on a question mark."""

    rate = 1000

    def __init__(self) -> None:
        self.made = 0

    def synthesize(self, text: str) -> Iterator[bytes]:
        for letter in text:
            if letter == "?":
                raise PredtuiError("no questions.")
            self.made += 1
            yield letter.encode() * 2

    def close(self) -> None:
        pass


class Bench:
    def __init__(self) -> None:
        self.speller = Speller()
        self.stale = False
        self.stale_after: int | None = None
        self.stage = TtsStage(lambda: self.speller)
        context = StageContext(VirtualClock(), self._is_stale, logging.getLogger("test"))
        list(self.stage.open(context))
        self.speller.made = 0

    def _is_stale(self) -> bool:
        return self.stale or (self.stale_after is not None and self.speller.made >= self.stale_after)

    def send(self, event: Event) -> list[Event]:
        return list(self.stage.handle(event))


@pytest.fixture
def bench() -> Bench:
    return Bench()


def spoken(events: list[Event]) -> str:
    return b"".join(e.pcm for e in events if isinstance(e, SpeechChunk)).decode()[::2]


def test_a_guess_makes_no_sound(bench: Bench) -> None:
    events = bench.send(SentenceAhead(turn=1, revision=1, text="abc"))
    assert [type(e) for e in events] == [SpeechReady]
    assert events[0] == SpeechReady(text="abc", seconds=0.003, complete=True)


def test_a_commit_plays_what_was_made_and_makes_nothing_again(bench: Bench) -> None:
    bench.send(SentenceAhead(turn=1, revision=1, text="abc"))
    made = bench.speller.made
    events = bench.send(ReplyCommitted(turn=1, revision=2, index=0, text="abc"))
    assert spoken(events) == "abc"
    assert bench.speller.made == made
    assert isinstance(events[-1], SpeechChunk)
    assert events[-1].last


def test_a_guess_cut_short_is_resumed_by_its_commit(bench: Bench) -> None:
    bench.stale_after = 2
    bench.send(SentenceAhead(turn=1, revision=1, text="abcdef"))
    assert bench.speller.made == 2
    bench.stale_after = None
    assert spoken(bench.send(ReplyCommitted(turn=1, revision=2, text="abcdef"))) == "abcdef"
    assert bench.speller.made == 6


def test_a_commit_never_seen_before_is_spoken(bench: Bench) -> None:
    assert spoken(bench.send(ReplyCommitted(turn=1, revision=2, text="xyz"))) == "xyz"


def test_an_interrupted_turn_is_silent_for_good(bench: Bench) -> None:
    bench.send(Interrupt(turn=1, revision=5))
    assert bench.send(ReplyCommitted(turn=1, revision=4, text="late")) == []
    assert bench.send(ReplyFinished(turn=1, revision=4)) == []
    assert spoken(bench.send(ReplyCommitted(turn=2, revision=1, text="new"))) == "new"


def test_stale_speech_stops_between_chunks(bench: Bench) -> None:
    bench.stale = True
    assert bench.send(ReplyCommitted(turn=1, revision=2, text="abc")) == []


def test_the_end_is_told(bench: Bench) -> None:
    assert bench.send(ReplyFinished(turn=1, revision=2)) == [SpeechEnd()]


def test_few_guesses_are_kept(bench: Bench) -> None:
    for number in range(3 * KEPT_SENTENCES):
        bench.send(SentenceAhead(turn=1, revision=number, text=f"s{number}"))
    made = bench.speller.made
    bench.send(ReplyCommitted(turn=1, revision=99, text=f"s{3 * KEPT_SENTENCES - 1}"))
    assert bench.speller.made == made
    bench.send(ReplyCommitted(turn=1, revision=99, text="s0"))
    assert bench.speller.made == made + 2


def test_an_engine_that_fails_costs_a_notice_not_the_turn(bench: Bench) -> None:
    assert isinstance(bench.send(SentenceAhead(turn=1, revision=1, text="why?"))[0], Notice)
    events = bench.send(ReplyCommitted(turn=1, revision=2, text="why?"))
    assert isinstance(events[-1], SpeechChunk)
    assert events[-1].last
    assert any(isinstance(e, Notice) for e in events)


def test_the_baseline_is_synthesised_afresh(bench: Bench) -> None:
    bench.send(SentenceAhead(turn=1, revision=1, text="abc"))
    made = bench.speller.made
    events = bench.send(Baseline(turn=1, revision=2, first_sentence="abc"))
    assert isinstance(events[0], BaselineSpeech)
    assert bench.speller.made == made + 1
