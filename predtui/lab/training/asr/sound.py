"""What rooms and microphones do to speech: noise, reverberation, level; and sounds without any word.

Every function draws from the generator it is given. Sounds are mono float samples at 16 kHz. Knows nothing of words.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Samples = npt.NDArray[np.float32]

RATE = 16_000
NOISY, ECHOING = 0.7, 0.3
SNR_DB = (12.0, 40.0)
DECAY_SECONDS = (0.08, 0.4)
"""Time in which an echo falls by 60 dB."""


def noise(count: int, rng: np.random.Generator) -> Samples:
    """``count`` samples of coloured noise of unit power: its spectrum falls by 0 (white) to 6 dB an octave."""
    spectrum = np.fft.rfft(rng.standard_normal(count))
    frequency = np.maximum(np.arange(len(spectrum)), 1.0)
    shaped = np.fft.irfft(spectrum * frequency ** -rng.uniform(0.0, 1.0), count)
    unit: Samples = (shaped / (np.sqrt(np.mean(shaped**2)) + 1e-9)).astype(np.float32)
    return unit


def echoing(samples: Samples, rng: np.random.Generator) -> Samples:
    """``samples`` in a room: convolved with exponentially decaying noise, of which the direct sound is the most."""
    decay = rng.uniform(*DECAY_SECONDS)
    count = int(decay * RATE)
    response = rng.standard_normal(count) * 10.0 ** (-3.0 * np.arange(count) / count)
    response *= rng.uniform(0.1, 0.5) / np.sqrt(np.sum(response**2))
    response[0] = 1.0
    size = len(samples) + count
    heard = np.fft.irfft(np.fft.rfft(samples, size) * np.fft.rfft(response, size), size)
    return heard[: len(samples)].astype(np.float32)


def recorded(samples: Samples, rng: np.random.Generator) -> Samples:
    """``samples`` as a microphone may take them: often with noise, sometimes with an echo."""
    if rng.random() < ECHOING:
        samples = echoing(samples, rng)
    if rng.random() < NOISY:
        power = float(np.mean(samples**2))
        level = np.sqrt(power * 10.0 ** (-rng.uniform(*SNR_DB) / 10.0))
        samples = samples + level * noise(len(samples), rng)
    return np.clip(samples, -1.0, 1.0).astype(np.float32)


def wordless(seconds: float, rng: np.random.Generator) -> Samples:
    """Noise, a hum, a tune or next to nothing: sounds that a recogniser must keep quiet at."""
    count = int(seconds * RATE)
    kind = rng.integers(4)
    if kind == 0:
        sound = noise(count, rng)
    elif kind == 1:
        sound = tones(count, [float(rng.uniform(50, 400))], rng)
    elif kind == 2:
        notes = [220.0 * 2.0 ** (step / 12) for step in rng.integers(0, 24, size=max(1, int(seconds * 4)))]
        sound = tones(count, notes, rng)
    else:
        sound = np.zeros(count, np.float32)
    level = 10.0 ** (-rng.uniform(6.0, 60.0) / 20.0)
    return np.asarray(level * (sound + 0.01 * noise(count, rng)), dtype=np.float32)


def tones(count: int, notes: list[float], rng: np.random.Generator) -> Samples:
    """``notes`` (Hz) one after another in ``count`` samples, each with a few harmonics that fade."""
    pieces = []
    for note, piece in zip(notes, np.array_split(np.arange(count) / RATE, len(notes)), strict=True):
        fade = np.exp(-rng.uniform(0.0, 4.0) * (piece - piece[:1]))
        pieces.append(fade * sum(np.sin(2 * np.pi * note * order * piece) / order for order in range(1, 5)))
    return (0.3 * np.concatenate(pieces)).astype(np.float32)
