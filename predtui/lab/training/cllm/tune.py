"""From a model's folder to a tuned one: replies collected, blocks learned, weights merged and exported.

Must not know of losses or of the shape of batches.
"""

from __future__ import annotations

import json
import random
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from itertools import repeat
from pathlib import Path
from typing import Any

import torch
from rich.console import Console

from predtui.lab.training import steps
from predtui.lab.training.cllm import prompts, replies
from predtui.lab.training.cllm.card import write_card
from predtui.lab.training.cllm.checkpoint import Counters, tuned
from predtui.lab.training.cllm.config import Recipe
from predtui.lab.training.cllm.estimate import estimated
from predtui.lab.training.cllm.export import export, pocket_tokenizer
from predtui.lab.training.cllm.loop import batches, in_turn, losses, replayed
from predtui.lab.training.cllm.windows import Reply, Windows
from predtui.lab.training.pocket.config import Budget
from predtui.lab.training.pocket.config import Recipe as PocketRecipe
from predtui.lab.training.pocket.curriculum import draft_lesson
from predtui.lab.training.pocket.data import Batch, BatchStream, Cursor
from predtui.lab.training.pocket.loop import has_bfloat16
from predtui.lab.training.pocket.optim import PocketOptimizer
from predtui.lab.training.pocket.report import bar
from predtui.llm.base import LoadedModel
from predtui.llm.load import load
from predtui.llm.torch.folder import load_network
from predtui.llm.torch.planning import find
from predtui.system.exits import terminate_as_interrupt, undivided

REPLIES, CHECKPOINT = "replies.safetensors", "checkpoint.safetensors"
SMOOTHING = 0.95
LORA_RANK = 16


@dataclass(frozen=True, slots=True)
class CllmTraining:
    """What to tune: the model (a folder, a name in the local cache, or ``pocket``), on what, how long. ``full``: all
    weights, in place of low-rank adapters. ``work`` holds replies and checkpoint."""

    model: str
    out: Path
    budget: Budget
    work: Path
    prompts: Path | None = None
    full: bool = False
    seed: int = 0
    threads: int = 2
    resume: bool = False
    command: str = ""
    recipe: Recipe = field(default_factory=Recipe)


@dataclass(frozen=True, slots=True)
class News:
    """One step's news: running means of the losses in nats a token, tokens a second, the share of the budget used."""

    counters: Counters
    share: float
    tokens_per_second: float

    def line(self) -> str:
        """In words, with units."""
        seconds = self.counters.seconds * (1 - self.share) / max(self.share, 1e-9)
        minutes, rest = divmod(int(seconds), 60)
        return (
            f"step {self.counters.step}  consistency {self.counters.consistency:.2f}  autoregressive "
            f"{self.counters.autoregressive:.3f} nats  {self.tokens_per_second:,.0f} tok/s  {minutes}:{rest:02d} left"
        )


def tune(training: CllmTraining, console: Console) -> None:
    """Tune in this process and write ``training.out``. Ctrl-C and SIGTERM save a checkpoint, then KeyboardInterrupt.

    Raises PredtuiError for a model or prompts that cannot be read, where no prompt leaves room for a reply, for too
    little memory, and for a checkpoint of another run.
    """
    source = find(training.model)
    loaded = load(training.model, "torch", training.threads or None)
    facts, checkpoint = _facts(training, source, loaded), training.work / CHECKPOINT
    fresh = Counters(json.dumps([facts, training.full, asdict(training.recipe)], sort_keys=True))
    if not training.resume:
        checkpoint.unlink(missing_ok=True)
    elif checkpoint.exists():
        steps.require(checkpoint, fresh.run)
    foreseen = estimated(loaded, training.recipe, training.full)
    console.print(f"cllm for {loaded.name}: {foreseen.line(training.budget)}", soft_wrap=True)
    begun = time.monotonic()
    with terminate_as_interrupt():
        said = _replies(training, loaded, facts, console)
        fresh = replace(fresh, seconds=time.monotonic() - begun)
        network, counters = _tuned(training, source, loaded, said, fresh, console)
    merged = network if training.full else network.merge_and_unload()
    export(merged, source, training.out, f"predtui {loaded.name} cllm")
    about = {"command": training.command, "parameters": loaded.parameters, "replies": len(said), "full": training.full}
    about |= {"model": loaded.name, "seed": training.seed, "threads": training.threads}
    about |= {"prompts": prompts.source(training.prompts)}
    about |= {"recipe": asdict(training.recipe), **asdict(counters)}
    del about["run"]
    (training.out / "training.json").write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")
    write_card(training.out)
    console.print(f"{counters.step} steps on {len(said)} replies: {training.out}")


def _facts(training: CllmTraining, source: Path, loaded: LoadedModel) -> replies.Facts:
    """What replies are a function of, but for their number."""
    recipe = {name: getattr(training.recipe, name) for name in ("whole", "reply_tokens", "block")}
    whose = {"model": str(source.resolve()), "parameters": loaded.parameters}
    return whose | {"prompts": prompts.digest(training.prompts), "seed": training.seed} | recipe


