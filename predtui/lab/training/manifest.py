"""Sounds with their transcripts, from a file of ``wav<TAB>transcript`` lines; paths are relative to the file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from predtui.audio.files import check_file, decode
from predtui.audio.resample import to_float
from predtui.errors import PredtuiError


@dataclass(frozen=True, slots=True)
class Utterance:
    """Mono ``samples`` at 16 kHz and what is said in them."""

    samples: npt.NDArray[np.float32]
    text: str


def read(path: Path) -> Iterator[Utterance]:
    """The utterances of the manifest ``path``, of any rate, width and number of channels. Raises PredtuiError with the
    line or the sound at fault."""
    check_file(path)
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise PredtuiError(f"{path} is not text in UTF-8.", "A manifest has lines of wav<TAB>transcript.") from error
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        wav, tab, text = line.partition("\t")
        if not tab or not text.strip():
            raise PredtuiError(f"{path}, line {number} has no transcript.", "A line is wav<TAB>transcript.")
        try:
            samples = samples_of(path.parent / wav.strip())
        except PredtuiError as error:
            raise PredtuiError(f"{path}, line {number}: {error.message}", error.remedy) from error
        yield Utterance(samples, text.strip())


def samples_of(path: Path) -> npt.NDArray[np.float32]:
    """The sound in ``path``, mono at 16 kHz. Raises PredtuiError where it is none."""
    check_file(path)
    try:
        return to_float(b"".join(decode(path)))
    except (OSError, ValueError) as error:  # every FFmpeg error is one of the two
        raise PredtuiError(f"{path} is not a sound file.", "WAV, FLAC, MP3, Ogg, … work.") from error
