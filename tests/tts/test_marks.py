"""When words are said: in order, inside their sentence, and of the words that are written."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui.state.events import WordMark
from predtui.tts.base import Remainder
from predtui.tts.espeak import EspeakSynthesizer
from predtui.tts.marks import Alignment, MarkedSound
from predtui.tts.script import Script
from predtui.words import begins_word

TEXT = st.lists(st.sampled_from(["one", "two", "3", "$3.50", "Paris,", "巴黎", "--", "e.g."]), max_size=9).map(" ".join)
SPOKEN = tomllib.loads((Path(__file__).parent / "spoken.toml").read_text(encoding="utf-8"))
CASES = [(language, written) for language, kinds in SPOKEN.items() for kind in kinds.values() for written in kind]


def marks(sentence: str, engine: EspeakSynthesizer) -> tuple[list[WordMark], float]:
    """Of what is written, and the seconds of its sound."""
    spoken = Script().text(sentence, engine)
    alignment, told, length = Alignment(spoken, sentence), [], 0
    for chunk in engine.synthesize(spoken):
        assert isinstance(chunk, MarkedSound)
        length += len(chunk)
        told += map(alignment.written, chunk.words)
    return told, length / 2 / engine.rate


def words(sentence: str, told: list[WordMark]) -> list[str]:
    return [sentence[mark.at :].split()[0] for mark in told]


@given(TEXT, TEXT)
def test_what_is_written_is_gone_through_forwards(spoken: str, written: str) -> None:
    alignment = Alignment(spoken, written)
    told = [alignment.written(WordMark(at, float(at))) for at in range(len(spoken) + 3)]
    assert [mark.at for mark in told] == sorted(mark.at for mark in told)
    assert all(not written.strip() or begins_word(written, mark.at) for mark in told)


@given(TEXT)
def test_what_is_said_as_it_is_written_is_each_word_itself(text: str) -> None:
    starts = [at for at in range(len(text)) if begins_word(text, at)]
    alignment = Alignment(text, text)
    assert [alignment.written(WordMark(at)).at for at in starts] == starts


def test_a_sentence_is_marked_word_by_word() -> None:
    engine = EspeakSynthesizer()
    told, seconds = marks("The capital of France is Paris.", engine)
    assert words("The capital of France is Paris.", told) == ["The", "capital", "of", "France", "is", "Paris."]
    assert told[0].seconds < 0.05
    assert 0.5 * seconds < told[-1].seconds < seconds


def test_words_that_are_written_otherwise_than_they_are_said() -> None:
    text = "It costs $3.50 at 5 p.m. & more."
    told, _ = marks(text, EspeakSynthesizer())
    assert list(dict.fromkeys(words(text, told))) == text.split()


@pytest.mark.parametrize(("language", "written"), CASES[::16])
def test_marks_lie_in_their_sentence_in_order(language: str, written: str) -> None:
    told, seconds = marks(written, EspeakSynthesizer({"en": "en-us", "fr": "fr-fr"}.get(language, language)))
    assert [mark.seconds for mark in told] == sorted(mark.seconds for mark in told)
    assert all(0 <= mark.seconds <= seconds and 0 <= mark.at < len(written) for mark in told)


def test_marks_survive_a_sentence_that_is_parked() -> None:
    engine = EspeakSynthesizer()
    text = "The capital of France is Paris."
    said = [chunk.words for chunk in engine.synthesize(text) if isinstance(chunk, MarkedSound)]
    whole = [mark.at for words in said for mark in words]
    speech = engine.synthesize(text)
    first, state = next(speech), speech.save()
    assert isinstance(state, Remainder)
    again = [first, *engine.synthesize(text, state)]
    assert [mark.at for chunk in again if isinstance(chunk, MarkedSound) for mark in chunk.words] == whole
