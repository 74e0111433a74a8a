"""The tts stage: released only when committed, once computed never again, resumable where it stopped."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui.clock import VirtualClock
from predtui.errors import PredtuiError
from predtui.llm.base import Counters
from predtui.state.events import (
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
    StageStatus,
    Synthesis,
    TurnStarted,
)
from predtui.state.stage import StageContext
from predtui.tts.base import SpeechState
from predtui.tts.cache import KEPT_SENTENCES
from predtui.tts.script import Script
from predtui.tts.stage import TtsStage
from tests.tts.idle import given as given_to


@dataclass(frozen=True)
class Place:
    """How far into its text a speech is, and how much memory that is said to take."""

    text: str
    at: int
    nbytes: int = 1000


class Spelling(Iterator[bytes]):
    def __init__(self, speller: Speller, text: str, at: int) -> None:
        self.speller, self.text, self.at = speller, text, at
        self.thought = False

    def __next__(self) -> bytes:
        if self.at == len(self.text):
            raise StopIteration
        self.thought = not self.thought
        if self.thought:
            self.speller.thinks()
            return b""
        if self.text[self.at] in self.speller.refuses:
            raise PredtuiError("no questions.")
        self.speller.counters.forwards += 1
        self.at += 1
        return self.text[self.at - 1].encode() * 2

    def save(self) -> Place:
        return Place(self.text, self.at)


class Speller:
    """One chunk a letter, after a moment's thought; counts what it makes; fails on what it refuses."""

    def __init__(self, rate: int = 1000, refuses: str = "?") -> None:
        self.rate, self.refuses = rate, refuses
        self.counters = Counters()
        self.thinks: Callable[[], None] = lambda: None
        self.followed: list[tuple[str, str]] = []
        self.title = "Speller · letters"
        self.advice = "speak up."

    def synthesize(self, text: str, state: SpeechState | None = None, after: SpeechState | None = None) -> Spelling:
        if isinstance(after, Place):
            self.followed.append((text, after.text))
        return Spelling(self, text, state.at if isinstance(state, Place) else 0)

    @property
    def made(self) -> int:
        return self.counters.forwards

    def close(self) -> None:
        pass


class Bench:
    """A stage that opens, with what it said then. ``options`` are the stage's."""

    def __init__(self, **options: Any) -> None:
        self.speller = Speller()
        self.spare = Speller(rate=500, refuses="")
        self.stale = False
        self.stale_after: int | None = None
        self.stage = TtsStage(lambda: self.speller, **options)
        self.clock = VirtualClock()
        context = StageContext(self.clock, self._is_stale, logging.getLogger("test"))
        self.opening = list(self.stage.open(context))

    @classmethod
    def spared(cls) -> Bench:
        bench = cls(make_spare=lambda: bench.spare)
        return bench

    def _is_stale(self) -> bool:
        return self.stale or (self.stale_after is not None and self.speller.made >= self.stale_after)

    def send(self, event: Event) -> list[Event]:
        """What comes of it, and of the idle time after it, until something stale would be worked on."""
        return given_to(self.stage, event, self._is_stale)


@pytest.fixture
def bench() -> Bench:
    return Bench()


def closed(events: list[Event]) -> bool:
    chunks = [event for event in events if isinstance(event, SpeechChunk)]
    return [chunk.last for chunk in chunks] == [False] * (len(chunks) - 1) + [True]


def notices(events: list[Event]) -> str:
    return " ".join(event.text for event in events if isinstance(event, Notice))


def spoken(events: list[Event]) -> str:
    return b"".join(e.pcm for e in events if isinstance(e, SpeechChunk)).decode()[::2]


def test_a_guess_makes_no_sound(bench: Bench) -> None:
    events = bench.send(SentenceAhead(turn=1, revision=1, text="abc"))
    assert events == [
        *(SpeechReady(text="abc", seconds=0.001, chunks=1), Synthesis(ready=1, forwards=1)),
        *(SpeechReady(text="abc", seconds=0.003, complete=True, chunks=3), Synthesis(ready=3, forwards=3)),
    ]


def test_the_first_sound_of_every_sentence_comes_before_more_of_any(bench: Bench) -> None:
    events = bench.send(SentenceAhead(turn=1, revision=1, text="abc", others=("de", "f")))
    ready = [(event.text, event.chunks) for event in events if isinstance(event, SpeechReady)]
    assert ready == [("abc", 1), ("de", 1), ("f", 1), ("abc", 3), ("de", 2), ("f", 1)]
    made = bench.speller.made
    assert spoken(bench.send(ReplyCommitted(turn=1, revision=2, text="de"))) == "de"
    assert bench.speller.made == made


