"""eSpeak NG through its C interface: small, instant, in every wheel. Must not know what a reply or a turn is.

The library is one per process and synthesises one text at a time, so each sentence runs in a thread of its own that
holds the library's lock and fills a queue; sentences take milliseconds, so waiting for the lock does too.
"""

from __future__ import annotations

import ctypes
import itertools
import queue
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from predtui.errors import PredtuiError, described
from predtui.foreign import without_controls
from predtui.settings import TtsSettings
from predtui.state.events import WordMark
from predtui.tts.base import BufferedSpeech, Remainder, SpeechState
from predtui.tts.marks import MarkedSound

_SYNCHRONOUS = 2  # AUDIO_OUTPUT_SYNCHRONOUS: samples come through the callback
_CHARS_UTF8 = 1
_PHONEMES = 0x100  # espeakPHONEMES: what stands in [[ ]] is phonemes
_DONT_EXIT = 0x8000  # espeakINITIALIZE_DONT_EXIT: a missing data folder is an error code, not exit()
_RATE, _PITCH = 1, 3  # espeak_PARAMETER
_IPA = 2  # espeak_TextToPhonemes: International Phonetic Alphabet
_CHUNK_MS = 60
_SILENCE = 64  # amplitude under which leading samples are not worth waiting for

_WORD = 1  # espeakEVENT_WORD; 0, LIST_TERMINATED, ends the list


class _Event(ctypes.Structure):
    """espeak_EVENT: ``text_position`` counts characters from 1, ``sample`` from the beginning of the sound."""

    _fields_ = (
        ("type", ctypes.c_int),
        ("unique_identifier", ctypes.c_uint),
        ("text_position", ctypes.c_int),
        ("length", ctypes.c_int),
        ("audio_position", ctypes.c_int),
        ("sample", ctypes.c_int),
        ("user_data", ctypes.c_void_p),
        ("id", ctypes.c_char * 8),
    )


_Callback = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.POINTER(_Event))
_lock = threading.Lock()
_library: ctypes.CDLL | None = None
_library_rate = 0


def open_library() -> tuple[ctypes.CDLL, int]:
    """The library, initialised once a process, and its sample rate in Hz."""
    global _library, _library_rate
    with _lock:
        if _library is None:
            try:
                import espeakng_loader

                library = ctypes.CDLL(espeakng_loader.get_library_path())
                data = Path(espeakng_loader.get_data_path())
            except (ImportError, OSError) as error:
                raise PredtuiError(
                    f"eSpeak NG cannot be loaded: {error}.",
                    "Reinstall it: pip install --force-reinstall espeakng-loader",
                ) from error
            rate = library.espeak_Initialize(_SYNCHRONOUS, _CHUNK_MS, str(data).encode(), _DONT_EXIT)
            if rate <= 0:
                raise PredtuiError(f"eSpeak NG finds no voices in {data}.", "Reinstall the package espeakng-loader.")
            _library, _library_rate = library, rate
    return _library, _library_rate


def voices(options: TtsSettings) -> list[str]:
    """The languages that the library's data speaks. Raises PredtuiError where there is none."""
    try:
        import espeakng_loader
    except ImportError as error:
        raise PredtuiError("eSpeak NG is not installed.", "pip install espeakng-loader") from error
    files = Path(espeakng_loader.get_data_path(), "lang").rglob("*")
    return sorted({path.name.lower() for path in files if path.is_file()})


class _Voice(ctypes.Structure):
    """espeak_VOICE: what is asked of a voice; nothing where it is zero."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("languages", ctypes.c_char_p),
        ("identifier", ctypes.c_char_p),
        ("gender_age_variant_unused", ctypes.c_ubyte * 4),
        ("score", ctypes.c_int),
        ("spare", ctypes.c_void_p),
    )


def select_voice(library: ctypes.CDLL, voice: str) -> None:
    """Make ``voice``, a name or a language, the library's. Raises PredtuiError for one it does not have."""
    if library.espeak_SetVoiceByName(voice.encode()) == 0:
        return
    if library.espeak_SetVoiceByProperties(ctypes.byref(_Voice(languages=voice.encode()))) != 0:
        raise PredtuiError(f"eSpeak NG has no voice {voice!r}.", "Try en-us, en-gb, de, fr-fr or es.")


def _language(library: ctypes.CDLL, voice: str) -> str:
    """Of the voice that was selected; the library puts its priority, a byte, before the name."""
    current = library.espeak_GetCurrentVoice
    current.restype = ctypes.POINTER(_Voice)
    found = current()
    return (found.contents.languages or b"")[1:].decode() if found else voice


def transcribe(texts: Iterable[str], voice: str) -> list[str]:
    """Each of the texts in IPA, stress marked, as ``voice`` says it alone. Raises PredtuiError for an unknown voice."""
    library, _ = open_library()
    clause = library.espeak_TextToPhonemes
    clause.restype = ctypes.c_char_p
    with _lock:
        select_voice(library, voice)
        return [_transcribed(clause, text) for text in texts]


def _transcribed(clause: Callable[..., bytes | None], text: str) -> str:
    rest = ctypes.c_char_p(_bytes(text))
    clauses = []
    while rest.value is not None:  # the library moves it on by a clause, to nothing at the end
        clauses.append((clause(ctypes.byref(rest), _CHARS_UTF8, _IPA) or b"").decode("utf-8", errors="replace"))
    return " ".join(clauses).strip()


