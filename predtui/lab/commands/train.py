"""``predtui train``: each command imports its trainer when it runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Literal

import typer

from predtui.commands.inputs import existing, regular
from predtui.commands.outputs import creatable
from predtui.commands.with_settings import Commands
from predtui.errors import PredtuiError
from predtui.lab.commands.packages import needed
from predtui.models.shipped import MODELS, output
from predtui.models.trained import Kind, trained_for

POCKET, CLLM, WHISPER, HEADS = output("pocket"), output("cllm"), output("whisper"), output("heads")
"""Where the models that ship are loaded from."""
WORK = Path("build")
"""Where work in progress is kept, relative to where a command is run."""
DRAFT, WIDE = Path("build/draft/model"), Path("build/wide/model")
"""Where models go that do not ship."""

MOST = 2**63 - 1
"""Of a seed, as torch takes it."""

Model = Annotated[str, typer.Option(help="pocket, smollm2, a GGUF file, a Hugging Face folder, or a name at hand.")]
Out = Annotated[
    Path | None, typer.Option(help="Where it goes; without it, to a place of the model's own.", callback=creatable)
]
Conversations = Annotated[
    Path | None,
    typer.Option(help='JSONL of {"messages": [..]} or {"prompt": ..}; the pocket corpus without it.', callback=regular),
]
MinutesBeside = Annotated[float, typer.Option(help="Minutes of training, beside the collecting of replies.", min=0)]
Steps = Annotated[int | None, typer.Option(help="Steps, the same ones in every run; in place of minutes.", min=1)]
SeedOfAll = Annotated[int, typer.Option(help="Seed of prompts, weights and batches.", min=0, max=MOST)]
Threads = Annotated[int, typer.Option(help="CPU threads; 0 uses all.", min=0, max=1024)]
Resume = Annotated[bool, typer.Option(help="Go on from the last checkpoint.")]

train = Commands(help="Train the models that ship, and drafts, heads and judges for your own.", no_args_is_help=True)


@contextmanager
def told_how_to_go_on() -> Iterator[None]:
    """Says what Ctrl-C and SIGTERM leave behind, before they end the command."""
    try:
        yield
    except KeyboardInterrupt:
        print("interrupted: the same command goes on from the last checkpoint, or begins anew where none is saved yet")
        raise


@train.command("pocket")
def train_pocket_models(
    out: Annotated[Path, typer.Option(help="Where the models go.", callback=creatable)] = POCKET,
    minutes: Annotated[float, typer.Option(help="Minutes of training of the target.", min=0)] = 60.0,
    judge_minutes: Annotated[float, typer.Option(help="Minutes of training of its judging layers.", min=0)] = 15.0,
    draft_minutes: Annotated[float, typer.Option(help="Minutes of training of the draft.", min=0)] = 8.0,
    seed: Annotated[int, typer.Option(help="Seed of data and weights.")] = 0,
    threads: Annotated[int, typer.Option(help="CPU threads; 0 uses all.")] = 0,
    resume: Resume = True,
    start: Annotated[Path | None, typer.Option(help="Finished pocket models to train on.", callback=existing)] = None,
) -> None:
    """The pocket target and draft, from a seed: corpus, tokenizer, training, export, card."""
    needed("train pocket", "torch", "gguf")
    from predtui.lab.training.pocket.train import train_pocket

    raise typer.Exit(train_pocket(out, minutes, judge_minutes, draft_minutes, seed, threads, resume, start=start))


@train.command("wide")
def train_wide_target(
    out: Annotated[Path, typer.Option(help="Where the model goes.", callback=creatable)] = WIDE,
    minutes: Annotated[float, typer.Option(help="Minutes of training.", min=0)] = 25.0,
    steps: Steps = None,
    seed: Annotated[int, typer.Option(help="Seed of data and weights.")] = 0,
    threads: Threads = 0,
    resume: Resume = True,
) -> None:
    """The pocket target with 32 million parameters, to measure drafts where a forward costs more; it does not ship."""
    needed("train wide", "torch", "gguf")
    import os

    from predtui.commands.console import console
    from predtui.lab.training.pocket.config import Budget
    from predtui.lab.training.pocket.wide import train_wide

    budget = Budget(minutes=minutes) if steps is None else Budget(steps=steps)
    train_wide(out, POCKET / "target", budget, seed, threads or os.cpu_count() or 1, resume, console())


@train.command("cllm")
def train_consistency(
    model: Model = "pocket",
    out: Out = None,
    prompts: Conversations = None,
    minutes: Annotated[float, typer.Option(help="Minutes, including the collecting of replies.", min=0)] = 8.0,
    full: Annotated[bool, typer.Option(help="Tune all weights, not low-rank adapters.")] = False,
    muon_lr: Annotated[
        float, typer.Option(help="Learning rate; higher learns sooner and forgets more.", min=0, max=1)
    ] = 0.005,
    seed: SeedOfAll = 0,
    threads: Threads = 0,
    resume: Resume = True,
) -> None:
    """Tune a model for Jacobi decoding (CLLM): several tokens per forward of what it would say anyway."""
    needed("train cllm", "torch", "transformers", "peft")
    from predtui.lab.training.alone import alone

    folder = apart(out or place_for(model, "cllm", CLLM), model)
    options = ["--model", model, "--out", str(folder), "--minutes", str(minutes), "--seed", str(seed)]
    options += ["--threads", str(threads), "--muon-lr", str(muon_lr)]
    options += [*(["--prompts", str(prompts)] if prompts else []), *(["--full"] if full else [])]
    options += ["--resume"] if resume else []
    raise typer.Exit(alone("predtui.lab.training.cllm", options, threads))


@train.command("heads")
def train_heads_that_draft(
    method: Annotated[
        Literal["medusa", "hydra", "eagle", "clover", "falcon", "chimera", "kangaroo", "ppd", "hidden-transfer"],
        typer.Option(help="How they draft."),
    ] = "eagle",
    model: Model = "pocket",
    out: Out = None,
    prompts: Conversations = None,
    minutes: MinutesBeside = 8.0,
    steps: Steps = None,
    replies: Annotated[int, typer.Option(help="Replies of the model to learn from.", min=2)] = 4096,
    vocabulary: Annotated[int, typer.Option(help="Tokens that may be drafted: the commonest.", min=2)] = 1536,
    layers: Annotated[
        int, typer.Option("--exit", help="Layers before Kangaroo's adapter or Hidden Transfer's matrices.", min=1)
    ] = 2,
    seed: SeedOfAll = 0,
    threads: Threads = 0,
    resume: Resume = True,
) -> None:
    """Heads that draft for a model from its hidden states (Medusa, Hydra, EAGLE, ..): --drafter METHOD."""
    needed("train heads", "torch", "transformers")
    from predtui.commands.console import console
    from predtui.lab.bench.report import command
    from predtui.lab.training.heads.config import Recipe
    from predtui.lab.training.heads.kangaroo import train_kangaroo
    from predtui.lab.training.heads.soft import METHODS, train_soft
    from predtui.lab.training.heads.train import HeadTraining, train_heads
    from predtui.lab.training.pocket.config import Budget

    budget = Budget(minutes=minutes) if steps is None else Budget(steps=steps)
    recipe = Recipe(replies=replies, vocabulary=vocabulary)
    folder = apart(out or place_for(model, "heads", HEADS) / method, model)
    training = HeadTraining(method, model, folder, budget, prompts, seed, threads, resume, command(), recipe=recipe)
    with told_how_to_go_on():
        if method == "kangaroo":
            train_kangaroo(training, layers, console())
        elif method in METHODS:
            train_soft(training, layers, console())
        else:
            train_heads(training, console())


@train.command("draft")
def train_small_draft(
    model: Model = "pocket",
    out: Out = None,
    prompts: Conversations = None,
    layers: Annotated[int, typer.Option(help="Of the draft; 0 for two.", min=0)] = 0,
    width: Annotated[int, typer.Option(help="Of the draft; 0 for what suits the model's size.", min=0)] = 0,
    loss: Annotated[Literal["tvd++", "tvd", "kl"], typer.Option(help="What aligns it.")] = "tvd++",
    minutes: MinutesBeside = 8.0,
    steps: Steps = None,
    replies: Annotated[int, typer.Option(help="Replies of the model to learn from.", min=2)] = 2048,
    batch: Annotated[int, typer.Option(help="Replies of a step.", min=1)] = 32,
    seed: SeedOfAll = 0,
    threads: Threads = 0,
    resume: Resume = True,
) -> None:
    """A small draft for any model, with its tokens (FastDraft, Direct Alignment): --drafter model."""
    needed("train draft", "torch", "transformers", "gguf")
    from predtui.commands.console import console
    from predtui.lab.bench.report import command
    from predtui.lab.training.draft.config import Recipe
    from predtui.lab.training.draft.train import DraftTraining, train_draft
    from predtui.lab.training.pocket.config import Budget

    budget = Budget(minutes=minutes) if steps is None else Budget(steps=steps)
    recipe = Recipe(loss=loss, replies=replies, batch=batch)
    folder = apart(out or place_for(model, "draft", DRAFT), model)
    about = (model, folder, budget, layers, width, prompts, seed, threads, resume, command())
    with told_how_to_go_on():
        train_draft(DraftTraining(*about, recipe=recipe), console())


@train.command("judge")
def train_judge_of_drafts(
    model: Model = "pocket",
    draft: Annotated[str, typer.Option(help="Whose tokens it judges: a model of the same tokens.")] = "pocket-draft",
    out: Out = None,
    prompts: Annotated[
        Path | None,
        typer.Option(
            help='JSONL of {"prompt" or "messages": .., "answer": ..}; the pocket corpus without it.', callback=regular
        ),
    ] = None,
    cases: Annotated[int, typer.Option(help="Tokens to learn from.", min=20)] = 4000,
    seed: Annotated[int, typer.Option(help="Seed of prompts.", min=0, max=MOST)] = 0,
    threads: Threads = 0,
    resume: Annotated[bool, typer.Option(help="Go on with the cases that were kept.")] = True,
) -> None:
    """The head that tells which drafted tokens are right, though the model would say others: --decoder judge."""
    needed("train judge", "torch", "transformers")
    from predtui.commands.console import console
    from predtui.lab.bench.report import command
    from predtui.lab.training.judge.train import JudgeTraining, train_judge

    folder = apart(out or place_for(model, "heads", HEADS) / "judge", model)
    with told_how_to_go_on():
        train_judge(JudgeTraining(model, draft, folder, prompts, cases, seed, threads, resume, command()), console())


@train.command("asr")
def train_pocket_whisper(
    out: Annotated[Path, typer.Option(help="Where the model goes.", callback=creatable)] = WHISPER,
    minutes: Annotated[float, typer.Option(help="Minutes of training.", min=0)] = 50.0,
    seed: Annotated[int, typer.Option(help="Seed of speech and weights.")] = 0,
    threads: Annotated[int, typer.Option(help="CPU threads; 0 uses all.")] = 0,
    resume: Resume = True,
    start: Annotated[
        Path | None, typer.Option(help="A finished pocket Whisper to train on, with a new seed.", callback=existing)
    ] = None,
    utterances: Annotated[int, typer.Option(help="Utterances to synthesise.", min=1)] = 32_000,
) -> None:
    """The pocket Whisper, from a seed: synthetic speech, tokenizer, training, export, card."""
    needed("train asr", "torch")
    from predtui.lab.training.asr.train import train_asr

    raise typer.Exit(train_asr(out, minutes, seed, threads, resume, start, utterances))


@train.command("band")
def train_upper_bands(
    out: Annotated[Path, typer.Option(help="Where the network goes.", callback=creatable)] = WHISPER,
    limit: Annotated[int, typer.Option(help="Utterances, at most.", min=5)] = 600,
    epochs: Annotated[int, typer.Option(help="Passes over them.", min=1)] = 10,
    seed: Annotated[int, typer.Option(help="Seed of weights and order.")] = 0,
    threads: Annotated[int, typer.Option(help="CPU threads.", min=1)] = 1,
) -> None:
    """What the pocket Whisper hears above 4 kHz where a telephone's sound has nothing there."""
    needed("train band", "torch")
    from predtui.lab.bench.report import command
    from predtui.lab.training.band import BandOptions
    from predtui.lab.training.band_train import BandTraining, train_band

    train_band(BandTraining(out, limit, BandOptions(epochs=epochs, seed=seed), threads, command()))


