"""Whisper's log-mel spectrogram of any length, without padding. Knows no model.

The one place where inference and training get their features from: faster-whisper's extractor, which is numpy alone.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

Samples = npt.NDArray[np.float32]
Mel = npt.NDArray[np.float32]

HOP = 160
"""Samples a frame, at 16 kHz."""
FRAMES_A_SECOND = 100
_SHORTEST = 400
"""Samples of one Fourier window: shorter sounds are padded to it."""


@cache
def _extractor(mels: int) -> Any:
    from faster_whisper.feature_extractor import FeatureExtractor

    return FeatureExtractor(feature_size=mels)


def filters(mels: int) -> npt.NDArray[np.float32]:
    """The mel filter bank [mels, 201]."""
    bank: npt.NDArray[np.float32] = _extractor(mels).mel_filters
    return bank


def log_mel(samples: Samples, mels: int = 80) -> Mel:
    """[mels, frames] of mono samples at 16 kHz, 100 frames a second (Radford et al., 2022, section 2.2)."""
    if len(samples) < _SHORTEST:
        samples = np.pad(samples, (0, _SHORTEST - len(samples)))
    features: Mel = _extractor(mels)(samples, padding=0).astype(np.float32)
    return features


def padded(mel: Mel, frames: int) -> Mel:
    """``mel`` with digital silence up to ``frames``: 80 dB below its loudest, as the extractor would have it."""
    missing = frames - mel.shape[1]
    return np.pad(mel, ((0, 0), (0, missing)), constant_values=mel.max() - 2.0) if missing > 0 else mel
