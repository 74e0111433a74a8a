"""eSpeak NG: sound comes, in chunks, stoppable and interleavable; bad voices are named."""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import pytest

from predtui.errors import PredtuiError
from predtui.tts.espeak import EspeakSynthesizer, transcribe
from predtui.tts.speakable import speakable


def samples(chunks: Iterable[bytes]) -> npt.NDArray[np.int16]:
    return np.frombuffer(b"".join(chunks), dtype=np.int16)


@pytest.fixture(scope="module")
def espeak() -> EspeakSynthesizer:
    return EspeakSynthesizer()


def test_a_sentence_becomes_sound(espeak: EspeakSynthesizer) -> None:
    pcm = np.frombuffer(b"".join(espeak.synthesize("The capital of France is Paris.")), dtype=np.int16)
    assert 1.0 < pcm.size / espeak.rate < 3.0
    assert np.abs(pcm.astype(np.int32)).max() > 3000


def test_sound_starts_without_silence(espeak: EspeakSynthesizer) -> None:
    first = np.frombuffer(next(espeak.synthesize("Hello.")), dtype=np.int16)
    assert abs(int(first[0])) > 64


@pytest.mark.parametrize("text", ["", "   ", "\n"])
def test_nothing_to_say_is_no_sound(espeak: EspeakSynthesizer, text: str) -> None:
    assert list(espeak.synthesize(text)) == []


def test_interleaved_sentences_do_not_mix(espeak: EspeakSynthesizer) -> None:
    alone = samples(espeak.synthesize("One two three four five."))
    first = espeak.synthesize("One two three four five.")
    head = next(first)
    other = samples(espeak.synthesize("Something else."))
    joined = samples(itertools.chain([head], first))
    assert joined.size == pytest.approx(alone.size, rel=0.05)  # the engine varies its timing a little
    assert other.size < 0.8 * alone.size


def test_an_abandoned_sentence_does_not_block_the_next(espeak: EspeakSynthesizer) -> None:
    long = espeak.synthesize("This goes on and on and on. " * 200)
    next(long)
    del long
    assert b"".join(espeak.synthesize("Short."))


def test_a_saved_speech_is_the_sound_that_is_left(espeak: EspeakSynthesizer) -> None:
    speech = espeak.synthesize("One two three four five.")
    next(speech)
    state = speech.save()
    assert list(espeak.synthesize("One two three four five.", state)) == list(speech)
    assert state.nbytes == sum(map(len, state.chunks)) > 0


@pytest.mark.parametrize(
    ("text", "voice", "ipa"),
    [
        ("Paris", "en-us", "pˈæɹɪs"),
        ("Paris", "fr-fr", "paʁˈi"),
        ("bath", "en-gb", "bˈaθ"),
        ("", "en-us", ""),
        ("one. two", "en-us", "wˈʌn tˈuː"),
    ],
)
def test_words_are_transcribed(text: str, voice: str, ipa: str) -> None:
    assert transcribe([text], voice) == [ipa]


def test_a_zero_byte_or_emoji_is_survived(espeak: EspeakSynthesizer) -> None:
    assert b"".join(espeak.synthesize("a\0b \U0001f600 caf\u00e9"))


def test_an_unknown_voice_is_named() -> None:
    with pytest.raises(PredtuiError, match="no voice 'klingon-x'"):
        EspeakSynthesizer(voice="klingon-x")


def test_what_commands_the_library_is_not_said(espeak: EspeakSynthesizer) -> None:
    plain, fast = samples(espeak.synthesize("one two three four")), "\x01450S one two three four"
    assert samples(espeak.synthesize(fast)).size > plain.size, "the command is read out instead"
    assert "\x01" not in speakable(fast)


def test_phonemes_in_double_brackets_are_said(espeak: EspeakSynthesizer) -> None:
    spelled, said = samples(espeak.synthesize("hello")), samples(espeak.synthesize("[[h@l'oU]]"))
    assert said.size == pytest.approx(spelled.size, rel=0.2)


@pytest.mark.parametrize(
    ("voice", "language"), [("en-us", "en-us"), ("German", "de"), ("fr-fr", "fr-fr"), ("en-us+f3", "en-us")]
)
def test_a_voice_has_a_language(voice: str, language: str) -> None:
    assert EspeakSynthesizer(voice).language == language


@pytest.mark.parametrize("where", ["espeak_Synth", "espeak_SetSynthCallback", "espeak_Synchronize"])
def test_a_failure_in_its_thread_is_told_and_the_next_sentence_is_spoken(
    espeak: EspeakSynthesizer, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    class Broken:
        def __getattr__(self, name: str) -> object:
            if name == where:
                raise MemoryError
            return getattr(library, name)

    library = espeak._library
    with monkeypatch.context() as patched:
        patched.setattr(espeak, "_library", Broken())
        with pytest.raises(PredtuiError, match=r"'Hello\.': memory has run out"):
            list(espeak.synthesize("Hello."))
    assert list(espeak.synthesize("Hello."))


def test_a_failure_in_its_callback_is_told_and_the_next_sentence_is_spoken(
    espeak: EspeakSynthesizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> bytes:
        raise MemoryError("no room for samples")

    with monkeypatch.context() as patched:
        patched.setattr(ctypes, "string_at", fail)
        with pytest.raises(PredtuiError, match="memory has run out: no room for samples"):
            list(espeak.synthesize("Hello."))
    assert list(espeak.synthesize("Hello."))


def test_half_a_character_is_survived(espeak: EspeakSynthesizer) -> None:
    assert list(espeak.synthesize("Hello \ud800 there."))
