"""``predtui bench asr``: ways to stream Whisper side by side, on the same weights and sounds (WhisperFlow, section 6).

A method is a name, with ``-hush``, ``-beam`` or ``-pipeline`` for what is taken away and ``@S`` for its step. Per-word
latency counts from the end of a word in the sound to the moment it is stable. Must not know how a recogniser works.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from predtui.asr.agreement import joined
from predtui.asr.faster_whisper import STEP_SECONDS, Transcribe
from predtui.asr.whisperflow.engine import FlowOptions, FlowRecognizer, Tally, agreeing
from predtui.asr.whisperflow.files import find_hush, find_model
from predtui.asr.whisperflow.mel import Samples
from predtui.asr.whisperflow.model import WhisperModel
from predtui.asr.whisperflow.search import Effort
from predtui.errors import PredtuiError
from predtui.lab.bench import asr_figures, report
from predtui.lab.bench.asr_drive import Outcome, fed, virtual
from predtui.lab.bench.asr_sounds import Recording, Voices, everyday, listed, noisy, pocket
from predtui.lab.bench.plots import svg
from predtui.lab.bench.watch import Watch
from predtui.lab.wer import matches, normal, word_error_rate
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
LONG = 60.0
"""Seconds from which on a recording tells whether delays grow."""


@dataclass(frozen=True, slots=True)
class Method:
    """What one name asks for."""

    name: str
    base: str
    without: frozenset[str] = frozenset()
    step: float | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """One run of the benchmark. ``step``: of every method that names none."""

    methods: tuple[Method, ...]
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


def parsed(names: str) -> tuple[Method, ...]:
    """The methods of a list with commas. Raises PredtuiError for one that is not known, or where there is none."""
    return tuple(_method(name.strip()) for name in names.split(","))


def _method(name: str) -> Method:
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
    return Method(name, base, without, seconds)


def step_seconds(method: Method, plan: Plan) -> float:
    """Between rounds: the method's own, the plan's, or the default; the app's simple engine has its own alone."""
    if method.base == SIMPLE:
        return STEP_SECONDS
    return max(MINIMUM, method.step or plan.step or DEFAULT_STEPS[method.base])


def flow_options(method: Method, plan: Plan, model: WhisperModel, hush: Samples | None) -> FlowOptions:
    """How ``method`` runs the streaming core. Whisper-Streaming is the core without what WhisperFlow adds. Raises
    PredtuiError where the hush word is wanted and missing."""
    plain = FlowOptions(step=step_seconds(method, plan), beam=plan.beam, pruning="off", pad_to=model.window)
    if method.base == BASELINE:
        return plain
    if "hush" not in method.without:
        if hush is None:
            raise PredtuiError(f"{plan.model} has no hush word.", "Make one: predtui train hush")
        plain = replace(plain, tail=hush, pad_to=0)
    pruning: Literal["off", "forward"] = "off" if "beam" in method.without else "forward"
    pipelined = "pipeline" not in method.without
    return replace(agreeing(plain, model), pruning=pruning, pipelined=pipelined)


def player(method: Method, plan: Plan, model: WhisperModel, hush: Samples | None) -> Play:
    """What plays one recording by ``method``."""
    real = plan.clock == "real"
    if method.base == SIMPLE:
        from predtui.lab.bench.asr_simple import recognizer

        simple = recognizer(plan.model, plan.threads, plan.beam)
        return lambda recording: fed(simple, recording, real)
    if method.base == WHOLE:
        from predtui.lab.bench.asr_simple import transcriber

        transcribe = transcriber(plan.model, plan.threads, plan.beam)
        return lambda recording: whole(transcribe, recording)
    if method.base == GOLD:
        return lambda recording: offline(model, plan.beam, recording)
    options = flow_options(method, plan, model, hush)
    if real:
        engine = FlowRecognizer(model, options)
        return lambda recording: fed(engine, recording, real)
    return lambda recording: virtual(model, options, recording)


def offline(model: WhisperModel, beam: int, recording: Recording) -> Outcome:
    """All of the sound at once, padded to the window: the gold. One that is longer is not understood."""
    outcome, nothing, begun = Outcome(), np.zeros(0, np.float32), time.process_time()
    if len(recording.samples) and recording.seconds <= model.seconds:
        encoded = model.encode(recording.samples, nothing, model.window)
        heard = model.write(encoded, "", (), beam, "off")
        spent = time.process_time() - begun
        outcome.tally.add(spent, encoded.gflops, heard.effort)
        outcome.note(" ".join(one.word.text for one in heard.spoken), recording.seconds + spent)
    return outcome


def whole(transcribe: Transcribe, recording: Recording) -> Outcome:
    """All of the sound at once by faster-whisper."""
    outcome, begun = Outcome(), time.process_time()
    words = transcribe(recording.samples, "")
    spent = time.process_time() - begun
    outcome.tally.add(spent, 0.0, Effort())
    outcome.note(joined(words), recording.seconds + spent)
    return outcome


def latencies(recording: Recording, outcome: Outcome) -> list[float]:
    """Seconds from the end of each word that was understood to its being stable."""
    if not recording.ends:
        return []
    said = [(key, now) for word, now in outcome.words for key in normal(word)]
    pairs = matches(normal(recording.text), [key for key, _ in said])
    return [said[other][1] - recording.ends[place] for place, other in pairs]


