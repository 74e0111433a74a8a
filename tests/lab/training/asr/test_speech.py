"""Synthetic speech for training: what is said, when each word ends, and what rooms do to it."""

import multiprocessing
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from multiprocessing.pool import ThreadPool
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predtui.errors import PredtuiError
from predtui.lab.training.asr import corpus, sentences, sound
from predtui.lab.training.asr.batches import said
from predtui.lab.training.asr.corpus import build, manner, spoken_together
from predtui.lab.training.asr.speech import Manner, speak
from predtui.lab.training.asr.voices import TRAINED, UNHEARD

WORDS = ("what", "is", "the", "of", "capital", "and", "netherlands", "i", "am", "to", "you")


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """How often a word comes is counted in few sentences."""
    counted = 8000
    monkeypatch.setattr(sentences, "RARE", sentences.RARE * counted / sentences.COUNTED)
    monkeypatch.setattr(sentences, "COUNTED", counted)
    sentences._frequencies.cache_clear()
    yield
    sentences._frequencies.cache_clear()


@settings(max_examples=25, deadline=None)
@given(words=st.lists(st.sampled_from(WORDS), min_size=1, max_size=8), rate=st.integers(110, 220))
def test_every_word_has_its_time_in_order(words: list[str], rate: int) -> None:
    speech = speak(" ".join(words), Manner("en-us", rate))
    assert [word for word, _, _ in speech.words] == words
    times = [time for _, begin, end in speech.words for time in (begin, end)]
    assert times == sorted(times)
    assert times[0] >= 0
    assert times[-1] == pytest.approx(speech.seconds)


def test_every_voice_speaks_and_none_is_both_trained_and_held_out() -> None:
    assert not set(TRAINED) & set(UNHEARD)
    assert len(TRAINED) >= 20
    assert len(UNHEARD) >= 5
    for voice in (*TRAINED, *UNHEARD):
        assert speak("good morning", Manner(voice)).seconds > 0.3


def test_an_unknown_voice_is_named() -> None:
    with pytest.raises(PredtuiError, match="no voice 'xx-none'"):
        speak("hello", Manner("xx-none"))


def test_held_out_sentences_are_never_trained_and_all_words_are_known() -> None:
    drawn = sentences.sentences(0)
    trained = {next(drawn) for _ in range(2000)}
    heldout = sentences.heldout(50, 1)
    assert len(set(heldout)) == 50
    assert len(trained & set(heldout)) <= 1  # two intents may share a short wording
    assert all(sentences.known().issuperset(text.split()) for text in (*trained, *heldout))


def test_rare_words_come_more_often_in_what_is_taught(few: None) -> None:
    plain, taught = (
        Counter(word for text in islice(draw(0), 600) for word in set(text.split()))
        for draw in (sentences.sentences, sentences.varied)
    )
    assert len(taught) > 1.1 * len(plain)
    assert list(islice(sentences.varied(1), 20)) == list(islice(sentences.varied(1), 20))


@pytest.mark.parametrize("seed", range(8))
def test_rooms_and_noises_keep_length_and_range(seed: int) -> None:
    rng = np.random.default_rng(seed)
    samples, words = spoken_together(["what is the capital of france"], manner(TRAINED, rng), rng)
    heard = sound.recorded(samples, rng)
    assert heard.shape == samples.shape
    assert np.abs(heard).max() <= 1.0
    assert words[-1][2] <= len(samples) / 16_000
    silent = sound.wordless(1.0, rng)
    assert np.isfinite(silent).all()
    assert len(silent) == 16_000


def test_a_crop_says_what_is_heard_in_it() -> None:
    words = (("a", 0.0, 0.5), ("b", 0.5, 1.0), ("c", 1.0, 2.0))
    assert said(words, 0.0, 2.0) == ("a b c", "")
    assert said(words, 0.48, 1.5) == ("b", "a")
    assert said(words, 0.5, 1.9) == ("b c", "a")
    assert said(words, 1.2, 2.0) == ("", "a b c")


def test_the_corpus_says_what_its_seed_says(
    few: None, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    monkeypatch.setattr(corpus, "CHUNK", 8)
    monkeypatch.setattr(multiprocessing, "get_context", lambda kind: SimpleNamespace(Pool=ThreadPool))
    one, two = (build(tmp_path_factory.mktemp("corpus"), 16, seed=3, workers=1) for _ in range(2))
    assert len(one) == len(two) == 16
    assert [[word for word, _, _ in words] for _, _, words in one.spans] == [
        [word for word, _, _ in words] for _, _, words in two.spans
    ]
    assert one.spans[-1][1] == len(one.frames) == pytest.approx(len(two.frames), rel=0.01)