class EspeakSynthesizer:
    """Synthesizer over eSpeak NG. ``voice`` as `espeak-ng --voices` names them, ``rate`` in words per minute,
    ``pitch`` 0..100. Raises PredtuiError for an unknown voice or a missing library."""

    espeak_phonemes = True

    def __init__(self, voice: str = "en-us", rate: int = 175, pitch: int = 50) -> None:
        self._library, self.rate = open_library()
        self._voice, self._words_per_minute, self._pitch = voice, min(450, max(80, rate)), min(100, max(0, pitch))
        with _lock:
            self._configure()
            self.language = _language(self._library, voice)

    def _configure(self) -> None:
        select_voice(self._library, self._voice)
        self._library.espeak_SetParameter(_RATE, self._words_per_minute, 0)
        self._library.espeak_SetParameter(_PITCH, self._pitch, 0)

    def synthesize(
        self, text: str, state: SpeechState | None = None, after: SpeechState | None = None
    ) -> BufferedSpeech:
        """Chunks of about 60 ms, without the leading silence. Each sentence has a prosody of its own."""
        return BufferedSpeech(state.chunks if isinstance(state, Remainder) else self._chunks(text))

    def _chunks(self, text: str) -> Iterator[bytes]:
        if not text.strip():
            return
        chunks: queue.SimpleQueue[MarkedSound | PredtuiError | None] = queue.SimpleQueue()
        abandoned = threading.Event()
        threading.Thread(target=self._run, args=(text, chunks, abandoned), name="espeak", daemon=True).start()
        skipped, started = 0, False
        try:
            while (chunk := chunks.get()) is not None:
                if isinstance(chunk, PredtuiError):
                    raise chunk
                pcm = chunk if started else _without_leading_silence(chunk)
                skipped += (len(chunk) - len(pcm)) // 2
                started = started or bool(pcm)
                if pcm:
                    yield MarkedSound(pcm, self._earlier(chunk.words, skipped))
        finally:
            abandoned.set()

    def _run(
        self, text: str, chunks: queue.SimpleQueue[MarkedSound | PredtuiError | None], abandoned: threading.Event
    ) -> None:
        """Whatever happens, ``chunks`` ends: somebody waits for it."""
        try:
            self._speak(text, chunks.put, abandoned.is_set)
        except PredtuiError as error:
            chunks.put(error)
        except Exception as error:
            chunks.put(PredtuiError(f"eSpeak NG failed on {text[:40]!r}: {described(error)}."))
        finally:
            chunks.put(None)

    def _earlier(self, words: tuple[WordMark, ...], samples: int) -> tuple[WordMark, ...]:
        """By so many samples."""
        return tuple(WordMark(word.at, max(0.0, word.seconds - samples / self.rate)) for word in words)

    def _speak(self, text: str, put: Callable[[MarkedSound], None], abandoned: Callable[[], bool]) -> None:
        """Raises PredtuiError where the library fails, and what receiving its samples raised."""
        failures: list[Exception] = []
        words: list[WordMark] = []

        def receive(samples: Any, count: int, events: Any) -> int:
            """What it raises would be lost in the library."""
            try:
                words.extend(self._words(events))
                if samples and count > 0:
                    put(MarkedSound(ctypes.string_at(samples, count * 2), tuple(words)))
                    words.clear()
                return int(abandoned())
            except Exception as error:
                failures.append(error)
                return 1

        encoded = _bytes(text)
        callback = _Callback(receive)
        with _lock:
            self._configure()
            self._library.espeak_SetSynthCallback(callback)
            code = self._library.espeak_Synth(
                encoded, ctypes.c_size_t(len(encoded) + 1), 0, 0, 0, _CHARS_UTF8 | _PHONEMES, None, None
            )
            self._library.espeak_Synchronize()
        if failures:
            raise failures[0]
        if code != 0:
            raise PredtuiError(f"eSpeak NG failed with code {code} on {text[:40]!r}.")

    def _words(self, events: Any) -> Iterator[WordMark]:
        """Those that begin, out of a list of events that may be none."""
        for index in itertools.count() if events else ():
            event = events[index]
            if event.type == _WORD:
                yield WordMark(max(0, event.text_position - 1), max(0, event.sample) / self.rate)
            elif not event.type:
                return

    def close(self) -> None:
        """The library stays: it is one per process."""


def _bytes(text: str) -> bytes:
    """Without control characters: some are commands to the library, such as another rate."""
    return without_controls(text).encode("utf-8", errors="replace")


def _without_leading_silence(chunk: bytes) -> bytes:
    samples = np.frombuffer(chunk, dtype=np.int16)
    loud = np.flatnonzero(np.abs(samples.astype(np.int32)) > _SILENCE)
    return chunk[int(loud[0]) * 2 :] if loud.size else b""


def create(options: TtsSettings) -> EspeakSynthesizer:
    """Raises PredtuiError where the library or the voice is missing."""
    return EspeakSynthesizer(options.voice, options.rate, options.pitch)


def check(options: TtsSettings) -> str:
    """What speaks. Raises PredtuiError as ``create`` does."""
    return f"eSpeak NG, voice {options.voice}, {EspeakSynthesizer(options.voice).rate} Hz"
