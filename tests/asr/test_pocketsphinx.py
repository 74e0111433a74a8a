"""The embedded recogniser on real engines: synthetic speech in, words out; noises yield none."""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from predtui.asr.base import Hypothesis
from predtui.asr.pocketsphinx import PocketsphinxRecognizer
from predtui.asr.stage import create
from predtui.audio import mic
from predtui.audio.resample import to_float, to_pcm
from predtui.audio.vad import Padding, Silero, VoiceActivity
from predtui.clock import VirtualClock
from predtui.models.shipped import asset
from predtui.settings import AsrSettings, AudioSettings
from predtui.state import events as ev
from predtui.state.stage import StageContext
from tests.audio.sounds import Samples, frames, noise, speech, tone, write_wav


@pytest.fixture(scope="module")
def recognizer() -> PocketsphinxRecognizer:
    return PocketsphinxRecognizer(asset("asr", "pocket.arpa"), asset("asr", "pocket.dict"))


def listen(recognizer: PocketsphinxRecognizer, pcm: bytes) -> tuple[list[Hypothesis], Hypothesis]:
    """As the microphone would feed it."""
    activity, padding, partial = VoiceActivity(Silero()), Padding(), []
    recognizer.start()
    for frame in frames(pcm):
        for held, voiced in padding.push(frame, activity.push(frame)):
            if hypothesis := recognizer.feed(held, voiced):
                partial.append(hypothesis)
    return partial, recognizer.finish()


def test_words_come_while_speaking_and_stable_ones_stay(recognizer: PocketsphinxRecognizer) -> None:
    partial, final = listen(recognizer, speech("could you suggest a good garden flower", before=0.5))
    assert len(partial) > 5
    assert not final.unfinished
    for one, other in zip(partial, [*partial[1:], final], strict=True):
        assert one != other
        assert f"{other.stable} ".startswith(f"{one.stable} " if one.stable else "")
    assert partial[-1].stable, "some words are stable before the end"
    assert not partial[-1].unfinished, "the pause after it completes the last word"
    assert partial[0].unfinished


def test_what_was_said_is_heard(recognizer: PocketsphinxRecognizer) -> None:
    """At one of three times: eSpeak says no sentence twice alike, and this recogniser was made for people."""
    words = {"suggest", "good", "garden", "flower"}
    said = (speech("could you suggest a good garden flower", before=0.5) for _ in range(3))
    assert any(len(words & set(listen(recognizer, sound)[1].stable.split())) >= 2 for sound in said)


def test_output_is_plain_lower_case_words(recognizer: PocketsphinxRecognizer) -> None:
    _, final = listen(recognizer, speech("well, hmm, the record. What IS the record?", before=0.5))
    assert final.stable
    assert all(word.replace("'", "").isalpha() and word.islower() for word in final.stable.split())


def test_the_second_utterance_knows_nothing_of_the_first(recognizer: PocketsphinxRecognizer) -> None:
    _, first = listen(recognizer, speech("seven times eight"))
    partial, second = listen(recognizer, bytes(64000))
    assert first.stable
    assert (partial, second) == ([], Hypothesis(unfinished=False))


def far_voices(seconds: float) -> Samples:
    """Eight that talk at once, none of them near."""
    rng, total = np.random.default_rng(0), np.zeros(round(16000 * seconds))
    for voice in ("en-us", "en-gb", "en-us+f2", "en-gb+m3", "en-us+m7", "en-gb+f4", "en-us+f3", "en-gb+m1"):
        said = to_float(speech("the train was late again and we met at the market on saturday", voice, 0.0, 0.2))
        total += np.resize(np.roll(said, rng.integers(len(said))), len(total))
    return 0.01 * total / float(np.std(total))


def test_a_voice_over_others_is_heard(recognizer: PocketsphinxRecognizer) -> None:
    """15 dB louder than they are."""
    said = to_float(speech("would you suggest a good garden flower"))
    others = far_voices(len(said) / 16000)[: len(said)]
    level = 10 ** (15 / 20) * np.std(others) / np.std(said)
    assert listen(recognizer, to_pcm(level * said + others))[1].stable


@pytest.mark.parametrize("name", ["silence", "noise", "loud noise", "hum", "clicks", "chords", "babble"])
def test_a_minute_without_speech_has_no_words(recognizer: PocketsphinxRecognizer, name: str) -> None:
    seconds = 60
    clicks = np.zeros(16000 * seconds)
    clicks[::7001] = 0.9
    melody = np.concatenate([tone(220 * 2 ** (step / 12), 0.5) for step in (0, 4, 7, 12, 7, 4) * 20])
    sounds = {
        "silence": np.zeros(16000 * seconds),
        "noise": noise(seconds, 0.02),
        "loud noise": noise(seconds, 0.3),
        "hum": tone(50, seconds) + tone(150, seconds, level=0.1),
        "clicks": clicks + noise(seconds, 0.002),
        "babble": far_voices(seconds),
        "chords": melody + 0.5 * np.roll(melody, 8000),
    }
    assert listen(recognizer, to_pcm(sounds[name])) == ([], Hypothesis(unfinished=False))


def test_from_a_file_to_the_final_transcript(tmp_path: Path) -> None:
    """Both stages as the application makes them, frame by frame."""
    sentence = ". ".join(["would you suggest a good garden flower"] * 3)
    said = write_wav(tmp_path / "said.wav", speech(sentence), 16000, 1, 16)
    hearing, recognising = mic.create(AudioSettings(input="none")), create(AsrSettings())
    context = StageContext(VirtualClock(), lambda: False, logging.getLogger("test"))
    for stage in (hearing, recognising):
        list(stage.open(context))
    words: list[ev.Transcript] = []
    for event in hearing.handle(ev.Listen(turn=1, path=str(said))):
        answers = recognising.handle(replace(event, turn=1))
        words += [answer for answer in answers if isinstance(answer, ev.Transcript)]
    assert [word.final for word in words].count(True) == 1
    assert words[-1].final
    assert {"good", "garden", "flower"} & set(words[-1].text.split())
