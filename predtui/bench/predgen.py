"""PredGen's tables and figures for any model: methods side by side on the same input, model and synthesiser.

Each method answers each turn with stages of its own over one loaded model, which remembers nothing of the method
before; the system prompt is in its cache when the turn begins. Must not know how a method works.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from statistics import fmean, median
from typing import Any, get_args

import numpy as np
from rich.progress import Progress

from predtui.bench import figures, rig, streams
from predtui.bench.lending import Lender
from predtui.bench.methods import BASELINE, Method
from predtui.bench.plots import svg
from predtui.bench.report import command, console, machine, write
from predtui.bench.streams import Dialogue, Stream
from predtui.bench.voices import PricedVoice, Voice
from predtui.events import (
    Baseline,
    Event,
    Message,
    Outcome,
    ReplyCommitted,
    ReplyFinished,
    SpeechChunk,
    Synthesis,
    TurnStarted,
)
from predtui.llm.base import Counters
from predtui.predgen.options import SpeculationOptions
from predtui.profile import HardwareProfile
from predtui.settings import TtsSettings

TTS = TtsSettings()


@dataclass(frozen=True, slots=True)
class Record:
    """One turn by one method. Milliseconds count from the arrival of the final prompt, None = never came.
    ``logit_gap``: where the reply is not plain decoding's, how far apart their two tokens are there. The synthesiser's
    forwards, and the positions evaluated in them, are those after the end of the input and before the first sound;
    None without a network."""

    method: str
    model: str
    seed: int
    round: int
    prompt: str
    reply: str
    outcome: str
    ttfs_ms: float | None
    nfetfs: int
    audio_latency_ms: float | None
    identical: bool
    logit_gap: float
    right: bool | None
    input_forwards: int
    tokens: int
    generated: int
    speech_forwards: int | None
    speech_positions: int | None

    @property
    def replied(self) -> bool:
        """Whether anything was said that had a reply."""
        return self.ttfs_ms is not None


def run(
    methods: Mapping[str, Method],
    dialogues: Sequence[Dialogue],
    options: SpeculationOptions,
    profile: HardwareProfile | None,
    tell: Callable[[Record], None] = lambda record: None,
    speech: TtsSettings = TTS,
) -> list[Record]:
    """Every dialogue by every method, turn by turn, methods interleaved; on the virtual clock where a profile is given.

    Raises PredtuiError where the model cannot be loaded or a stage fails.
    """
    lender = Lender(options, profile)
    forward_s = lender.costs.seconds(1)
    play = rig.play_virtual if profile else rig.play_real
    voice = PricedVoice(profile) if profile else Voice(speech)
    records: list[Record] = []
    try:
        for dialogue in dialogues:
            histories = dict.fromkeys(methods, dialogue.history)
            for stream in dialogue.turns:
                for name, method in methods.items():
                    cast = rig.Cast(partial(lender.stage, method.over(options)), voice.stage)
                    counted = lender.loaded.model.counters, voice.counters or Counters()
                    inputs = streams.events(stream, histories[name], method.speculates, method.pause(forward_s))
                    record = _turn(name, options, stream, inputs, cast, play, counted)
                    if voice.counters is None:
                        record = replace(record, speech_forwards=None, speech_positions=None)
                    said = Message("user", record.prompt), Message("assistant", record.reply)
                    histories[name] = (*histories[name], *said)
                    records.append(record)
                    tell(record)
    finally:
        lender.close()
    return records


def _turn(
    name: str,
    options: SpeculationOptions,
    stream: Stream,
    inputs: Sequence[Event],
    cast: rig.Cast,
    play: rig.Play,
    counted: tuple[Counters, Counters],
) -> Record:
    """``inputs``: ``stream`` as it is played. ``counted``: what the model and the synthesiser have done so far."""
    arrivals: list[tuple[Event, int, Counters]] = []
    counters, speech = counted
    outs = play(cast, inputs, lambda event: arrivals.append((event, counters.forwards, replace(speech))))
    (_, before, _), (final, after, spoken) = arrivals[1], arrivals[-1]
    reply = next(out for out in outs if isinstance(out, ReplyFinished))
    sounding = _at_first_sound(outs)
    plain = next((out for out in outs if isinstance(out, Baseline)), Baseline())
    return Record(
        method=name,
        model=options.model,
        seed=options.seed,
        round=_round(inputs),
        prompt=reply.prompt,
        reply=reply.text,
        outcome=reply.outcome,
        ttfs_ms=_first_ms(outs, final.time, lambda out: isinstance(out, ReplyCommitted)),
        nfetfs=reply.nfetfs,
        audio_latency_ms=_first_ms(outs, final.time, lambda out: isinstance(out, SpeechChunk) and bool(out.pcm)),
        identical=plain.identical,
        logit_gap=round(plain.logit_gap, 4),
        right=stream.right(reply.text) if stream.right else None,
        input_forwards=after - before,
        tokens=reply.tokens,
        generated=reply.generated,
        speech_forwards=sounding.forwards - spoken.forwards,
        speech_positions=sounding.positions - spoken.tokens,
    )


def _round(inputs: Sequence[Event]) -> int:
    """Which turn of its dialogue it is, from 1."""
    started = next(event for event in inputs if isinstance(event, TurnStarted))
    return 1 + sum(message.role == "user" for message in started.history)


def _at_first_sound(outs: Sequence[Event]) -> Synthesis:
    """What the synthesiser told of itself last before its first sound."""
    told = Synthesis()
    for out in outs:
        if isinstance(out, Synthesis):
            told = out
        elif isinstance(out, SpeechChunk) and out.pcm:
            break
    return told


def _first_ms(outs: Sequence[Event], since: float, wanted: Callable[[Event], bool]) -> float | None:
    times = (out.time for out in outs if wanted(out))
    first = next(times, None)
    return None if first is None else round((first - since) * 1000, 3)


def rows(records: Sequence[Record]) -> list[dict[str, Any]]:
    """A row for each model and method, in the order of their first turns; means where the name says nothing else, over
    the turns that have the figure: where all was taken back there is no reply, and nothing to wait for.

    ``speedup``: the baseline's mean audio latency over the method's, None without a baseline. ``wasted_token_share``:
    of all tokens chosen, those that were not committed. ``accuracy``: of the turns with a known answer.
    """
    groups: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        groups.setdefault((record.model, record.method), []).append(record)
    table = [_row(model, method, group) for (model, method), group in groups.items()]
    plain = {row["model"]: row["audio_latency_ms"] for row in table if row["method"] == BASELINE}
    for row in table:
        base, own = plain.get(row["model"]), row["audio_latency_ms"]
        row["speedup"] = round(base / own, 3) if base and own else None
    return table


def _row(model: str, method: str, group: Sequence[Record]) -> dict[str, Any]:
    heard = [record.audio_latency_ms for record in group if record.audio_latency_ms is not None]
    written = [record.ttfs_ms for record in group if record.ttfs_ms is not None]
    forwards = [record.nfetfs for record in group if record.replied]
    known = [record.right for record in group if record.right is not None]
    generated = sum(record.generated for record in group)
    return {
        "model": model,
        "method": method,
        "n": len(group),
        "ttfs_ms": _mean(written),
        "nfetfs": _mean(forwards),
        "audio_latency_ms": _mean(heard),
        "p50_ms": round(median(heard), 3) if heard else None,
        "p95_ms": round(float(np.percentile(heard, 95)), 3) if heard else None,
        "nfetfs_1_share": _mean([count <= 1 for count in forwards]),
        "identical_share": _mean([record.identical for record in group]),
        "largest_gap": max(record.logit_gap for record in group),
        "input_forwards": _mean([record.input_forwards for record in group]),
        "wasted_token_share": round(1 - sum(r.tokens for r in group) / generated, 4) if generated else None,
        "accuracy": _mean(known),
        "speech_forwards": _mean([record.speech_forwards for record in group if record.speech_forwards is not None]),
        "speech_positions": _mean([record.speech_positions for record in group if record.speech_positions is not None]),
        **_speech_by_outcome(group),
    }


def _speech_by_outcome(group: Sequence[Record]) -> dict[str, float | None]:
    """The synthesiser's forwards and positions where the first sentence held, held in part, fell: what holds is not
    made again, and of what holds in part the shared beginning is not read again."""
    found: dict[str, float | None] = {}
    for outcome in get_args(Outcome):
        made = [record for record in group if record.outcome == outcome]
        forwards = [record.speech_forwards for record in made if record.speech_forwards is not None]
        read = [record.speech_positions for record in made if record.speech_positions is not None]
        found[f"speech_turns_{outcome}"] = len(forwards) or None
        found[f"speech_forwards_{outcome}"] = _mean(forwards)
        found[f"speech_positions_{outcome}"] = _mean(read)
    return found


def _mean(values: Sequence[float]) -> float | None:
    return round(fmean(values), 4) if values else None


def histograms(records: Sequence[Record]) -> dict[str, dict[int, dict[int, int]]]:
    """Turns by method, round of the dialogue and NFETFS (PredGen, figure 3b)."""
    counts: dict[str, dict[int, Counter[int]]] = {}
    for record in (record for record in records if record.replied):
        counts.setdefault(record.method, {}).setdefault(record.round, Counter())[record.nfetfs] += 1
    return {
        method: {number: dict(sorted(counted.items())) for number, counted in rounds.items()}
        for method, rounds in counts.items()
    }


@dataclass(frozen=True, slots=True)
class Plan:
    """What to measure: models one after another, each with all methods on all dialogues, with each of ``seeds`` from
    that of ``options`` on. ``profile`` None: in real time, on this machine."""

    methods: Mapping[str, Method]
    dialogues: Sequence[Dialogue]
    models: Sequence[str]
    options: SpeculationOptions
    profile: HardwareProfile | None = None
    speech: TtsSettings = TTS
    seeds: int = 1

    @property
    def runs(self) -> list[SpeculationOptions]:
        seeds = range(self.options.seed, self.options.seed + self.seeds)
        return [replace(self.options, model=model, seed=seed) for model in self.models for seed in seeds]


def result(plan: Plan, tell: Callable[[Record], None] = lambda record: None) -> dict[str, Any]:
    """All that is written as JSON. Raises PredtuiError as ``run`` does."""
    records = []
    for options in plan.runs:
        records += run(plan.methods, plan.dialogues, options, plan.profile, tell, plan.speech)
    where = plan.profile
    return {
        "command": command(),
        "machine": f"{where.name} ({where.source})" if where else machine(plan.options.threads),
        "clock": "virtual" if where else "real",
        "models": list(plan.models),
        "rows": rows(records),
        "histograms": histograms(records),
        "turns": [asdict(record) for record in records],
    }


def main(plan: Plan, json_path: Path | None = None, plot: Path | None = None) -> None:
    """Measure, print, write the JSON and the charts."""
    screen = console()
    with Progress(console=screen, transient=True) as progress:
        turns = sum(len(dialogue.turns) for dialogue in plan.dialogues)
        task = progress.add_task("turns", total=len(plan.runs) * len(plan.methods) * turns)
        found = result(plan, lambda record: progress.advance(task))
    screen.print(*figures.latencies(found["rows"], found["machine"]), sep="\n")
    screen.print(figures.rounds(found["histograms"]))
    for turn in found["turns"]:
        if turn["logit_gap"]:
            screen.print(f"{turn['method']} differs by a gap of {turn['logit_gap']}: {turn['prompt']}", soft_wrap=True)
    write(found, json_path)
    if plot is not None:
        plot.write_text(svg(figures.charts(found["rows"], found["histograms"])), encoding="utf-8")
