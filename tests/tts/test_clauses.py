"""Clause-wise speech: nothing of the text is lost, stopping changes nothing, joints do not click."""

from __future__ import annotations

import logging

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui.clock import VirtualClock
from predtui.state.events import Event, ReplyCommitted, SentenceAhead, SpeechChunk
from predtui.state.stage import StageContext
from predtui.tts import clauses as parts
from predtui.tts.clauses import LONGEST, ClauseSynthesizer, Left, Samples, clauses, pause, shaped
from predtui.tts.stage import TtsStage
from tests.tts.idle import given as given_to

SENTENCE = "If you leave the oven open, the bread will cool; its crust stays crisp, as it should."
CLAUSES = ["If you leave the oven open,", "the bread will cool;", "its crust stays crisp,", "as it should."]
texts = st.text(alphabet=st.sampled_from("ab , ;.!?—、。é"), max_size=700)


class Tone:
    """A tone as loud as it gets from the first sample to the last, the worst there is to join: ``each_s`` of the clock
    a character, ten milliseconds of sound."""

    rate = 8000
    title, language = "Tone", "en-us"

    def __init__(self, each_s: float = 0.001) -> None:
        self.said: list[str] = []
        self.now, self._each_s = 0.0, each_s

    def say(self, clause: str) -> Samples:
        self.said.append(clause)
        self.now += self._each_s * len(clause)
        return np.full(80 * len(clause), 1.0 if len(clause) % 2 else -1.0, dtype=np.float32)


def speaking(voice: Tone) -> ClauseSynthesizer:
    return ClauseSynthesizer(voice, lambda: voice.now)


def heard(pcm: bytes) -> Samples:
    return np.frombuffer(pcm, dtype="<i2").astype(np.float32)


@given(text=texts, most=st.integers(0, 300))
def test_no_character_of_a_text_is_lost_and_no_part_is_too_long(text: str, most: int) -> None:
    found = list(clauses(text, most))
    assert "".join("".join(found).split()) == "".join(text.split())
    assert all(0 < len(part) <= max(most, LONGEST) for part in found)


def test_parts_end_where_clauses_do_and_as_many_as_fit_are_said_together() -> None:
    assert list(clauses(SENTENCE, 0)) == CLAUSES
    assert list(clauses(SENTENCE, 50)) == [" ".join(CLAUSES[:2]), " ".join(CLAUSES[2:])]
    assert list(clauses(SENTENCE, 200)) == [SENTENCE]
    assert list(clauses("Dr. Smith has 3.5 litres", 0)) == ["Dr. Smith has 3.5 litres"]


def test_only_a_sentence_that_takes_longer_than_a_tenth_of_a_second_is_cut() -> None:
    for each_s, whole in ((0.0001, True), (0.01, False)):
        voice = Tone(each_s)
        engine = speaking(voice)
        list(engine.synthesize("Ready"))
        list(engine.synthesize(SENTENCE))
        assert voice.said[1:] == ([SENTENCE] if whole else CLAUSES)


@given(stops=st.lists(st.integers(0, 60), max_size=6))
def test_a_sentence_that_is_stopped_and_resumed_is_the_uninterrupted_one(stops: list[int]) -> None:
    voice = Tone()
    engine = speaking(voice)
    whole = b"".join(engine.synthesize(SENTENCE))
    made, pieces = len(voice.said), b""
    speech = engine.synthesize(SENTENCE, Left(tuple(CLAUSES)))
    for stop in stops:
        pieces += b"".join(chunk for _, chunk in zip(range(stop), speech, strict=False))
        state = speech.save()
        assert state.nbytes == len(state.pcm)
        speech = engine.synthesize(SENTENCE, state)
    assert pieces + b"".join(speech) == whole
    assert voice.said[made:] == CLAUSES


def test_saving_makes_nothing() -> None:
    voice = Tone()
    speech = speaking(voice).synthesize(SENTENCE)
    next(speech)
    state = speech.save()
    assert (voice.said, state.clauses) == (CLAUSES[:1], tuple(CLAUSES[1:]))


def test_clauses_and_sentences_are_joined_without_a_click() -> None:
    engine = speaking(Tone())
    sound = heard(b"".join([*engine.synthesize(SENTENCE), *engine.synthesize("And now, this?")]))
    steepest = 32767 * np.pi / 2 / (parts.FADE_S * engine.rate)
    assert np.abs(np.diff(sound)).max() <= 1.05 * steepest
    assert abs(sound[0]) <= steepest
    assert sound[-1] == 0
    assert np.abs(sound).max() > 32000


@given(body=st.lists(st.floats(-1, 1, width=32), max_size=300), before=st.integers(0, 4000), after=st.integers(0, 4000))
def test_silence_at_the_ends_is_dropped_and_the_pause_is_the_marks(body: list[float], before: int, after: int) -> None:
    rate, tone = 8000, np.concatenate([[1.0], body, [1.0]]).astype(np.float32)
    sound = np.concatenate([np.zeros(before), tone, np.zeros(after)]).astype(np.float32)
    found = shaped(sound, rate, 0.25)
    margin = round(parts.MARGIN_S * rate)
    assert len(found) == len(tone) + min(before, margin) + min(after, margin) + 2000
    assert not found[-2000:].any()
    assert np.array_equal(shaped(np.zeros(after, np.float32), rate, 0.25), np.zeros(0))


def test_a_pause_is_as_long_as_its_mark_says() -> None:
    assert pause("word") == 0 < pause("and,") < pause("so;") < pause('"Yes."') == pause("Why?")


class Bench:
    """A stage over a slow voice; stale once so many clauses are made."""

    def __init__(self, stale_at: int = 10**6) -> None:
        self.voice, self.stale_at = Tone(0.01), stale_at
        self.stage = TtsStage(lambda: speaking(self.voice), ahead=1000)
        list(self.stage.open(StageContext(VirtualClock(), self._stale, logging.getLogger("test"))))
        self.voice.said.clear()

    def _stale(self) -> bool:
        return len(self.voice.said) >= self.stale_at

    def send(self, event: Event) -> bytes:
        return b"".join(one.pcm for one in given_to(self.stage, event, self._stale) if isinstance(one, SpeechChunk))


@pytest.mark.parametrize("fallen", [1, 2, 3])
def test_a_candidate_that_falls_stops_its_sentence_at_the_next_clause(fallen: int) -> None:
    bench = Bench(fallen)
    bench.send(SentenceAhead(turn=1, revision=1, text=SENTENCE))
    assert bench.voice.said == CLAUSES[:fallen]
    bench.stale_at = 10**6
    bench.send(ReplyCommitted(turn=1, revision=2, index=0, text=SENTENCE))
    assert bench.voice.said == CLAUSES


def test_a_candidate_that_comes_back_costs_nothing() -> None:
    bench = Bench()
    for text in (SENTENCE, "No.", SENTENCE, "No."):
        bench.send(SentenceAhead(turn=1, revision=1, text=text))
    assert bench.voice.said == [*CLAUSES, "No."]
    assert bench.send(ReplyCommitted(turn=1, revision=2, index=0, text=SENTENCE))
    assert bench.voice.said == [*CLAUSES, "No."]