def growth(delays: Sequence[float]) -> float:
    """By how much the last quarter of a recording's delays is longer than the first: 0 where the method keeps up."""
    quarter = max(1, len(delays) // 4)
    return float(np.mean(delays[-quarter:]) - np.mean(delays[:quarter]))


def row(name: str, recordings: Sequence[Recording], outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """One line of the result; times in milliseconds, null where no word has a time. ``final_ms``: from the end of the
    sound to the final transcript; ``growth_ms``: of the delay in recordings of a minute and more. What an engine does
    not count is null."""
    delays = [latencies(recording, outcome) for recording, outcome in zip(recordings, outcomes, strict=True)]
    every = np.array([delay for one in delays for delay in one]) * 1000
    first = np.array([one[0] for one in delays if one]) * 1000
    ends = np.array([o.ended - r.seconds for r, o in zip(recordings, outcomes, strict=True)]) * 1000
    grown = [
        growth(one) for recording, one in zip(recordings, delays, strict=True) if recording.seconds >= LONG and one
    ]
    total = Tally()
    for outcome in outcomes:
        total.rounds += outcome.tally.rounds
        total.seconds += outcome.tally.seconds
        total.gflops += outcome.tally.gflops
        total.effort.add(outcome.tally.effort)
    pairs = [(r.text, " ".join(word for word, _ in o.words)) for r, o in zip(recordings, outcomes, strict=True)]
    rounds = max(1, total.rounds)
    counted = total.effort.steps > 0
    return {
        "method": name,
        "n": len(recordings),
        "wer": round(word_error_rate(pairs), 4),
        "word_latency_ms": _rounded(every, np.mean),
        "p50_ms": _rounded(every, lambda one: np.percentile(one, 50)),
        "p95_ms": _rounded(every, lambda one: np.percentile(one, 95)),
        "rtf": round(total.seconds / max(1e-9, sum(recording.seconds for recording in recordings)), 3),
        "encoder_gflops": round(total.gflops / rounds, 3) if counted else None,
        "average_beam": round(total.effort.average_beam, 3) if counted else None,
        "reduce_ratio": round(total.effort.reduce_ratio, 3) if counted else None,
        "first_word_ms": _rounded(first, np.mean),
        "final_ms": _rounded(ends, np.mean),
        "growth_ms": _rounded(1000 * np.array(grown), np.mean),
        "rounds": total.rounds,
        "forwards_a_round": round(total.effort.forwards / rounds, 2) if counted else None,
        "round_ms": round(1000 * total.seconds / rounds, 2) if counted else None,
        "unsaid": sum(outcome.unsaid for outcome in outcomes),
    }


Played = tuple[Method, Recording, Outcome]


def run(plan: Plan, watch: Watch[Played] | None = None) -> dict[str, Any]:
    """All methods over all recordings, or as far as ``watch`` gathers them."""
    folder = find_model(AsrSettings(model=str(plan.model)))
    model, hush = WhisperModel(folder, plan.threads, device="cpu"), find_hush(folder)
    plan = replace(plan, model=folder)
    recordings = _recordings(plan, model)
    longest = {GOLD: model.seconds}
    work = [
        (method, [one for one in recordings if one.seconds <= longest.get(method.base, one.seconds)])
        for method in plan.methods
    ]

    def played() -> Iterator[Played]:
        for method, fitting in work:
            play = player(method, plan, model, hush)
            yield from ((method, one, play(one)) for one in fitting)

    if watch:
        watch.total = sum(len(fitting) for _, fitting in work)
    found = (watch or list)(played())
    rows = []
    for method in plan.methods:
        heard = [(recording, outcome) for of, recording, outcome in found if of == method]
        step = None if method.base in (GOLD, WHOLE) else 1000 * step_seconds(method, plan)
        rows.append({**row(method.name, [one for one, _ in heard], [out for _, out in heard]), "step_ms": step})
    return {
        "command": report.command(),
        "machine": report.machine(plan.threads),
        "clock": plan.clock,
        "seconds": round(sum(recording.seconds for recording in recordings), 1),
        "rows": rows,
    }


def _recordings(plan: Plan, model: WhisperModel) -> list[Recording]:
    if plan.manifest:
        recordings = listed(plan.manifest, model)[: plan.limit]
    elif plan.voices == "pocket":
        recordings = pocket(plan.limit, plan.long, plan.seed, plan.minutes)
    else:
        recordings = everyday(plan.voices, plan.limit, plan.seed, model)
    if not recordings:
        raise PredtuiError("there is nothing to hear.", "Give a manifest with sounds, or a limit above 0.")
    return recordings if plan.noise is None else noisy(recordings, plan.noise, plan.seed)


def told(played: Played) -> str:
    """A recording in a line."""
    method, recording, outcome = played
    heard = " ".join(word for word, _ in outcome.words)
    return f"{method.name:<18} WER {100 * word_error_rate([(recording.text, heard)]):5.1f} %  {heard[:80]}"


def main(plan: Plan, json_path: Path | None, plot: Path | None) -> int:
    """Measure, print the table, write JSON and figures; the exit status."""
    watch = Watch(0, "recordings", told)
    result = run(plan, watch)
    report.console().print(asr_figures.table(result))
    if plot is not None:
        plot.write_text(svg(asr_figures.charts(result)), encoding="utf-8")
    return watch.leave(result, json_path)


def _rounded(values: Any, measure: Callable[[Any], Any]) -> float | None:
    return round(float(measure(values)), 1) if len(values) else None
