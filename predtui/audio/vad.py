"""Is somebody speaking? Silero's detector (its weights come with faster-whisper), what counts as voiced, and the end of
a turn by silence. Knows nothing of words.
"""

from __future__ import annotations

import importlib.util
from collections import deque
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt

from predtui.audio.resample import FRAME, RATE, to_float
from predtui.errors import PredtuiError

WINDOW = 512
"""Samples that the detector judges at a time: 32 ms."""
CONTEXT = 64

Window = npt.NDArray[np.float32]


class Detector(Protocol):
    """Windows of 512 samples at 16 kHz, in order, to the probability of speech in each."""

    def probability(self, window: Window) -> float: ...

    def reset(self) -> None: ...


class Silero:
    """Silero VAD, one window at a time with its recurrent state kept. Raises PredtuiError where it cannot be loaded."""

    def __init__(self) -> None:
        try:
            import onnxruntime

            spec = importlib.util.find_spec("faster_whisper")
            places = list(spec.submodule_search_locations or []) if spec else []
            weights = sorted(path for place in places for path in Path(place, "assets").glob("silero_vad_v[6-9]*.onnx"))
            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = options.inter_op_num_threads = 1
            options.enable_cpu_mem_arena = False
            options.log_severity_level = 4
            self._session = onnxruntime.InferenceSession(
                str(weights[-1]), sess_options=options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # of onnxruntime's own types too, for weights that are broken or missing
            raise PredtuiError(
                f"the voice detector cannot be loaded: {error}.", "Try: pip install --force-reinstall faster-whisper"
            ) from error
        self.reset()

    def reset(self) -> None:
        self._context: Window = np.zeros(CONTEXT, dtype=np.float32)
        self._h: Window = np.zeros((1, 1, 128), dtype=np.float32)
        self._c: Window = np.zeros((1, 1, 128), dtype=np.float32)

    def probability(self, window: Window) -> float:
        inputs = {"input": np.concatenate([self._context, window])[None], "h": self._h, "c": self._c}
        output, self._h, self._c = self._session.run(None, inputs)
        self._context = window[-CONTEXT:]
        return float(output.reshape(-1)[0])


class Energy:
    """Loudness over a noise floor that follows the quietest sound: what is left where Silero cannot run."""

    FLOOR_DB = -50.0
    RISE_DB = 0.02
    """Per window: half a minute of steady noise lifts the floor by 19 dB."""

    def __init__(self) -> None:
        self._floor = self.FLOOR_DB

    def probability(self, window: Window) -> float:
        level = 10.0 * float(np.log10(np.mean(np.square(window)) + 1e-12))
        self._floor = max(level, self.FLOOR_DB) if level < self._floor else self._floor + self.RISE_DB
        return float(1.0 / (1.0 + np.exp(-(level - self._floor - 12.0) / 2.0)))

    def reset(self) -> None:
        self._floor = self.FLOOR_DB


class VoiceActivity:
    """Frames in, a steady yes or no out: speech begins with two windows in a row over BEGIN, ends under END, and
    counts as voiced for ``hangover`` seconds more."""

    BEGIN, END = 0.5, 0.35

    def __init__(self, detector: Detector, hangover: float = 0.064) -> None:
        self._detector = detector
        self._hangover = int(hangover * RATE)
        self.reset()

    def reset(self) -> None:
        self._detector.reset()
        self._samples: Window = np.zeros(0, dtype=np.float32)
        self._likely = 0
        self._left = 0
        self.speaking = False

    def push(self, pcm: bytes) -> bool:
        """Whether the newest sound is voiced; ``speaking`` is the same without the hangover."""
        self._samples = np.concatenate([self._samples, to_float(pcm)])
        while len(self._samples) >= WINDOW:
            self._judge(self._detector.probability(self._samples[:WINDOW]))
            self._samples = self._samples[WINDOW:]
        return self.speaking or self._left > 0

    def _judge(self, probability: float) -> None:
        self._likely = self._likely + 1 if probability >= self.BEGIN else 0
        if self._likely >= 2:
            self.speaking = True
        elif probability < self.END:
            self.speaking = False
        self._left = self._hangover if self.speaking else self._left - WINDOW


class Padding:
    """Marks the frames just before speech as voiced too, by holding unvoiced ones back for ``seconds``. Voiced frames
    are never delayed."""

    def __init__(self, seconds: float = 0.2) -> None:
        self._held: deque[bytes] = deque()
        self._limit = round(seconds * RATE / FRAME)

    def push(self, frame: bytes, voiced: bool) -> list[tuple[bytes, bool]]:
        """The frames that are decided, each with whether it is voiced, in order."""
        if voiced:
            return [*self._drain(True), (frame, True)]
        self._held.append(frame)
        return [(self._held.popleft(), False)] if len(self._held) > self._limit else []

    def flush(self) -> list[tuple[bytes, bool]]:
        """What was held back at the end: nobody spoke after it."""
        return self._drain(False)

    def _drain(self, voiced: bool) -> list[tuple[bytes, bool]]:
        frames = [(frame, voiced) for frame in self._held]
        self._held.clear()
        return frames


class Endpointer:
    """Fires once ``silence_ms`` of quiet have followed speech."""

    def __init__(self, silence_ms: int = 700) -> None:
        self._limit = silence_ms * RATE // 1000
        self._heard = False
        self._quiet = 0

    def push(self, speaking: bool, samples: int = FRAME) -> bool:
        """Whether the turn is over, after ``samples`` more that were speech or not."""
        self._heard = self._heard or speaking
        self._quiet = 0 if speaking else self._quiet + samples
        return self._heard and self._quiet >= self._limit
