"""Change the sample rate of mono 16-bit PCM as it streams, through FFmpeg's low-pass resampler. Knows no device."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from av import AudioFrame

RATE = 16000
"""Samples per second of everything a recogniser hears."""

FRAME = RATE // 50
"""Samples in one frame of 20 ms."""

FRAME_BYTES = 2 * FRAME


class Resampler:
    """Mono PCM, 16-bit little-endian, at ``source`` samples a second, to the same at ``target``. Keeps the filter's
    state between calls, so pieces join without a click. Equal rates pass through untouched."""

    def __init__(self, source: int, target: int) -> None:
        if source <= 0 or target <= 0:
            raise ValueError(f"sample rates must be positive, not {source} and {target}")
        self.source, self.target = source, target
        self._samples = 0
        self._filter = None
        if source != target:
            from av import AudioResampler

            self._filter = AudioResampler(format="s16", layout="mono", rate=target)

    def process(self, pcm: bytes) -> bytes:
        """The samples that are ready; a few stay in the filter until more arrive or ``flush``."""
        if self._filter is None or not pcm:
            return pcm
        from av import AudioFrame

        samples = np.frombuffer(pcm, dtype="<i2").reshape(1, -1)
        frame = AudioFrame.from_ndarray(samples, format="s16", layout="mono")
        frame.sample_rate = self.source
        frame.pts = self._samples
        self._samples += samples.shape[1]
        return join(self._filter.resample(frame))

    def flush(self) -> bytes:
        """What the filter still holds; the resampler is spent afterwards."""
        return join(self._filter.resample(None)) if self._filter is not None and self._samples else b""


def join(frames: list[AudioFrame]) -> bytes:
    """The bytes of packed 16-bit mono frames, padding of their buffers left out."""
    return b"".join(frame.to_ndarray().astype("<i2", copy=False).tobytes() for frame in frames)


def to_float(pcm: bytes) -> npt.NDArray[np.float32]:
    """16-bit PCM as samples in [-1, 1). An odd last byte is dropped."""
    return np.frombuffer(pcm[: len(pcm) // 2 * 2], dtype="<i2").astype(np.float32) / 32768.0


def to_pcm(samples: npt.NDArray[np.floating]) -> bytes:
    """Samples in [-1, 1] as 16-bit PCM: NaN and infinities become silence, the rest is clipped."""
    clean = np.where(np.isfinite(samples), samples, 0.0)
    return np.rint(np.clip(clean, -1.0, 1.0) * 32767.0).astype("<i2").tobytes()
