"""The trigram model: probabilities sum to one, pocketsphinx reads what is written, every word can be pronounced."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predtui.lab.training import arpa
from predtui.lab.training.pronounce import phones, pronounce
from predtui.lab.training.recogniser import background, build, dictionary, spoken

WORDS = ["what", "is", "the", "capital", "of", "france"]
GENERAL = dict.fromkeys([*WORDS, "weather", arpa.END], 1 / 8)
corpora = st.lists(st.lists(st.sampled_from(WORDS), max_size=6), min_size=1, max_size=12)


@given(corpora, st.integers(1, 3))
@settings(deadline=None)
def test_every_history_leads_somewhere_with_certainty(corpus: list[list[str]], cutoff: int) -> None:
    model = arpa.estimate(corpus, GENERAL, cutoff)
    histories = {(), *model.weights, ("weather",), ("weather", "weather")}
    for history in histories:
        assert sum(10 ** model.log10(word, history) for word in GENERAL) == pytest.approx(1.0)


def test_what_was_seen_is_likelier_and_nothing_impossible() -> None:
    model = arpa.estimate([["what", "is", "the", "capital"]] * 5, GENERAL)
    assert model.log10("capital", ("is", "the")) > math.log10(0.7)
    assert -4 < model.log10("weather", ("is", "the")) < -3


def test_an_unknown_word_is_an_error() -> None:
    with pytest.raises(ValueError, match="'rome'"):
        arpa.estimate([["rome"]], GENERAL)


def test_no_sentences_are_an_error() -> None:
    with pytest.raises(ValueError, match="at least one sentence"):
        arpa.estimate([], GENERAL)


def test_rare_trigrams_are_left_to_the_backoff() -> None:
    model = arpa.estimate([["what", "is", "the"]] * 3 + [["what", "is", "france"]], GENERAL, cutoff=2)
    assert ("what", "is", "the") in model.grams[2]
    assert ("what", "is", "france") not in model.grams[2]
    assert model.log10("the", ("what", "is")) > model.log10("france", ("what", "is")) > model.log10("of", ("is",))


def test_pocketsphinx_reads_the_same_probabilities(tmp_path: Path) -> None:
    from pocketsphinx import Config, LogMath, NGramModel

    model = arpa.estimate([["what", "is", "the", "capital"], ["the", "weather", "is", "the", "capital"]], GENERAL)
    path = tmp_path / "a.arpa"
    path.write_text(model.arpa())
    logs = LogMath(1.0001)
    read = NGramModel(Config(lw=1.0, wip=1.0), logs, str(path))
    for history in [(), ("the",), ("is", "the"), ("france", "the"), ("weather",)]:
        for word in WORDS:
            expected = 10 ** model.log10(word, history)
            assert logs.exp(read.prob([word, *reversed(history)])) == pytest.approx(expected, rel=0.01)


def test_ipa_becomes_cmu_phonemes() -> None:
    assert phones("tʃˈɪkpiːz") == "CH IH K P IY Z"
    with pytest.raises(ValueError, match="no English phoneme"):
        phones("ʘa")


def test_words_are_pronounced_as_the_dictionary_does() -> None:
    assert pronounce("cat") == "K AE T"
    assert pronounce("shopping") == "SH AA P IH NG"
    assert pronounce("kitchen") == "K IH CH AH N"


def test_spoken() -> None:
    assert spoken("What's 47 + 3, in São Tomé?") == ["what's", "forty", "seven", "plus", "three", "in", "sao", "tome"]


def test_the_background_is_a_distribution() -> None:
    mixed = background({"a", "b"}, {"b": 0.25, "c": 0.75}, 0.5)
    assert sum(mixed.values()) == pytest.approx(1.0)
    assert mixed["b"] == pytest.approx(0.5 / 3 + 0.125)


def test_every_word_of_the_model_can_be_pronounced() -> None:
    model, added = build(1500, seed=3)
    known = dictionary()
    words = {word for (word,) in model.grams[0]} - {arpa.BEGIN, arpa.END}
    assert words <= known | set(added)
    assert not known & set(added)
    assert {"capital", "france"} <= words
    assert all(sound.isalpha() and sound.isupper() for sounds in added.values() for sound in sounds.split())