def test_a_sentence_that_comes_to_be_likelier_is_worked_on_at_once(bench: Bench) -> None:
    list(bench.stage.handle(SentenceAhead(turn=1, revision=1, text="abc", others=("de",))))
    list(bench.stage.idle())  # a thought of a
    bench.send(SentenceAhead(turn=1, revision=2, text="de", others=("abc",)))
    assert bench.speller.made == 5
    assert spoken(bench.send(ReplyCommitted(turn=1, revision=3, text="abc"))) == "abc"
    assert bench.speller.made == 5


def test_what_is_made_in_case_it_is_spoken_instead_stops_where_it_never_is(bench: Bench) -> None:
    bench.speller.thinks = lambda: bench.clock.advance(1.0)

    def made(turns: range, spoken: str) -> int:
        """For one of three sentences of two letters each, turn by turn."""
        before = bench.speller.made
        for turn in turns:
            others = tuple(f"{first}{chr(97 + turn % 26)}" for first in "bc")
            bench.send(SentenceAhead(turn=turn, revision=1, text=f"a{chr(97 + turn % 26)}", others=others))
            bench.send(ReplyCommitted(turn=turn, revision=2, text=f"{spoken}{chr(97 + turn % 26)}"))
        return bench.speller.made - before

    assert made(range(1, 27), "a") < 1.4 * 26 * 2
    assert made(range(27, 27 + 52), "b") > 0.8 * 52 * 6


def test_no_room_for_another_sentence_costs_the_likeliest_nothing() -> None:
    bench = Bench(memory_mb=0)
    bench.send(SentenceAhead(turn=1, revision=1, text="abc", others=("de",)))
    made = bench.speller.made
    assert made == 4  # and no more, however long there is nothing else to do
    assert spoken(bench.send(ReplyCommitted(turn=1, revision=2, text="abc"))) == "abc"
    assert bench.speller.made == made


def test_a_commit_plays_what_was_made_and_makes_nothing_again(bench: Bench) -> None:
    bench.send(SentenceAhead(turn=1, revision=1, text="abc"))
    made = bench.speller.made
    events = bench.send(ReplyCommitted(turn=1, revision=2, index=0, text="abc"))
    assert spoken(events) == "abc"
    assert bench.speller.made == made
    assert closed(events)
    assert events[-1] == Synthesis(released=3, forwards=3)


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
        bench.send(SentenceAhead(turn=1, revision=number, text=f"s{chr(97 + number)}"))
    made = bench.speller.made
    bench.send(ReplyCommitted(turn=1, revision=99, text=f"s{chr(96 + 3 * KEPT_SENTENCES)}"))
    assert bench.speller.made == made
    bench.send(ReplyCommitted(turn=1, revision=99, text="sa"))
    assert bench.speller.made == made + 2


def test_an_engine_that_fails_costs_a_notice_not_the_turn(bench: Bench) -> None:
    assert "no questions" in notices(bench.send(SentenceAhead(turn=1, revision=1, text="why?")))
    events = bench.send(ReplyCommitted(turn=1, revision=2, text="why?"))
    assert closed(events)
    assert any(isinstance(e, Notice) and "unspoken" in e.text for e in events)


def test_another_engine_speaks_where_the_first_fails() -> None:
    bench = Bench.spared()
    assert "no questions" in notices(bench.send(SentenceAhead(turn=1, revision=1, text="why?")))
    events = bench.send(ReplyCommitted(turn=1, revision=2, text="why?"))
    assert spoken(events) == "why?"
    assert not notices(events)
    assert {event.rate for event in events if isinstance(event, SpeechChunk) and event.pcm} == {500}
    events = bench.send(ReplyCommitted(turn=1, revision=2, index=1, text="what? else"))
    assert spoken(events) == "whatwhat? else"  # from its beginning: words broken off would mislead
    assert "eSpeak NG says this sentence" in notices(events)
    assert closed(events)
    assert spoken(bench.send(ReplyCommitted(turn=1, revision=2, index=2, text="fine"))) == "fine"
    assert bench.spare.made == 4 + 10


def test_an_engine_that_cannot_be_opened_is_replaced() -> None:
    spare = Speller()

    def broken() -> Speller:
        raise PredtuiError("model.safetensors is damaged.")

    stage = TtsStage(broken, lambda: spare)
    opening = list(stage.open(StageContext(VirtualClock(), lambda: False, logging.getLogger("test"))))
    assert "damaged. eSpeak NG speaks instead" in notices(opening)
    assert spoken(list(stage.handle(ReplyCommitted(turn=1, text="abc")))) == "abc"
    with pytest.raises(PredtuiError, match="damaged"):
        list(TtsStage(broken).open(StageContext(VirtualClock(), lambda: False, logging.getLogger("test"))))


