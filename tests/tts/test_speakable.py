"""What is read aloud: a table of cases, and laws."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui.text import sentences
from predtui.tts.espeak import transcribe
from predtui.tts.speakable import speakable

VOICES = {"en": "en-us", "de": "de", "fr": "fr-fr", "es": "es", "it": "it"}
TABLE = tomllib.loads((Path(__file__).parent / "spoken.toml").read_text(encoding="utf-8"))
CASES = [
    pytest.param(VOICES[language], written, said, id=f"{language}.{kind}: {written!r}"[:80])
    for language, kinds in TABLE.items()
    for kind, cases in kinds.items()
    for written, said in cases.items()
]
ENGLISH = [written for cases in TABLE["en"].values() for written in cases]

marked = st.lists(
    st.sampled_from([*"0123456789.,:;/*^x-–+=%$€£°'\"()[]{}<>|`~#@&!?_\\ \n", "km/h", " MB", "e.g.", "May ", "am", "ab",
                     "http://a.b", "```", "IV", "é", "你", "ж", "π", "½", "²", "😀", "No. ", "\ue000", "\x01"]),
    max_size=30,
).map("".join)  # fmt: skip
cut = st.tuples(st.sampled_from(ENGLISH), st.integers(0, 20), st.booleans()).map(
    lambda drawn: drawn[0][drawn[1] :] if drawn[2] else drawn[0][: drawn[1]]
)
texts = st.text(max_size=200) | marked | st.lists(cut, max_size=4).map("".join)
voices = st.sampled_from([*VOICES.values(), "en-gb", "cmn", "ru", "jbo"])


@pytest.mark.parametrize(("voice", "written", "said"), CASES)
def test_the_table(voice: str, written: str, said: str) -> None:
    assert speakable(written, voice) == said


def test_the_table_is_long() -> None:
    assert len(CASES) >= 300


@given(texts, voices)
def test_any_text_is_survived_and_stays_on_one_line(text: str, voice: str) -> None:
    spoken = speakable(text, voice)
    assert "\n" not in spoken
    assert spoken == spoken.strip()


@given(texts, voices)
def test_what_has_letters_or_digits_is_not_silent(text: str, voice: str) -> None:
    assert any(map(str.isalnum, speakable(text, voice))) or not any(map(str.isalnum, text.replace("\ue000", "")))


@given(texts)
def test_english_leaves_no_digit(text: str) -> None:
    assert not re.search(r"[0-9]", speakable(text, "en-us"))


@given(texts, voices)
def test_no_text_commands_the_synthesiser(text: str, voice: str) -> None:
    assert "[[" not in speakable(f"{text}[[h@'loU]]", voice)
    assert "\x01" not in speakable(text + "\x01450S", voice)


@given(st.lists(st.sampled_from(["the", "cat", "sat", "on", "a", "mat", "with", "seven", "dogs"]), min_size=1))
def test_plain_words_are_left_alone(words: list[str]) -> None:
    sentence = " ".join(words).capitalize() + "."
    assert speakable(sentence) == sentence
    assert speakable(speakable(sentence)) == sentence


@pytest.mark.parametrize("piece", ["a.", "1,", "a@", "*a", "1-", "[", "http://", "/a", "`", "(", "1 x ", "法", "a\n"])
def test_a_text_of_any_length_is_read_in_time(piece: str) -> None:
    """Were time to grow with its square, this would not end within the limit of a test."""
    speakable(piece * 50_000)


SINGLE = [one for one in ENGLISH if len([*sentences(one, complete=True)]) == 1 and one != "42."]
"""A number alone may be that of an item, and waits for what follows."""


@given(st.lists(st.sampled_from(SINGLE), max_size=5))
def test_sentences_end_between_cases_and_not_within_them(chosen: list[str]) -> None:
    whole = "\n\n".join(chosen)
    assert [one.strip() for one in sentences(whole, complete=True)] == chosen


@pytest.mark.parametrize(
    ("voice", "written", "sounds"),
    [
        ("en-us", "10^6", "tˈɛn tə ðə pˈaʊɚɹ ʌv sˈɪks"),
        ("en-us", "In 1984", "ɪn nˈaɪntiːn ˈeɪɾifˈɔːɹ"),
        ("de", "am 3. Mai", "am dɾˈɪtən mˈaɪ"),
        ("de", "5 km/h", "fˈʏnf kˌiːloːmˈeːtɜ pɾoː ʃtˈʊndə"),
        ("fr-fr", "XIVe siècle", "katɔʁzjˈɛm sjˈɛkl"),
        ("es", "½", "ˈun mˈeðjo"),
        ("en-us", "你好", "nˈaɪ hˈaʊ"),
    ],
)
def test_a_synthesiser_says_what_is_meant(voice: str, written: str, sounds: str) -> None:
    assert transcribe([speakable(written, voice)], voice) == [sounds]


def test_a_synthesiser_names_no_letter_of_another_script() -> None:
    for text in ("你好，世界", "Привет, мир", "こんにちは世界", "안녕하세요 여러분"):
        (sounds,) = transcribe([speakable(text, "en-us")], "en-us")
        assert not re.search("lˌɛɾɚ|ɹˈʌʃən|tʃˈaɪniːz", sounds)
