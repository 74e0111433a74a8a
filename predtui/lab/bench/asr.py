"""``predtui bench asr``: ways to stream Whisper side by side, on the same weights and sounds (WhisperFlow, section 6).

A method is a name, with ``-hush``, ``-beam`` or ``-pipeline`` for what is taken away and ``@S`` for its step. Per-word
latency counts from the end of a word in the sound to the moment it is stable. Must not know how a recogniser works.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import typer

from predtui.asr.whisperflow.files import find_hush, find_model
from predtui.asr.whisperflow.model import WhisperModel
from predtui.asr.whisperflow.rounds import Tally
from predtui.commands.inputs import existing
from predtui.errors import PredtuiError
from predtui.lab.bench import asr_figures, report
from predtui.lab.bench.asr_drive import Outcome
from predtui.lab.bench.asr_methods import GOLD, WHOLE, AsrBench, StreamingMethod, parsed, player, step_seconds
from predtui.lab.bench.asr_sounds import Recording, everyday, listed, noisy, pocket
from predtui.lab.bench.plots import svg
from predtui.lab.bench.watch import Watch
from predtui.lab.commands.options import Json, Plot
from predtui.lab.wer import matches, normal, word_error_rate
from predtui.settings import AsrSettings

LONG = 60.0
"""Recordings at least this many seconds long show whether delays grow."""


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


Played = tuple[StreamingMethod, Recording, Outcome]


def run(bench: AsrBench, watch: Watch[Played] | None = None) -> dict[str, Any]:
    """All methods over all recordings, or as far as ``watch`` gathers them."""
    folder = find_model(AsrSettings(model=str(bench.model)))
    model, hush = WhisperModel(folder, bench.threads, device="cpu"), find_hush(folder)
    bench = replace(bench, model=folder)
    recordings = _recordings(bench, model)
    longest = {GOLD: model.seconds}
    work = [
        (method, [one for one in recordings if one.seconds <= longest.get(method.base, one.seconds)])
        for method in bench.methods
    ]

    def played() -> Iterator[Played]:
        for method, fitting in work:
            play = player(method, bench, model, hush)
            yield from ((method, one, play(one)) for one in fitting)

    if watch:
        watch.total = sum(len(fitting) for _, fitting in work)
    found = (watch or list)(played())
    rows = []
    for method in bench.methods:
        heard = [(recording, outcome) for of, recording, outcome in found if of == method]
        step = None if method.base in (GOLD, WHOLE) else 1000 * step_seconds(method, bench)
        rows.append({**row(method.name, [one for one, _ in heard], [out for _, out in heard]), "step_ms": step})
    return {
        "command": report.command(),
        "machine": report.machine(bench.threads),
        "clock": bench.clock,
        "seconds": round(sum(recording.seconds for recording in recordings), 1),
        "rows": rows,
    }


def _recordings(bench: AsrBench, model: WhisperModel) -> list[Recording]:
    if bench.manifest:
        recordings = listed(bench.manifest, model)[: bench.limit]
    elif bench.voices == "pocket":
        recordings = pocket(bench.limit, bench.long, bench.seed, bench.minutes)
    else:
        recordings = everyday(bench.voices, bench.limit, bench.seed, model)
    if not recordings:
        raise PredtuiError("there is nothing to hear.", "Give a manifest with sounds, or a limit above 0.")
    return recordings if bench.noise is None else noisy(recordings, bench.noise, bench.seed)


def as_line(played: Played) -> str:
    """A recording in a line."""
    method, recording, outcome = played
    heard = " ".join(word for word, _ in outcome.words)
    return f"{method.name:<18} WER {100 * word_error_rate([(recording.text, heard)]):5.1f} %  {heard[:80]}"


def main(bench: AsrBench, json_path: Path | None, plot: Path | None) -> int:
    """Measure, print the table, write JSON and figures; the exit status."""
    watch = Watch(0, "recordings", as_line)
    result = run(bench, watch)
    report.console().print(asr_figures.table(result))
    if plot is not None:
        plot.write_text(svg(asr_figures.charts(result)), encoding="utf-8")
    return watch.leave(result, json_path)


def _rounded(values: Any, measure: Callable[[Any], Any]) -> float | None:
    return round(float(measure(values)), 1) if len(values) else None


def cli(
    methods: Annotated[
        str, typer.Option(help="Ways to stream, separated by commas; @SECONDS names a step of its own.")
    ] = "offline,whisper-streaming,whisperflow-pipeline",
    manifest: Annotated[
        Path | None,
        typer.Option(help="wav<TAB>transcript lines; none: held-out pocket speech.", callback=existing),
    ] = None,
    model: Annotated[str, typer.Option(help="pocket, tiny.en, or the folder of a Whisper checkpoint.")] = "pocket",
    limit: Annotated[int, typer.Option(help="Utterances.", min=0)] = 200,
    long: Annotated[int, typer.Option(help="Long recordings beside them.", min=0)] = 10,
    minutes: Annotated[float, typer.Option(help="Minutes of a long recording.", min=0.1)] = 2.0,
    sounds_seed: Annotated[int, typer.Option(help="Seed of the sounds.")] = 1,
    voices: Annotated[
        Literal["pocket", "espeak", "flite"],
        typer.Option(help="pocket: its domain by trained voices; others: everyday requests by eSpeak NG or Flite."),
    ] = "pocket",
    noise: Annotated[float | None, typer.Option(help="Noise, this many dB below the speech.")] = None,
    step: Annotated[float | None, typer.Option(help="Seconds between rounds, of every method.", min=0.0)] = None,
    beam: Annotated[int, typer.Option(help="Hypotheses of the full search.", min=1)] = 5,
    clock: Annotated[Literal["real", "virtual"], typer.Option(help="Virtual: nobody waits for the sound.")] = "virtual",
    threads: Annotated[int, typer.Option(help="CPU threads of the encoder.", min=1)] = 1,
    json: Json = None,
    plot: Plot = None,
) -> None:
    """``predtui bench asr``."""
    bench = AsrBench(
        methods=parsed(methods),
        model=Path(model),
        manifest=manifest,
        limit=limit,
        long=long,
        minutes=minutes,
        seed=sounds_seed,
        voices=voices,
        noise=noise,
        step=step,
        beam=beam,
        clock=clock,
        threads=threads,
    )
    raise typer.Exit(main(bench, json, plot))
