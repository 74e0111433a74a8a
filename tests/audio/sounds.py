"""Sounds made for tests: tones, noises, WAV files by hand, and speech by eSpeak NG."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from predtui.audio.resample import FRAME_BYTES, RATE, Resampler, to_pcm
from predtui.tts.espeak import EspeakSynthesizer

Samples = npt.NDArray[np.float64]


def tone(hertz: float, seconds: float, rate: int = RATE, level: float = 0.3) -> Samples:
    return level * np.sin(2 * np.pi * hertz * np.arange(round(seconds * rate)) / rate)


def noise(seconds: float, level: float = 0.1, seed: int = 0) -> Samples:
    return level * np.random.default_rng(seed).standard_normal(round(seconds * RATE))


@lru_cache(maxsize=32)
def speech(text: str, voice: str = "en-us", before: float = 0.4, after: float = 0.5) -> bytes:
    """16 kHz mono PCM of ``text`` between silences of so many seconds."""
    synthesizer = EspeakSynthesizer(voice, rate=150)
    resampler = Resampler(synthesizer.rate, RATE)
    spoken = b"".join(resampler.process(chunk) for chunk in synthesizer.synthesize(text)) + resampler.flush()
    return bytes(2 * round(before * RATE)) + spoken + bytes(2 * round(after * RATE))


def frames(pcm: bytes) -> list[bytes]:
    """Whole frames of 20 ms, the last one padded."""
    return [pcm[at : at + FRAME_BYTES].ljust(FRAME_BYTES, b"\0") for at in range(0, len(pcm), FRAME_BYTES)]


def write_wav(path: Path, data: bytes, rate: int, channels: int, bits: int, floating: bool = False) -> Path:
    """A RIFF WAV file around raw sample bytes."""
    kind = 3 if floating else 1
    block = channels * bits // 8
    head = struct.pack("<4sIHHIIHH", b"fmt ", 16, kind, channels, rate, rate * block, block, bits)
    body = b"WAVE" + head + struct.pack("<4sI", b"data", len(data)) + data
    path.write_bytes(struct.pack("<4sI", b"RIFF", len(body)) + body)
    return path


def encode(channels: Sequence[Samples], kind: str) -> bytes:
    """Interleaved sample bytes of ``kind``: u8, s16, s24, s32, f32 or f64."""
    samples = np.stack(channels, axis=1).reshape(-1)
    match kind:
        case "u8":
            return np.rint(samples * 127 + 128).astype(np.uint8).tobytes()
        case "s16":
            return to_pcm(samples)
        case "s24":
            wide = np.rint(samples * 8388607).astype("<i4")
            return wide.view(np.uint8).reshape(-1, 4)[:, :3].tobytes()
        case "s32":
            return np.rint(samples * 2147483647).astype("<i4").tobytes()
        case "f32":
            return samples.astype("<f4").tobytes()
        case _:
            return samples.astype("<f8").tobytes()


def encoded(path: Path, codec: str, rate: int, samples: Samples) -> Path:
    """A file of the form that its name tells, by FFmpeg; ``samples`` at 16 kHz."""
    import av

    with av.open(str(path), "w") as container:
        stream = container.add_stream(codec, rate=rate)
        stream.layout = "mono"
        to_rate = av.AudioResampler(format=stream.format.name, layout="mono", rate=rate)
        frame = av.AudioFrame.from_ndarray(
            np.frombuffer(to_pcm(samples), "<i2").reshape(1, -1), format="s16", layout="mono"
        )
        frame.sample_rate = RATE
        for piece in (*to_rate.resample(frame), *to_rate.resample(None)):
            container.mux(stream.encode(piece))
        container.mux(stream.encode(None))
    return path
