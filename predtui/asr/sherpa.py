"""Streaming zipformer transducers by sherpa-onnx: networks that were made to stream, so that no sound is heard twice.

Greedy search never takes a token back: every word but the last is stable as soon as it is there. Hears only what voice
activity detection calls speech. Must not know of turns.
"""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from predtui.asr.base import Hypothesis
from predtui.errors import PredtuiError
from predtui.files import resolve
from predtui.models.places import pulled
from predtui.models.published import TINY_EN
from predtui.models.shipped import POCKET
from predtui.settings import AUTO, AsrSettings
from predtui.system.threads import limit

RATE = 16000
TAIL_S = 0.66
"""Silence behind the last word: the network hears some sound beyond what it decides on."""
_PARTS = ("encoder", "decoder", "joiner")
_STREAMS = {"encoder_dims", "decode_chunk_len", "T"}
"""Metadata that the encoder of a zipformer has that streams; without them the library ends the whole process."""
_WANTS = "It wants the streaming encoder, decoder and joiner as .onnx files, and tokens.txt."

Samples = npt.NDArray[np.float32]


class Hearing(Protocol):
    """The sound of one utterance, as it is heard."""

    def hear(self, samples: Samples) -> str:
        """All words so far."""
        ...


class SherpaRecognizer:
    """Recognizer over any streaming engine that never takes a word back; ``begin`` starts an utterance."""

    rate = RATE

    def __init__(self, begin: Any) -> None:
        self._begin = begin
        self.start()

    def start(self) -> None:
        self._hearing: Hearing = self._begin()
        self._text = ""
        self._heard = self._ended = False
        """Whether there was speech, and whether silence has followed it."""
        self._last = Hypothesis()

    def feed(self, pcm: bytes, voiced: bool) -> Hypothesis | None:
        """A pause is heard as silence, which completes the last word."""
        if voiced:
            samples = np.frombuffer(pcm, dtype="<i2").astype(np.float32) / 32768.0
            self._text, self._heard, self._ended = self._hearing.hear(samples), True, False
        else:
            self._end()
        stable, last = _parted(self._text)
        new = Hypothesis(stable, last, unfinished=voiced)
        if new == self._last or not self._text:
            return None
        self._last = new
        return new

    def finish(self) -> Hypothesis:
        self._end()
        return Hypothesis(self._text, unfinished=False)

    def _end(self) -> None:
        if self._heard and not self._ended:
            self._text, self._ended = self._hearing.hear(np.zeros(round(TAIL_S * RATE), np.float32)), True


def _parted(text: str) -> tuple[str, str]:
    """All words but the last, and the last, which may still be growing."""
    before, _, last = text.rpartition(" ")
    return before, last


@dataclass(slots=True)
class _Utterance:
    """One stream of sherpa-onnx's recogniser."""

    recognizer: Any
    stream: Any
    lowered: bool
    """Whether its vocabulary is one of capitals, which nobody speaks in."""

    def hear(self, samples: Samples) -> str:
        self.stream.accept_waveform(RATE, samples)
        while self.recognizer.is_ready(self.stream):
            self.recognizer.decode_stream(self.stream)
        text = " ".join(self.recognizer.get_result(self.stream).split())
        return text.lower() if self.lowered else text


def create(options: AsrSettings) -> SherpaRecognizer:
    """Raises PredtuiError, with what to do, where the package, a file, or what makes a network stream is missing."""
    files = _files(options)
    _refuse_what_cannot_stream(files["encoder"])
    from sherpa_onnx import OnlineRecognizer

    threads = options.threads or 1
    limit(threads)
    try:
        paths = {part: str(path) for part, path in files.items()}
        recognizer = OnlineRecognizer.from_transducer(**paths, num_threads=threads, decoding_method="greedy_search")
    except (RuntimeError, ValueError, OSError) as error:
        said = (str(error).strip().splitlines() or [""])[0].rstrip(".")
        raise PredtuiError(f"{files['encoder'].parent} is no streaming transducer: {said}.", _WANTS) from error
    lowered = _capitals(files["tokens"])
    made = SherpaRecognizer(lambda: _Utterance(recognizer, recognizer.create_stream(), lowered))
    made.feed(bytes(RATE), voiced=True)  # the first sound takes a process longer
    made.start()
    return made


def check(options: AsrSettings) -> str:
    """The folder of the model. Raises PredtuiError as ``create`` does, but for what only loading can tell."""
    return str(_files(options)["encoder"].parent)


def _files(options: AsrSettings) -> dict[str, Path]:
    """The files by their part. Of several with one part, that of 8 bits, which is as good and faster on a CPU."""
    if importlib.util.find_spec("sherpa_onnx") is None:
        raise PredtuiError("sherpa-onnx is not installed.", "Install it: pip install 'predtui[sherpa]'")
    if options.model in (AUTO, POCKET, TINY_EN.name):
        raise PredtuiError("sherpa runs none of the Whispers.", "Give the folder of a zipformer: --asr-model FOLDER")
    folder = resolve(options.model)
    folder = folder if folder.is_dir() else pulled(options.model) or folder
    if not folder.is_dir():
        raise PredtuiError(f"There is no folder {options.model}.", f"{_WANTS} See docs/listening.md.")
    found = {part: _one(folder, part) for part in _PARTS}
    tokens = folder / "tokens.txt"
    missing = [part for part, path in found.items() if path is None] + ([] if tokens.is_file() else ["tokens.txt"])
    if missing:
        raise PredtuiError(f"{folder} has no {' and no '.join(missing)}.", _WANTS)
    return {**{part: path for part, path in found.items() if path}, "tokens": tokens}


def _one(folder: Path, part: str) -> Path | None:
    paths = [path for path in folder.glob("*.onnx") if path.name.startswith(part) and path.is_file()]
    return min(paths, key=lambda path: (".int8." not in path.name, path.name), default=None)


def _capitals(tokens: Path) -> bool:
    """Whether no token but marks (in angle brackets) has a small letter. Raises PredtuiError for no text."""
    try:
        lines = tokens.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise PredtuiError(f"{tokens} cannot be read.", "Fetch it again.") from error
    return not any(
        word.lower() == word != word.upper() for word in (line.split(" ")[0] for line in lines) if word[:1] != "<"
    )


def _refuse_what_cannot_stream(encoder: Path) -> None:
    import onnxruntime

    try:
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        session = onnxruntime.InferenceSession(str(encoder), sess_options=options, providers=["CPUExecutionProvider"])
    except Exception as error:  # of onnxruntime's own types too
        raise PredtuiError(f"{encoder} is no ONNX file, or is damaged.", "Fetch it again.") from error
    if not set(session.get_modelmeta().custom_metadata_map) >= _STREAMS:
        raise PredtuiError(f"{encoder.name} is of a model that does not stream, or is no zipformer.", _WANTS)
