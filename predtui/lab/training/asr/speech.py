"""Text to samples with the time of each word, by eSpeak NG's word marks. Must not know what is said or why.

For corpora and benchmarks, which want all of an utterance at once; the app's voice is ``predtui.tts.espeak``.
"""

from __future__ import annotations

import ctypes
import re
import zlib
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from predtui.audio.resample import RATE, Resampler, to_float
from predtui.errors import PredtuiError
from predtui.tts.espeak import open_library

Samples = npt.NDArray[np.float32]

_UTF8 = 1
_RATE, _PITCH, _RANGE = 1, 3, 4  # espeak_PARAMETER
_END, _WORD = 0, 1  # espeak_EVENT_TYPE
_QUIET = 64 / 32768
"""Amplitude under which the ends of an utterance are silence."""


class _Event(ctypes.Structure):
    """espeak_EVENT of speak_lib.h."""

    _fields_ = (
        ("type", ctypes.c_int),
        ("identifier", ctypes.c_uint),
        ("text_position", ctypes.c_int),
        ("length", ctypes.c_int),
        ("milliseconds", ctypes.c_int),
        ("sample", ctypes.c_int),
        ("user_data", ctypes.c_void_p),
        ("text", ctypes.c_char * 8),
    )


_Callback = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.POINTER(_Event))


@dataclass(frozen=True, slots=True)
class Manner:
    """How something is said: ``rate`` in words a minute, ``pitch`` and ``range`` 0 to 100."""

    voice: str = "en-us"
    rate: int = 160
    pitch: int = 50
    range: int = 50


@dataclass(frozen=True, slots=True)
class Speech:
    """Mono samples at 16 kHz in -1..1 without silence around them; ``words`` with begin and end in seconds. A mark
    says where a word begins: give one clause at a time, since a pause would count to the word before it."""

    samples: Samples
    words: tuple[tuple[str, float, float], ...]

    @property
    def seconds(self) -> float:
        return len(self.samples) / RATE


def speak(text: str, manner: Manner) -> Speech:
    """``text`` as ``manner`` says it, the same each time; not for several threads. Raises PredtuiError for a voice that
    is not there."""
    library, rate = open_library()
    if library.espeak_SetVoiceByName(manner.voice.encode()) != 0:
        raise PredtuiError(f"eSpeak NG has no voice {manner.voice!r}.", "Reinstall the package espeakng-loader.")
    for parameter, value in ((_RATE, manner.rate), (_PITCH, manner.pitch), (_RANGE, manner.range)):
        library.espeak_SetParameter(parameter, value, 0)
    pieces: list[bytes] = []
    marks: dict[int, float] = {}

    def receive(samples: object, count: int, events: object) -> int:
        if samples and count > 0:
            pieces.append(ctypes.string_at(samples, count * 2))  # type: ignore[arg-type]
        index = 0
        while events and events[index].type != _END:  # type: ignore[index]
            event = events[index]  # type: ignore[index]
            if event.type == _WORD:
                marks.setdefault(event.text_position - 1, event.milliseconds / 1000)
            index += 1
        return 0

    callback = _Callback(receive)
    library.espeak_SetSynthCallback(callback)
    encoded = text.encode()
    library.espeak_ng_SetRandSeed(ctypes.c_long(zlib.crc32(encoded)))  # of the breath in a voice; else the time of day
    library.espeak_Synth(encoded, ctypes.c_size_t(len(encoded) + 1), 0, 0, 0, _UTF8, None, None)
    library.espeak_Synchronize()
    pcm = Resampler(rate, RATE).process(b"".join(pieces)) if pieces else b""
    return _trimmed(to_float(pcm), text, marks)


def _trimmed(samples: Samples, text: str, marks: dict[int, float]) -> Speech:
    loud = np.flatnonzero(np.abs(samples) > _QUIET)
    if not loud.size:
        return Speech(np.zeros(0, np.float32), ())
    first, last = int(loud[0]), int(loud[-1]) + 1
    return Speech(samples[first:last], _words(text, marks, first / RATE, (last - first) / RATE))


def _words(text: str, marks: dict[int, float], offset: float, total: float) -> tuple[tuple[str, float, float], ...]:
    """Each word ends where the next one begins; words that eSpeak NG runs together share their time by letters."""
    found = [(match.group(), match.start()) for match in re.finditer(r"\S+", text)]
    groups: list[tuple[float, list[str]]] = []
    for word, position in found:
        if position in marks or not groups:
            groups.append((max(0.0, min(total, marks.get(position, offset) - offset)), [word]))
        else:
            groups[-1][1].append(word)
    timed: list[tuple[str, float, float]] = []
    for (begin, words), end in zip(groups, [*(start for start, _ in groups[1:]), total], strict=True):
        letter = (end - begin) / sum(map(len, words))
        for word in words:
            timed.append((word, begin, min(end, begin + letter * len(word))))
            begin = timed[-1][2]
    return tuple(timed)