@train.command("hush")
def train_hush_word(
    model: Annotated[
        str, typer.Option(help="A Whisper: a folder in Hugging Face's or CTranslate2's form, or a name at hand.")
    ] = str(WHISPER),
    out: Annotated[
        Path | None, typer.Option(help="Where the word goes; the model's folder without it.", callback=creatable)
    ] = None,
    manifest: Annotated[str, typer.Option(help="pocket, or a file of wav<TAB>transcript lines.")] = "pocket",
    limit: Annotated[int, typer.Option(help="Utterances, at most.", min=5)] = 600,
    epochs: Annotated[int, typer.Option(help="Passes over the utterances.", min=1)] = 12,
    seconds: Annotated[float, typer.Option(help="Length of the word.", min=0.1)] = 0.5,
    level: Annotated[Literal["raw", "mel"], typer.Option(help="What is learned: samples, or log-mel frames.")] = "raw",
    position: Annotated[Literal["end", "start"], typer.Option(help="Where it stands.")] = "end",
    target: Annotated[
        Literal["said", "written"],
        typer.Option(help="What is to be written: what was said, or what the model writes of the padded sound."),
    ] = "said",
    seed: Annotated[int, typer.Option(help="Seed of its start and of the order.")] = 0,
    threads: Threads = 0,
    resume: Annotated[bool, typer.Option(help="Go on from the last epoch.")] = True,
    ablations: Annotated[bool, typer.Option(help="Learn other lengths, levels and positions too, to compare.")] = False,
) -> None:
    """The hush word of a Whisper: half a second of sound that stands for its padding."""
    needed("train hush", "torch")
    from predtui.asr.faster_whisper import find_checkpoint
    from predtui.lab.bench.report import command
    from predtui.lab.training.hush import HushOptions
    from predtui.lab.training.hush_train import HushTraining, train_hush
    from predtui.settings import AsrSettings

    options = HushOptions(seconds=seconds, epochs=epochs, level=level, position=position, seed=seed)
    folder = Path(model) if Path(model).is_dir() else find_checkpoint(AsrSettings(model=model))
    training = HushTraining(folder, manifest, limit, target, out, command(), threads)
    train_hush(training, options, resume, ablations)


