"""Sounds of a telephone: what they lack above 4 kHz is guessed from what they have below, frame by frame.

A Whisper that was trained on wide sounds alone, such as the pocket one, takes a narrow one for another language. Which
sounds are narrow, they tell themselves: nothing is in their upper bands. Knows log-mel frames alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from predtui.asr.whisperflow.mel import Mel, filters
from predtui.errors import PredtuiError

BAND = "band.safetensors"
"""In a model's folder, or around it: the network of ``Widening``, which predtui train band makes."""
NARROW_HERTZ = 3700
"""From here on, a sound of 8000 samples a second has nothing that can be relied upon."""
SILENT_HERTZ, EMPTY = 4400, 1.25
"""A sound is narrow where no band from here on ever comes nearer than this to the loudest, in units of 40 dB. In half a
second of wide speech, or more, the gap is at most 1.2, in narrow speech at least 1.4."""
CONTEXT = 6
"""Frames before and after one that are looked at, to guess what is above."""

Array = npt.NDArray[np.float32]


def first_band(mels: int) -> int:
    """The lowest band that a narrow sound lacks."""
    highest = [int(band.nonzero()[0].max()) * 16_000 / 400 for band in filters(mels)]
    return next(number for number, hertz in enumerate(highest) if hertz > NARROW_HERTZ)


def is_narrow(mel: Mel) -> bool:
    """Whether the frames [mels, frames] have nothing in the upper bands."""
    lowest = (int(band.nonzero()[0].min()) * 16_000 / 400 for band in filters(len(mel)))
    empty = next(number for number, hertz in enumerate(lowest) if hertz > SILENT_HERTZ)
    return mel.shape[1] > 0 and float(mel[empty:].max()) < float(mel.max()) - EMPTY


def surroundings(lower: Mel) -> Array:
    """[frames, bands * (2 * CONTEXT + 1)] of lower bands [bands, frames]."""
    rows = np.pad(lower.T, ((CONTEXT, CONTEXT), (0, 0)), mode="edge")
    count = lower.shape[1]
    return np.concatenate([rows[shift : shift + count] for shift in range(2 * CONTEXT + 1)], axis=1)


def gelu(values: Array) -> Array:
    """As PyTorch's with ``approximate="tanh"``."""
    inner: Array = np.tanh(0.7978845608 * (values + 0.044715 * values**3))
    return 0.5 * values * (1.0 + inner)


@dataclass(frozen=True, slots=True)
class Widening:
    """One hidden layer: ``inner`` [hidden, inputs], ``outer`` [bands, hidden], with their biases."""

    inner: Array
    inner_bias: Array
    outer: Array
    outer_bias: Array

    def __call__(self, mel: Mel) -> Mel:
        """``mel`` [mels, frames]; where it is narrow, with upper bands: at least as loud as silence is, and no louder
        than the loudest."""
        if not is_narrow(mel):
            return mel
        band = len(mel) - len(self.outer)
        hidden = gelu(surroundings(mel[:band]) @ self.inner.T + self.inner_bias)
        upper = (hidden @ self.outer.T + self.outer_bias).T
        wide = mel.copy()
        wide[band:] = np.clip(upper, mel.max() - 2.0, mel.max())
        return wide


def find(folder: Path, mels: int) -> Widening | None:
    """What widens sounds for the model in ``folder``, there or in the folder around it; None where its makers have
    taught it narrow ones. Raises PredtuiError where it cannot be read."""
    path = next((path for path in (folder / BAND, folder.parent / BAND) if path.is_file()), None)
    if path is None:
        return None
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        parts = {name: array.astype(np.float32) for name, array in load_file(str(path)).items()}
        found = Widening(**parts)
        band = mels - len(found.outer)
        if found.inner.shape != (len(found.inner_bias), band * (2 * CONTEXT + 1)) or band != first_band(mels):
            raise ValueError(f"it is not for {mels} bands")
    except (OSError, TypeError, ValueError, SafetensorError) as error:
        raise PredtuiError(f"{path} cannot be used: {error}.", "Make it: predtui train band") from error
    return found
