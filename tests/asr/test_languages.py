"""Languages are named by code, by English name or by locale, and known before anything is heard."""

from __future__ import annotations

import re
from types import SimpleNamespace

import numpy as np
import pytest

from predtui.asr import faster_whisper, languages
from predtui.asr.faster_whisper import check, transcriber
from predtui.errors import PredtuiError
from predtui.settings import AsrSettings


@pytest.mark.parametrize(
    ("asked", "code"),
    [("de", "de"), ("German", "de"), (" DE ", "de"), ("de-AT", "de"), ("pt_BR", "pt"), ("yue", "yue"), ("auto", "auto"),
     ("mandarin", "zh"), ("no", "no")],
)  # fmt: skip
def test_a_language_by_any_of_its_names(asked: str, code: str) -> None:
    assert languages.code(asked) == code


@pytest.mark.parametrize(("asked", "hint"), [("germn", "german"), ("qqq", "Give a code"), ("", "Give a code")])
def test_what_is_no_language_is_told_with_the_nearest(asked: str, hint: str) -> None:
    with pytest.raises(PredtuiError) as error:
        languages.code(asked)
    assert hint in error.value.remedy


def test_the_codes_are_whispers() -> None:
    tokenizer = pytest.importorskip("faster_whisper.tokenizer")
    assert set(languages.CODES.values()) == set(tokenizer._LANGUAGE_CODES)


def test_a_wrong_language_is_told_before_a_checkpoint_is_looked_for() -> None:
    for start in (check, faster_whisper.load):
        with pytest.raises(PredtuiError, match="Whisper knows no language 'klingon'"):
            start(AsrSettings(engine="faster-whisper", model="no such size", language="klingon"))


def test_auto_leaves_it_to_the_engine() -> None:
    asked: list[str | None] = []

    def transcribe(samples: object, language: str | None, **_: object) -> tuple[list[SimpleNamespace], None]:
        asked.append(language)
        return [], None

    for language in ("auto", "de"):
        transcriber(SimpleNamespace(transcribe=transcribe), language)(np.zeros(16, np.float32), "")
    assert asked == [None, "de"]


def test_a_model_of_english_alone_is_told_from_one_of_many() -> None:
    assert languages.only_english("tiny.en", "en") is languages.only_english("tiny.en", "auto") is None
    wrong = languages.only_english("tiny.en", "de")
    assert wrong is not None
    assert re.search(r"tiny.en hears English only.*de", wrong.message)
