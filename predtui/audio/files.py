"""Sound files of any kind, through FFmpeg. What is wrong with one is a PredtuiError. Must not know who plays them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from predtui.audio.resample import RATE, join
from predtui.errors import PredtuiError

if TYPE_CHECKING:
    from av.container import InputContainer

CANCELLED = 0.05
"""Channels cancel where their mean has less than this share of the power that it would have if they were independent of
each other."""


def check_file(path: Path) -> None:
    """Raises PredtuiError where ``path`` is no readable, non-empty file."""
    try:
        if not path.is_file():
            raise PredtuiError(f"{path} is not a file." if path.exists() else f"{path} does not exist.")
        with path.open("rb") as file:
            if not file.read(1):
                raise PredtuiError(f"{path} is empty.", "Choose another file.")
    except OSError as error:
        raise PredtuiError(f"{path} cannot be read: {error.strerror or error}.") from error


def duration(path: Path) -> float:
    """Seconds that the file says it lasts, 0 where it does not say. Raises PredtuiError where it is no sound."""
    import av

    with sound_file(path) as container:
        return (container.duration or 0) / av.time_base


@contextmanager
def sound_file(path: Path) -> Iterator[InputContainer]:
    """The file as FFmpeg opens it. Inside, whatever FFmpeg finds wrong with it is a PredtuiError."""
    import av

    try:
        with av.open(str(path), options={"protocol_whitelist": "file"}) as container:
            yield container
    except (av.FFmpegError, OSError, ValueError) as error:
        raise PredtuiError(f"{path} is not a sound file.", "WAV, FLAC, MP3, Ogg, … work.") from error


def decode(path: Path) -> Iterator[bytes]:
    """The first sound track as non-empty pieces of mono 16-bit PCM at 16 kHz; samples that are not finite are silenced.

    Channels are mixed here: FFmpeg knows of no way for layouts that have no name. Raises PredtuiError where it is no
    sound, or damaged.
    """
    import av

    with sound_file(path) as container:
        if not container.streams.audio:
            raise ValueError("no sound track")
        to_float: av.AudioResampler | None = None
        to_rate = av.AudioResampler(format="s16", layout="mono", rate=RATE)
        for frame in container.decode(audio=0):
            to_float = to_float or av.AudioResampler(format="flt", layout=frame.layout, rate=frame.sample_rate)
            for packed in to_float.resample(frame):
                samples = packed.to_ndarray().reshape(packed.samples, -1)
                samples = mixed(np.where(np.isfinite(samples), samples, 0.0))
                mono = av.AudioFrame.from_ndarray(np.clip(samples, -1.0, 1.0)[None], format="flt", layout="mono")
                mono.sample_rate = packed.sample_rate
                if piece := join(to_rate.resample(mono)):
                    yield piece
        if to_float is not None and (piece := join(to_rate.resample(None))):
            yield piece


def mixed(samples: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """The mean of the channels of ``samples`` [samples, channels], or the loudest one where they cancel each other out:
    one of a pair of wires is often swapped."""
    mean: npt.NDArray[np.float32] = samples.mean(axis=1, dtype=np.float32)
    power = np.square(samples).sum(axis=0)
    independent = power.sum() / samples.shape[1] ** 2
    if float(np.square(mean).sum()) < CANCELLED * independent:
        return samples[:, int(power.argmax())].astype(np.float32)
    return mean
