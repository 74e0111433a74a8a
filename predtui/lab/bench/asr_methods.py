"""Ways to stream Whisper, by name, each played on the same weights.

A method is a name, with ``-hush``, ``-beam`` or ``-pipeline`` for what is taken away and ``@S`` for its step. Must not
know what is made of the outcomes.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np

from predtui.asr.agreement import joined
from predtui.asr.faster_whisper import STEP_SECONDS, Transcribe
from predtui.asr.whisperflow.engine import FlowRecognizer
from predtui.asr.whisperflow.load import agreeing
from predtui.asr.whisperflow.mel import Samples
from predtui.asr.whisperflow.model import WhisperModel
from predtui.asr.whisperflow.rounds import FlowOptions
from predtui.asr.whisperflow.search import Effort
from predtui.errors import PredtuiError
from predtui.lab.bench.asr_drive import Outcome, fed, virtual
from predtui.lab.bench.asr_sounds import Recording, Voices
from predtui.settings import AsrSettings

Clock = Literal["real", "virtual"]
BASELINE, SIMPLE, FLOW, GOLD = "whisper-streaming", "faster-whisper", "whisperflow", "offline"
WHOLE = f"{SIMPLE}-{GOLD}"
"""faster-whisper itself over all of the sound at once."""
PARTS = ("hush", "beam", "pipeline")
DEFAULT_STEPS = {BASELINE: 1.0, FLOW: AsrSettings().step}
"""Seconds between rounds: Whisper-Streaming's own default, and what WhisperFlow keeps up with, chosen on sounds of
TUNING_SEED."""
MINIMUM = 0.01


@dataclass(frozen=True, slots=True)
class StreamingMethod:
    """What one name asks for."""

    name: str
    base: str
    without: frozenset[str] = frozenset()
    step: float | None = None


@dataclass(frozen=True, slots=True)
class AsrBench:
    """One run of the benchmark. ``step``: of every method that names none."""

    methods: tuple[StreamingMethod, ...]
    model: Path
    manifest: Path | None = None
    limit: int = 200
    long: int = 10
    minutes: float = 2.0
    """Length of a long recording."""
    seed: int = 1
    voices: Voices = "pocket"
    noise: float | None = None
    """Decibels by which noise is below the speech."""
    step: float | None = None
    beam: int = 5
    clock: Clock = "virtual"
    threads: int = 1


Play = Callable[[Recording], Outcome]


def parsed(names: str) -> tuple[StreamingMethod, ...]:
    """The methods of a list with commas. Raises PredtuiError for one that is not known, or where there is none."""
    return tuple(_method(name.strip()) for name in names.split(","))


def _method(name: str) -> StreamingMethod:
    stem, at, step = name.partition("@")
    base = next((base for base in (BASELINE, WHOLE, SIMPLE, FLOW, GOLD) if stem.startswith(base)), "")
    without = frozenset(stem.removeprefix(base).split("-")) - {""}
    try:
        seconds = max(MINIMUM, float(step)) if at else None
    except ValueError:
        base = ""
    if not base or not without <= set(PARTS) or (without and base != FLOW):
        known = f"{GOLD}, {BASELINE}, {SIMPLE}, {WHOLE}, {FLOW}[-hush|-beam|-pipeline], each with @SECONDS for its step"
        raise PredtuiError(f"there is no method {name!r}.", f"Known are {known}.")
    return StreamingMethod(name, base, without, seconds)


def step_seconds(method: StreamingMethod, bench: AsrBench) -> float:
    """Between rounds: the method's own, the bench's, or the default; the app's simple engine has its own alone."""
    if method.base == SIMPLE:
        return STEP_SECONDS
    return max(MINIMUM, method.step or bench.step or DEFAULT_STEPS[method.base])


def flow_options(method: StreamingMethod, bench: AsrBench, model: WhisperModel, hush: Samples | None) -> FlowOptions:
    """How ``method`` runs the streaming core. Whisper-Streaming is the core without what WhisperFlow adds. Raises
    PredtuiError where the hush word is wanted and missing."""
    plain = FlowOptions(step=step_seconds(method, bench), beam=bench.beam, pruning="off", pad_to=model.window)
    if method.base == BASELINE:
        return plain
    if "hush" not in method.without:
        if hush is None:
            raise PredtuiError(f"{bench.model} has no hush word.", "Make one: predtui train hush")
        plain = replace(plain, tail=hush, pad_to=0)
    pruning: Literal["off", "forward"] = "off" if "beam" in method.without else "forward"
    pipelined = "pipeline" not in method.without
    return replace(agreeing(plain, model), pruning=pruning, pipelined=pipelined)


def player(method: StreamingMethod, bench: AsrBench, model: WhisperModel, hush: Samples | None) -> Play:
    """What plays one recording by ``method``."""
    real = bench.clock == "real"
    if method.base == SIMPLE:
        from predtui.lab.bench.asr_simple import recognizer

        simple = recognizer(bench.model, bench.threads, bench.beam)
        return lambda recording: fed(simple, recording, real)
    if method.base == WHOLE:
        from predtui.lab.bench.asr_simple import transcriber

        transcribe = transcriber(bench.model, bench.threads, bench.beam)
        return lambda recording: whole(transcribe, recording)
    if method.base == GOLD:
        return lambda recording: offline(model, bench.beam, recording)
    options = flow_options(method, bench, model, hush)
    if real:
        engine = FlowRecognizer(model, options)
        return lambda recording: fed(engine, recording, real)
    return lambda recording: virtual(model, options, recording)


def offline(model: WhisperModel, beam: int, recording: Recording) -> Outcome:
    """All of the sound at once, padded to the window: the gold. One that is longer is not understood."""
    outcome, nothing, begun = Outcome(), np.zeros(0, np.float32), time.process_time()
    if len(recording.samples) and recording.seconds <= model.seconds:
        encoded = model.encode(recording.samples, nothing, model.window)
        heard = model.decode(encoded, "", (), beam, "off")
        spent = time.process_time() - begun
        outcome.tally.add(spent, encoded.gflops, heard.effort)
        outcome.note(" ".join(one.word.text for one in heard.words), recording.seconds + spent)
    return outcome


def whole(transcribe: Transcribe, recording: Recording) -> Outcome:
    """All of the sound at once by faster-whisper."""
    outcome, begun = Outcome(), time.process_time()
    words = transcribe(recording.samples, "")
    spent = time.process_time() - begun
    outcome.tally.add(spent, 0.0, Effort())
    outcome.note(joined(words), recording.seconds + spent)
    return outcome
