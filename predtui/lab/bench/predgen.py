"""PredGen's tables and figures for any model: methods side by side on the same input, model and synthesiser.

Each method answers each turn with stages of its own over one loaded model, which remembers nothing of the method
before; the system prompt is in its cache when the turn begins. Must not know how a method works.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from predtui.commands.inputs import existing
from predtui.config import load
from predtui.lab import profiles
from predtui.lab.bench import figures, harness
from predtui.lab.bench.methods import Method, chosen
from predtui.lab.bench.on_screen import run_on_screen
from predtui.lab.bench.paired import foretold
from predtui.lab.bench.plots import svg
from predtui.lab.bench.records import TurnRecord, histograms, rows
from predtui.lab.bench.report import command, console, machine
from predtui.lab.bench.shared_model import SharedModel
from predtui.lab.bench.shared_store import store_for
from predtui.lab.bench.shared_synthesizer import SharedSynthesizer, SilentSynthesizer
from predtui.lab.bench.streams import CHARACTERS_A_WORD, Dialogue, Stream, dialogues, events
from predtui.lab.bench.watch import Gather, Watch
from predtui.lab.commands.options import Json, MaxTokens, Plot, Prompts, Seed, Threads, Together, Wpm
from predtui.lab.profiles import HardwareProfile
from predtui.llm.base import Counters
from predtui.predgen.options import SpeculationOptions
from predtui.runtime.build import resolved
from predtui.settings import AUTO, TtsSettings
from predtui.state.events import (
    Baseline,
    Continuation,
    Event,
    Message,
    ReplyCommitted,
    ReplyFinished,
    SpeechChunk,
    Synthesis,
    Transcript,
    TurnStarted,
)

TTS = TtsSettings()


def run(
    methods: Mapping[str, Method],
    dialogues: Sequence[Dialogue],
    options: SpeculationOptions,
    profile: HardwareProfile | None,
    speech: TtsSettings = TTS,
) -> Iterator[TurnRecord]:
    """Every dialogue by every method, turn by turn, methods interleaved; on the virtual clock where a profile is given.

    Raises PredtuiError where the model cannot be loaded or a stage fails.
    """
    lender = SharedModel(options, profile)
    store_for({need for method in methods.values() for need in method.needs}, options.model, lender.loaded)
    forward_ms = lender.forward_ms()
    play = harness.play_virtual if profile else harness.play_real
    voice = SilentSynthesizer(profile) if profile else SharedSynthesizer(speech)
    try:
        for number, dialogue in enumerate(dialogues):
            histories = dict.fromkeys(methods, dialogue.history)
            for stream in dialogue.turns:
                for name, method in methods.items():
                    cast = harness.StageFactories(partial(lender.stage, method.over(options)), voice.stage)
                    counted = lender.loaded.model.counters, voice.counters or Counters()
                    inputs = events(stream, histories[name], method.speculates, method.pause_s)
                    record = _turn(name, options, stream, inputs, cast, play, counted)
                    if voice.counters is None:
                        record = replace(record, speech_forwards=None, speech_positions=None)
                    said = Message("user", record.prompt), Message("assistant", record.reply)
                    histories[name] = (*histories[name], *said)
                    yield replace(record, dialogue=number, forward_ms=forward_ms)
    finally:
        lender.close()


def _turn(
    name: str,
    options: SpeculationOptions,
    stream: Stream,
    inputs: Sequence[Event],
    cast: harness.StageFactories,
    play: harness.Play,
    counted: tuple[Counters, Counters],
) -> TurnRecord:
    """``inputs``: ``stream`` as it is played. ``counted``: what the model and the synthesiser have done so far."""
    arrivals: list[tuple[Event, int, Counters]] = []
    counters, speech = counted
    outs = play(cast, inputs, lambda event: arrivals.append((event, counters.forwards, replace(speech))))
    (_, before, _), (final, after, spoken) = arrivals[1], arrivals[-1]
    reply = next(out for out in outs if isinstance(out, ReplyFinished))
    sounding = _at_first_sound(outs)
    plain = next((out for out in outs if isinstance(out, Baseline)), Baseline())
    return TurnRecord(
        method=name,
        model=options.model,
        seed=options.seed,
        dialogue=0,
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
        foreseen=_foreseen(outs, [event for event, *_ in arrivals], reply.prompt),
        tokens=reply.tokens,
        generated=reply.generated,
        speech_forwards=sounding.forwards - spoken.forwards,
        speech_positions=sounding.positions - spoken.tokens,
        forward_ms=0.0,
        foretold=foretold([*(event for event, _, _ in arrivals), *outs]),
    )


def _round(inputs: Sequence[Event]) -> int:
    """Which turn of its dialogue it is, from 1."""
    started = next(event for event in inputs if isinstance(event, TurnStarted))
    return 1 + sum(message.role == "user" for message in started.history)


def _foreseen(outs: Sequence[Event], heard: Sequence[Event], prompt: str) -> bool | None:
    """Whether ``prompt`` was answered before all of it was ``heard``; None where it was heard at once."""
    spoken = [event for event in heard if isinstance(event, Transcript)]
    complete = next((event.time for event in spoken if event.text == prompt), None)
    if len(spoken) < 2 or complete is None:
        return None
    return any(isinstance(out, Continuation) and out.prompt == prompt and out.time < complete for out in outs)


def _at_first_sound(outs: Sequence[Event]) -> Synthesis:
    """The last figures of the synthesiser before its first sound."""
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


@dataclass(frozen=True, slots=True)
class PredgenBench:
    """What to measure: models one after another, each with all methods on all dialogues, with each of ``seeds`` from
    that of ``options`` on. ``profile`` None: in real time, on this machine. ``on_screen``: then keys are pressed in the
    app, a process each for its stages; else the stages are given what the app would give them, in this process."""

    methods: Mapping[str, Method]
    dialogues: Sequence[Dialogue]
    models: Sequence[str]
    options: SpeculationOptions
    profile: HardwareProfile | None = None
    speech: TtsSettings = TTS
    seeds: int = 1
    on_screen: bool = False

    @property
    def runs(self) -> list[SpeculationOptions]:
        seeds = range(self.options.seed, self.options.seed + self.seeds)
        return [replace(self.options, model=model, seed=seed) for model in self.models for seed in seeds]


def result(bench: PredgenBench, gather: Gather[TurnRecord] = list) -> dict[str, Any]:
    """The JSON, over the turns that are gathered. Raises PredtuiError as ``run`` does."""
    records = gather(_turns(bench))
    where = bench.profile
    return {
        "command": command(),
        "machine": f"{where.name} ({where.source})" if where else machine(bench.options.threads),
        "clock": "virtual" if where else "real",
        "input": "keys pressed in the app" if bench.on_screen else "given to the stages",
        "models": list(bench.models),
        "rows": rows(records),
        "histograms": histograms(records),
        "turns": [asdict(record) for record in records],
    }


def _turns(bench: PredgenBench) -> Iterator[TurnRecord]:
    for options in bench.runs:
        if bench.on_screen:
            yield from run_on_screen(bench.methods, bench.dialogues, options, bench.speech)
        else:
            yield from run(bench.methods, bench.dialogues, options, bench.profile, bench.speech)


def as_line(record: TurnRecord) -> str:
    """A turn in a line."""
    first = "no sound" if record.audio_latency_ms is None else f"{record.audio_latency_ms:.0f} ms"
    same = "identical" if record.identical else f"differs (gap {record.logit_gap})"
    return (
        f"{record.method:<9} {first:>8}  {record.nfetfs:>3} forwards  {record.outcome:<7}  {same}  {record.prompt[:60]}"
    )


def main(bench: PredgenBench, json_path: Path | None = None, plot: Path | None = None) -> int:
    """Measure, print, write the JSON and the charts; the exit status."""
    screen = console()
    turns = sum(len(dialogue.turns) for dialogue in bench.dialogues)
    watch = Watch(len(bench.runs) * len(bench.methods) * turns, "turns", as_line)
    found = result(bench, watch)
    screen.print(*figures.latencies(found["rows"], found["machine"]), sep="\n")
    screen.print(figures.rounds(found["histograms"]))
    for turn in found["turns"]:
        if turn["logit_gap"]:
            screen.print(f"{turn['method']} differs by a gap of {turn['logit_gap']}: {turn['prompt']}", soft_wrap=True)
    if plot is not None:
        plot.write_text(svg(figures.charts(found["rows"], found["histograms"])), encoding="utf-8")
    return watch.leave(found, json_path)


def cli(
    methods: Annotated[
        str,
        typer.Option(
            help="Methods, separated by commas; ablation: each addition switched off in turn; drafters: all of these."
        ),
    ] = "baseline,greedy",
    prompts: Prompts = "pocket",
    streams: Annotated[
        Path | None, typer.Option(help="Recorded streams, as bench record writes them.", callback=existing)
    ] = None,
    limit: Annotated[int, typer.Option(help="Dialogues; 0 takes all of a file.", min=0)] = 20,
    prompts_seed: Seed = 1,
    together: Together = 1,
    wpm: Wpm = 120.0,
    spoken: Annotated[
        bool, typer.Option("--spoken", help="Say the prompts: the recogniser's streams are played.")
    ] = False,
    asr: Annotated[str, typer.Option(help="The recogniser that hears the spoken prompts.")] = "auto",
    asr_model: Annotated[str, typer.Option(help="Its Whisper: pocket, tiny.en, or a folder.")] = AUTO,
    model: Annotated[
        list[str] | None, typer.Option(help="pocket, smollm2, or a path; may be given several times.")
    ] = None,
    engine: Annotated[str, typer.Option(help="What runs the model.")] = "llamacpp",
    threads: Threads = 0,
    max_tokens: MaxTokens = 256,
    clock: Annotated[
        Literal["real", "virtual"], typer.Option(help="Real: this machine's time. Virtual: the costs of --profile.")
    ] = "real",
    profile: Annotated[str, typer.Option(help="Machine of the virtual clock: a name or a .toml file.")] = "a5000-7b",
    temperature: Annotated[float, typer.Option(help="0 decodes greedily.", min=0.0)] = 0.0,
    seed: Annotated[int, typer.Option(help="Seed of the sampler.")] = 0,
    seeds: Annotated[int, typer.Option(help="How many seeds, one after another from --seed on.", min=1)] = 1,
    tts: Annotated[str, typer.Option(help="Synthesiser of the real clock: espeak, or zonos.")] = "espeak",
    json: Json = None,
    plot: Plot = None,
) -> None:
    """``predtui bench predgen``."""
    wanted = chosen(methods)
    settings = resolved(load({"tts.engine": tts, "asr.engine": asr, "asr.model": asr_model}), embedded=True)
    said = dialogues(prompts, limit, prompts_seed, CHARACTERS_A_WORD * wpm, streams, together)
    if spoken:
        from predtui.lab.bench.recording import spoken as heard

        said = heard(said, prompts_seed, settings.asr)
    bench = PredgenBench(
        methods=wanted,
        dialogues=said,
        models=model or ["pocket"],
        options=SpeculationOptions(
            engine=engine, threads=threads, temperature=temperature, seed=seed, reply_tokens=max_tokens
        ),
        profile=profiles.load(profile) if clock == "virtual" else None,
        seeds=seeds,
        speech=settings.tts,
        on_screen=clock == "real" and streams is None and not spoken,
    )
    raise typer.Exit(main(bench, json, plot))