@train.command("rest")
def train_rest_datastore(
    corpus: Annotated[
        list[str] | None, typer.Option(help="pocket, or a text or JSONL file; may be given several times.")
    ] = None,
    model: Annotated[str, typer.Option(help="Whose tokens: pocket, or the path of a GGUF file.")] = "pocket",
    out: Annotated[
        Path | None,
        typer.Option(help="Folder of the datastore; default: where --drafter rest looks.", callback=creatable),
    ] = None,
    limit: Annotated[int, typer.Option(help="Dialogues of the pocket corpus.", min=1)] = 20_000,
    seed: Annotated[int, typer.Option(help="Seed of the pocket corpus.")] = 0,
) -> None:
    """The datastore of retrieval-based speculative decoding (REST): a corpus, sorted for retrieval."""
    from predtui.lab.training.rest import main as build

    build(corpus or ["pocket"], model, out, limit, seed)


def place_for(model: str, kind: Kind, shipped: Path) -> Path:
    """Where what is trained for ``model`` is looked for: ``shipped`` for one that ships. Raises PredtuiError where
    there is no such model."""
    if model in MODELS:
        return shipped
    from predtui.llm.torch.planning import find
    from predtui.models.published import name_of
    from predtui.settings import trained_folder

    return trained_for(name_of(model, find(model)), kind, trained_folder())


def apart(folder: Path, model: str) -> Path:
    """``folder``, if what is trained for ``model`` can be written there, and work kept. Raises PredtuiError, also where
    the model itself is there, which would be written over."""
    from predtui.llm.torch.planning import find

    source = find(model).resolve()
    if folder.resolve() == (source if source.is_dir() else source.parent):
        raise PredtuiError(f"{model} itself is in {folder}, and would be written over.", "Name another folder: --out.")
    try:
        creatable(WORK)
    except PredtuiError as error:
        kept = f"{WORK.absolute()}, where replies and checkpoints are kept, cannot be written"
        raise PredtuiError(f"{kept}.", "Run this in a folder that is yours.") from error
    creatable(folder)
    return folder
