"""Zonos as the app runs it: out of the settings, in its stage; whatever is wrong with it, the turn is spoken."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from predtui.clock import RealClock
from predtui.errors import PredtuiError
from predtui.settings import TtsSettings
from predtui.state.events import Event, Notice, ReplyCommitted, SentenceAhead, SpeechChunk, SpeechReady, Synthesis
from predtui.state.stage import StageContext
from predtui.tts.stage import TtsStage, create
from predtui.tts.zonos import speakers
from predtui.tts.zonos.load import emotions, load, manner_of
from predtui.tts.zonos.phonemes import phonemes
from predtui.tts.zonos.speech import Speech
from predtui.tts.zonos.synthesizer import EMOTIONS
from tests.tts.idle import given
from tests.tts.zonos import tiny_zonos

RATE = 1600
SENTENCE = "Good morning."


@pytest.fixture
def options(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> TtsSettings:
    monkeypatch.setenv("PREDTUI_CONFIG_DIR", str(tmp_path / "config"))
    published, codec = str(folder / "published"), str(folder / "codec")
    return TtsSettings(engine="zonos", model=published, codec=codec, seed=3, ahead=3)


def opened(options: TtsSettings) -> tuple[TtsStage, list[Event]]:
    stage = create(options)
    return stage, list(stage.open(StageContext(RealClock(), lambda: False, logging.getLogger("test"))))


def notices(events: list[Event]) -> str:
    return " ".join(event.text for event in events if isinstance(event, Notice))


def rates(events: list[Event]) -> set[int]:
    return {event.rate for event in events if isinstance(event, SpeechChunk) and event.pcm}


def test_a_sentence_made_ahead_is_played_and_resumed(options: TtsSettings) -> None:
    whole = b"".join(load(options).synthesize(SENTENCE))
    stage, _ = opened(options)
    ahead = given(stage, SentenceAhead(turn=1, revision=1, text=SENTENCE))
    assert isinstance(ahead[0], SpeechReady)
    assert isinstance(ahead[-2], SpeechReady)
    assert ahead[-2].seconds == 3 * 8 * 16 / RATE
    assert isinstance(ahead[-1], Synthesis)
    assert ahead[-1].ready == 3
    assert ahead[-1].real_time_factor > 0
    spoken = list(stage.handle(ReplyCommitted(turn=1, revision=2, text=SENTENCE)))
    assert b"".join(event.pcm for event in spoken if isinstance(event, SpeechChunk)) == whole
    assert rates(spoken) == {RATE}


def synthesis(events: list[Event]) -> Synthesis:
    return next(event for event in events if isinstance(event, Synthesis))


def test_an_accepted_sentence_sounds_without_a_forward(options: TtsSettings) -> None:
    stage, _ = opened(options)
    ahead = synthesis(given(stage, SentenceAhead(turn=1, revision=1, text=SENTENCE))[::-1])
    sounding = synthesis(list(stage.handle(ReplyCommitted(turn=1, revision=2, text=SENTENCE))))
    assert (sounding.forwards, sounding.positions) == (ahead.forwards, ahead.positions)
    assert sounding.ready == 3


def test_of_a_partly_accepted_sentence_what_holds_is_not_read_again(options: TtsSettings) -> None:
    guess, reply = "The capital of Italy is Milan.", "The capital of Italy is Rome."
    fresh, _ = opened(options)
    before = fresh._engine.counters.tokens  # type: ignore[attr-defined]
    cold = synthesis(list(fresh.handle(ReplyCommitted(turn=1, text=reply)))).positions - before
    stage, _ = opened(options)
    ahead = synthesis(given(stage, SentenceAhead(turn=1, revision=1, text=guess))[::-1]).positions
    warm = synthesis(list(stage.handle(ReplyCommitted(turn=1, revision=2, text=reply)))).positions - ahead
    assert cold - warm >= len(phonemes("The capital of Italy is", "en-us"))


def test_eight_bits_are_enough_to_speak(options: TtsSettings) -> None:
    assert b"".join(load(replace(options, int8=True)).synthesize(SENTENCE))


def _damaged(options: TtsSettings, tmp_path: Path) -> TtsSettings:
    folder = tiny_zonos.write(tmp_path / "damaged", tiny_zonos.VARIANTS["published"])
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-100])
    return replace(options, model=str(folder))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_damaged, "damaged or cut short"),
        (lambda options, _: replace(options, model="nowhere/zonos"), "no folder nowhere/zonos"),
        (lambda options, _: replace(options, codec="nowhere/dac"), "no folder nowhere/dac"),
        (lambda options, _: replace(options, language="tlh"), "no language 'tlh'"),
        (lambda options, _: replace(options, speaker="nobody"), "no voice 'nobody'"),
        (lambda options, _: replace(options, emotion="hangry=1"), "'hangry=1' cannot be read"),
    ],
)
def test_what_cannot_be_opened_is_told_and_espeak_speaks(
    options: TtsSettings, tmp_path: Path, change: Callable[[TtsSettings, Path], TtsSettings], said: str
) -> None:
    stage, events = opened(change(options, tmp_path))
    assert said in notices(events)
    assert "eSpeak NG speaks instead" in notices(events)
    assert rates(list(stage.handle(ReplyCommitted(turn=1, text=SENTENCE)))) == {22050}


def test_without_torch_the_remedy_is_told(options: TtsSettings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("predtui.tts.zonos.engine.importlib.util.find_spec", lambda name: None)
    assert "needs torch and transformers" in notices(opened(options)[1])
    assert "pip install 'predtui[torch]'" in notices(opened(options)[1])


@pytest.mark.parametrize(
    ("text", "rate"), [("", set()), ("…", set()), ("x " * 5000, {22050}), ("ok", {RATE}), ("\0\ud800", set())]
)
def test_any_text_ends_its_turn(options: TtsSettings, text: str, rate: set[int]) -> None:
    stage, _ = opened(options)
    events = list(stage.handle(ReplyCommitted(turn=1, text=text)))
    assert rates(events) == rate
    assert ("too long" in notices(events)) == (rate == {22050})
    chunks = [event for event in events if isinstance(event, SpeechChunk)]
    assert chunks[-1].last


def test_memory_exhausted_in_mid_sentence_lets_espeak_speak(
    options: TtsSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage, _ = opened(options)

    def fail(_: Speech) -> None:
        raise MemoryError

    monkeypatch.setattr(Speech, "_advance", fail)
    events = list(stage.handle(ReplyCommitted(turn=1, text=SENTENCE)))
    assert "no memory left" in notices(events)
    assert rates(events) == {22050}


def test_a_slow_machine_is_told(options: TtsSettings, monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = iter(range(0, 1000, 10))
    monkeypatch.setattr("predtui.tts.zonos.load.time.perf_counter", lambda: next(ticks))
    assert "takes 250.0 s for a second of speech on this CPU. Choose --tts espeak" in load(options).advice


def test_choices_become_what_zonos_takes(options: TtsSettings) -> None:
    speakers.save("ann", np.arange(128, dtype=np.float32))
    manner = manner_of(replace(options, rate=350, speaker="ann", emotion="happiness=3, neutral=1", pitch_std=40.0))
    assert manner.rate == pytest.approx(30.0)
    assert manner.pitch_std == 40.0
    assert manner.speaker is not None
    assert manner.speaker[5] == 5.0
    assert manner.emotion == {"happiness": 3.0, "neutral": 1.0}
    assert set(emotions("")) == set(EMOTIONS)


@pytest.mark.parametrize("text", ["neutral", "neutral=x", "neutral=-1", "neutral=inf", "joy=1", "neutral=0"])
def test_an_emotion_that_makes_no_sense_is_told(text: str) -> None:
    with pytest.raises(PredtuiError, match=r"tts\.emotion"):
        emotions(text)


def test_voices_are_kept_by_name(options: TtsSettings, tmp_path: Path) -> None:
    assert speakers.names() == []
    path = speakers.save("ben", np.ones(128))
    assert speakers.names() == ["ben"]
    assert speakers.load(str(path)).dtype == np.float32
    path.write_bytes(b"nonsense")
    with pytest.raises(PredtuiError, match="damaged"):
        speakers.load("ben")
    with pytest.raises(PredtuiError, match="cannot name a voice"):
        speakers.save("../ben", np.ones(128))


@pytest.mark.parametrize("embedding", [np.ones(7), np.full(128, np.nan)])
def test_a_voice_that_is_none_is_told(options: TtsSettings, embedding: np.ndarray) -> None:  # type: ignore[type-arg]
    speakers.save("odd", embedding)
    with pytest.raises(PredtuiError, match="holds no voice"):
        speakers.load("odd")