def _replies(training: CllmTraining, loaded: LoadedModel, facts: replies.Facts, console: Console) -> list[Reply]:
    """The model's own replies: those of the run that is resumed, or new ones."""
    path, recipe = training.work / REPLIES, training.recipe
    if training.resume and (known := replies.saved(path, facts)):
        return known
    console.print(f"collecting what {loaded.name} replies")
    minutes, begun = training.budget.minutes, time.monotonic()

    def enough(count: int) -> bool:
        return minutes is not None and count > 0 and time.monotonic() - begun >= 60 * minutes * recipe.collecting

    network: Any = loaded.model.network  # type: ignore[attr-defined]
    taken = recipe.reply_tokens + recipe.block
    drawn = prompts.that_fit(loaded, training.prompts, training.seed, recipe.whole, taken)
    wanted = recipe.replies if minutes is None else sys.maxsize
    said = replies.collect(network, drawn, loaded.tokenizer.is_end, recipe.reply_tokens, wanted=wanted, enough=enough)
    replies.save(path, said, facts)
    return said


def _tuned(
    training: CllmTraining, source: Path, loaded: LoadedModel, said: list[Reply], fresh: Counters, console: Console
) -> tuple[Any, Counters]:
    """The network after the last step, adapters and all, and how far it went."""
    network, recipe = _trainable(training, source, loaded.model.network.device.type), training.recipe  # type: ignore[attr-defined]
    optimizer = PocketOptimizer(network, recipe.muon_lr, recipe.adam_lr, recipe.decay)
    path = training.work / CHECKPOINT
    weights = tuned(network)
    counters = Counters(**steps.load(path, weights, optimizer, fresh.run)) if path.exists() else fresh

    def save(counters: Counters) -> None:
        steps.save(path, weights, optimizer, asdict(counters))

    seed = f"{training.seed}:{counters.step}"
    stream = in_turn(batches(said, recipe, seed, loaded.pad), recipe)
    with _replay(training, source, seed) as corpus, bar(f"cllm {loaded.name}", console, News.line) as report:
        counters = _run(network, optimizer, training, zip(stream, corpus, strict=False), counters, save, report)
    return network.eval(), counters


def _run(
    network: Any,
    optimizer: PocketOptimizer,
    training: CllmTraining,
    stream: Iterator[tuple[Windows, Batch | None]],
    counters: Counters,
    save: Callable[[Counters], None],
    report: Callable[[News], None],
) -> Counters:
    """Steps until the budget is used up, saved now and then, at the end, and when interrupted."""
    recipe, half = training.recipe, has_bfloat16(network.device)
    before, begun = counters, time.monotonic()
    saved = begun
    try:
        while (share := training.budget.progress(counters.step, counters.seconds)) < 1.0:
            with undivided():  # or a checkpoint would have half of a step
                batch, again = next(stream)
                consistency, autoregressive = losses(network, batch, half, recipe.discount)
                steps.finite(consistency.item() + autoregressive.item(), counters.step)
                torch.autograd.backward(consistency + recipe.ar_weight * autoregressive)
                if again is not None:
                    torch.autograd.backward(recipe.replay_weight * replayed(network, again, half))
                torch.nn.utils.clip_grad_norm_(tuned(network).values(), recipe.grad_clip)
                optimizer.step(recipe.rate(counters.step, share))
                now = time.monotonic()
                counters = replace(
                    counters,
                    step=counters.step + 1,
                    seconds=before.seconds + now - begun,
                    tokens=counters.tokens + batch.ids.numel() + (again.tokens if again is not None else 0),
                    consistency=_smooth(counters, counters.consistency, consistency.item()),
                    autoregressive=_smooth(counters, counters.autoregressive, autoregressive.item()),
                )
            if now - saved > recipe.checkpoint_seconds:
                save(counters)
                saved = now
            speed = (counters.tokens - before.tokens) / max(now - begun, 1e-9)
            report(News(counters, training.budget.progress(counters.step, counters.seconds), speed))
    finally:
        save(counters)
    return counters


@contextmanager
def _replay(training: CllmTraining, source: Path, seed: str) -> Iterator[Iterator[Batch | None]]:
    """For a model of the pocket's make, tuned on the pocket corpus, batches of it for ever, so that what it knows is
    not forgotten; nothing for others."""
    if training.prompts is not None or pocket_tokenizer(source) is None:
        yield repeat(None)
        return
    recipe = PocketRecipe(batch_tokens=training.recipe.replay_tokens, pool_batches=16)
    context = int(json.loads((source / "config.json").read_text(encoding="utf-8"))["max_position_embeddings"])
    start = Cursor(random.Random(f"cllm replay:{seed}").randrange(10**6))
    with BatchStream(draft_lesson, source, recipe, context, training.seed, start) as stream:
        yield (batch for batch, _ in stream)


def _trainable(training: CllmTraining, source: Path, device: str) -> Any:
    """The network to train, in float32: all of it, or with LoRA adapters on every linear layer, as PredGen does."""
    network = load_network(source, device, torch.float32, "eager")
    if training.full:
        return network.train()
    from peft import LoraConfig, get_peft_model

    torch.manual_seed(training.seed)
    adapters = LoraConfig(r=LORA_RANK, lora_alpha=LORA_RANK, target_modules="all-linear", task_type="CAUSAL_LM")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # peft asks transformers by a name that is to go
        return get_peft_model(network, adapters).train()


def _smooth(counters: Counters, old: float, new: float) -> float:
    return SMOOTHING * old + (1 - SMOOTHING) * new if counters.step else new
