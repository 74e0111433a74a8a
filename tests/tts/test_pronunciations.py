"""The user's pronunciations: whole words, in their case, by language; what is wrong is told, and the rest holds."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui.tts.pronunciations import NONE, Pronunciations, read
from predtui.tts.speakable import speakable

OWN = Pronunciations(
    {
        "": {
            "nginx": "engine x",
            "Reading": "Redding",
            "C++": "see plus plus",
            "tomato": "[[t@m'A:t@U]]",
            "GB": "gigs",
        },
        "de": {"Handy": "Händi"},
        "en-gb": {"schedule": "shedule"},
    }
)


@pytest.mark.parametrize(
    ("voice", "written", "said"),
    [
        ("en-us", "Use nginx.", "Use engine x."),
        ("en-us", "Nginx and NGINX", "Engine x and Engine x"),
        ("en-us", "Reading is reading.", "Redding is reading."),
        ("en-us", "nginxes stay", "nginxes stay"),
        ("en-us", "**nginx**, `nginx`", "engine x, engine x"),
        ("en-us", "I like C++.", "I like see plus plus."),
        ("en-us", "Tomato!", "[[t@m'A:t@U]]!"),
        ("en-us", "16 GB", "sixteen gigs"),
        ("en-us", "das Handy", "das Handy"),
        ("de", "das Handy", "das Händi"),
        ("en-us", "schedule", "schedule"),
        ("en-gb", "schedule", "shedule"),
    ],
)
def test_words_are_respelt(voice: str, written: str, said: str) -> None:
    assert speakable(written, voice, OWN) == said


def test_an_engine_without_phonemes_says_the_word_as_it_is_written() -> None:
    assert speakable("tomato nginx", "en-us", OWN.without_phonemes()) == "tomato engine x"


@given(st.text(max_size=100))
def test_any_text_is_survived(text: str) -> None:
    assert "\ue000" not in speakable(f"{text} nginx", "en-us", OWN)
    assert speakable(text, "en-us", NONE) == speakable(text, "en-us")


def test_a_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "pronunciations.toml"
    path.write_text('nginx = "engine x"\nnumber = 5\nempty = ""\n[DE]\nHandy = "Händi"\n', encoding="utf-8")
    words, problem = read(path)
    assert words.respelt == {"": {"nginx": "engine x"}, "de": {"Handy": "Händi"}}
    assert len(words) == 2
    assert "not used: number, empty." in problem


@pytest.mark.parametrize("content", [b"nginx = engine x", b"\xff\xfe", b"[" * 5000])
def test_what_is_no_toml_is_told_in_one_line(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "pronunciations.toml"
    path.write_bytes(content)
    words, problem = read(path)
    assert not len(words)
    assert problem.startswith(str(path))
    assert "as they are written" in problem
    assert "\n" not in problem


def test_a_file_that_is_not_there_is_no_problem(tmp_path: Path) -> None:
    assert read(tmp_path / "none.toml") == (NONE, "")