def test_what_an_engine_has_to_say_of_itself_is_told(bench: Bench) -> None:
    assert "speak up" in notices(bench.opening)
    assert bench.opening[-2] == StageStatus(stage="tts", message="Speller · letters", progress=1.0)


def test_no_more_is_made_ahead_than_asked_for() -> None:
    bench = Bench(ahead=2)
    assert bench.send(SentenceAhead(turn=1, revision=1, text="abcdef"))[-1] == Synthesis(ready=2, forwards=2)
    assert bench.speller.made == 2
    assert spoken(bench.send(ReplyCommitted(turn=1, revision=2, text="abcdef"))) == "abcdef"
    assert bench.speller.made == 6


def test_sentences_kept_share_a_budget_of_memory() -> None:
    bench = Bench(memory_mb=0)
    for text in ("old", "new"):
        bench.send(SentenceAhead(turn=1, revision=1, text=text))
    assert bench.speller.made == 6
    assert spoken(bench.send(ReplyCommitted(turn=1, revision=2, text="new"))) == "new"
    assert bench.speller.made == 6
    assert spoken(bench.send(ReplyCommitted(turn=1, revision=2, index=1, text="old"))) == "old"
    assert bench.speller.made == 9


def test_a_sentence_follows_the_one_before_it_in_the_reply(bench: Bench) -> None:
    for turn in (1, 2):
        bench.send(SentenceAhead(turn=turn, revision=1, text="one"))
        for index, text in enumerate(["one", "two", "three"]):
            bench.send(ReplyCommitted(turn=turn, revision=2, index=index, text=text))
    assert bench.speller.followed == [("two", "one"), ("three", "two")] * 2


@given(st.text("abc", min_size=1, max_size=8), st.integers(0, 9), st.lists(st.text("abc", max_size=4), max_size=4))
def test_a_sentence_is_whole_however_its_making_was_interrupted(text: str, made: int, others: list[str]) -> None:
    bench = Bench()
    bench.stale_after = made
    bench.send(SentenceAhead(turn=1, revision=1, text=text))
    bench.stale_after = None
    for other in others:
        bench.send(SentenceAhead(turn=1, revision=2, text=other))
    assert spoken(bench.send(ReplyCommitted(turn=1, revision=3, text=text))) == text
    assert bench.speller.made == len(text) + sum(map(len, {*others} - {text}))


def test_the_baseline_is_synthesised_afresh(bench: Bench) -> None:
    bench.send(SentenceAhead(turn=1, revision=1, text="abc"))
    made = bench.speller.made
    events = bench.send(Baseline(turn=1, revision=2, first_sentence="abc"))
    assert isinstance(events[0], BaselineSpeech)
    assert bench.speller.made == made + 1


def test_the_next_turn_ends_the_baseline_before_its_next_chunk(bench: Bench) -> None:
    """It is told to the stage for that alone: sentences of the turn may be long in coming."""
    assert TurnStarted in TtsStage.accepts
    assert bench.send(TurnStarted(turn=2)) == []
    bench.stale = True
    made = bench.speller.made
    assert bench.send(Baseline(turn=1, revision=2, first_sentence="abc")) == []
    assert bench.speller.made == made


def test_what_is_spoken_is_what_is_meant(bench: Bench) -> None:
    assert spoken(bench.send(ReplyCommitted(turn=1, text="10^6"))) == "ten to the power of six"
    assert spoken(bench.send(ReplyCommitted(turn=1, index=1, text="`x`"))) == "x"


def test_the_users_pronunciations_hold_from_the_next_turn_on(tmp_path: Path) -> None:
    file = tmp_path / "pronunciations.toml"
    file.write_text('nginx = "engine x"\n')
    bench = Bench(script=Script(file))
    assert spoken(bench.send(ReplyCommitted(turn=1, text="nginx"))) == "engine x"
    file.write_text("nginx = engine ex\n")
    assert "pronunciations.toml is not valid TOML" in notices(bench.send(TurnStarted(turn=2)))
    assert bench.send(TurnStarted(turn=3)) == []
    assert spoken(bench.send(ReplyCommitted(turn=3, text="nginx"))) == "nginx"


def test_a_damaged_file_of_pronunciations_is_told_once_and_speech_goes_on(tmp_path: Path) -> None:
    file = tmp_path / "pronunciations.toml"
    file.write_text("one = two = three")
    bench = Bench(script=Script(file))
    assert notices(bench.opening).count("pronunciations.toml") == 1
    assert spoken(bench.send(ReplyCommitted(turn=1, text="one"))) == "one"
