"""From a causal model in a folder to heads that draft for it: what ``predtui train heads`` runs.

Its own greedy replies to prompts, the states behind them, training, a file of weights, what it is worth, a card.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from torch import Tensor

from predtui.decoding import heads
from predtui.decoding.heads import EMBEDDING, OUTPUT, TOKENS, Heads
from predtui.errors import PredtuiError
from predtui.lab.training.cllm import prompts, replies
from predtui.lab.training.cllm.windows import Reply
from predtui.lab.training.heads import states
from predtui.lab.training.heads.card import write_card
from predtui.lab.training.heads.config import Recipe
from predtui.lab.training.heads.estimate import estimated
from predtui.lab.training.heads.loop import Training
from predtui.lab.training.heads.networks import NETWORKS
from predtui.lab.training.heads.networks.base import HeadNetwork
from predtui.lab.training.heads.quality import measured
from predtui.lab.training.heads.states import Facts, States
from predtui.lab.training.pocket.config import Budget
from predtui.lab.training.pocket.report import bar
from predtui.lab.training.steps import Counters, News
from predtui.llm.base import LoadedModel, tells_hidden
from predtui.llm.load import load
from predtui.system.exits import terminate_as_interrupt

GIVEN = (TOKENS, EMBEDDING, OUTPUT)
"""Of a file, what was not learned."""
WORK = Path("build/heads")
"""Where states and checkpoints stand, in a folder for each model, relative to where the command is run."""


@dataclass(frozen=True, slots=True)
class HeadTraining:
    """What is trained of what. ``model``: a shipped model's name, a folder, or a name in the local cache; ``prompts``:
    a file of conversations, the pocket corpus without it; ``command``: for the card."""

    method: str
    model: str
    out: Path
    budget: Budget
    prompts: Path | None = None
    seed: int = 0
    threads: int = 0
    resume: bool = False
    command: str = ""
    work: Path = WORK
    recipe: Recipe = field(default_factory=Recipe)


def train_heads(training: HeadTraining, console: Console) -> None:
    """Train and write ``training.out``. Ctrl-C and SIGTERM save a checkpoint, then KeyboardInterrupt.

    Raises PredtuiError for a model that has not what heads need, for prompts that cannot be read, for too little
    memory, and for a checkpoint of another run.
    """
    loaded = load(training.model, "torch", training.threads or None)
    tables = tables_of(loaded)
    work, facts = training.work / loaded.name, facts_of(training, loaded)
    known = states.saved(work / "states.safetensors", facts) if training.resume else None
    sketch = _network(training, tables, torch.arange(min(training.recipe.vocabulary, len(tables[1]))))
    foreseen = estimated(loaded, sketch, training.recipe, training.budget, known is None)
    console.print(f"{training.method} for {loaded.name}: {foreseen.line()}", soft_wrap=True)
    with terminate_as_interrupt():
        if known is None:
            known = collected(training, loaded, console)
            states.save(work / "states.safetensors", known, facts)
        tokens = states.vocabulary(known, training.recipe.vocabulary)
        network = _network(training, tables, tokens)
        lessons = states.Lessons(known, tokens, training.recipe.depth, network.window)
        if not len(lessons):
            raise PredtuiError(f"No reply of {loaded.name} has two tokens.", "Give other --prompts.")
        run = Training(network, lessons, training.recipe, training.seed, work / f"{training.method}.safetensors")
        with bar(f"heads {loaded.name} {training.method}", console, News.line) as report:
            fresh = Counters(json.dumps([training.method, facts, asdict(training.recipe)], sort_keys=True))
            counters = run.run(training.budget, fresh, training.resume, report)
    publish(training, loaded, _exported(training, loaded, network, tokens), counters, known.prompts, console)


def publish(
    training: HeadTraining,
    loaded: LoadedModel,
    trained: Heads,
    counters: Counters,
    held_out: Sequence[Sequence[int]],
    console: Console,
) -> None:
    """The file of what was ``trained``, and what it is worth on prompts that are ``held_out``, with its card."""
    heads.write(trained, training.out)
    figures = measured(loaded, training.method, training.out, held_out, training.recipe.reply_tokens)
    learnt = sum(one.size for name, one in trained.tensors.items() if name not in GIVEN and one.dtype.kind == "f")
    about = {"command": training.command, "method": training.method, "model": loaded.name, "seed": training.seed}
    about |= {"threads": training.threads, "steps": counters.step, "minutes": round(counters.seconds / 60, 1)}
    about |= {"loss": round(counters.loss, 4), "parameters": learnt, "vocabulary": len(trained.tokens)}
    about |= {"prompts": prompts.source(training.prompts)}
    about |= {"bytes": (training.out / heads.WEIGHTS).stat().st_size, "recipe": asdict(training.recipe), **figures}
    (training.out / "training.json").write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")
    write_card(training.out)
    console.print(f"{counters.step} steps, {figures['tokens_per_forward']} tokens a forward: {training.out}")


def tables_of(loaded: LoadedModel) -> tuple[Tensor, Tensor]:
    """The model's embeddings and its output matrix [vocabulary, width]. Raises PredtuiError where it has none that
    heads could use."""
    network: Any = loaded.model.network  # type: ignore[attr-defined]
    embedding, output = (layer and layer.weight for layer in (network.get_input_embeddings(), _output(network)))
    lacks = "an output layer over hidden states" if not tells_hidden(loaded.model) or output is None else ""
    if not lacks and embedding.shape[1] != output.shape[1]:
        lacks = f"embeddings as wide as its states ({embedding.shape[1]} and {output.shape[1]})"
    if not lacks and not (embedding.is_floating_point() and output.is_floating_point()):
        lacks = "embeddings and an output matrix that are not quantised"
    if lacks:
        raise PredtuiError(f"{loaded.name} lacks {lacks}, which heads need.", "Train for another model.")
    return embedding.detach().float().cpu(), output.detach().float().cpu()


def _output(network: Any) -> Any:
    return network.get_output_embeddings()


def facts_of(training: HeadTraining, loaded: LoadedModel) -> Facts:
    """What states are a function of."""
    recipe = training.recipe
    facts: Facts = {
        "model": training.model,
        "parameters": loaded.parameters,
        "seed": training.seed,
        "prompts": prompts.digest(training.prompts),
    }
    return facts | {name: getattr(recipe, name) for name in ("replies", "reply_tokens", "whole", "held_out")}


def _network(training: HeadTraining, tables: tuple[Tensor, Tensor], tokens: Tensor) -> HeadNetwork:
    """Fresh, for the draft vocabulary ``tokens``."""
    torch.manual_seed(training.seed)
    embedding, output = tables
    rest = embedding.mean(dim=0, keepdim=True)
    return NETWORKS[training.method](torch.cat((embedding[tokens], rest)), output[tokens], training.recipe)


def collected(training: HeadTraining, loaded: LoadedModel, console: Console) -> States:
    """The model's own replies to prompts, and the states that it had while it gave them."""
    said = replies_of(training, loaded, console)
    return states.of_replies(loaded, said, min(training.recipe.held_out, len(said) // 2))


def replies_of(training: HeadTraining, loaded: LoadedModel, console: Console) -> list[Reply]:
    """The model's own, in an order by the seed; those at the end are held out."""
    recipe = training.recipe
    console.print(f"collecting what {loaded.name} replies")
    network: Any = loaded.model.network  # type: ignore[attr-defined]
    end, limit = loaded.tokenizer.is_end, recipe.reply_tokens
    asked = prompts.that_fit(loaded, training.prompts, training.seed, recipe.whole, limit)
    said = replies.collect(network, asked, end, limit, recipe.replies)
    loaded.model.forget()
    random.Random(f"heads:{training.seed}").shuffle(said)
    console.print(f"the states behind {sum(len(reply.tokens) for reply in said):,} tokens")
    return said


def _exported(training: HeadTraining, loaded: LoadedModel, network: HeadNetwork, tokens: Tensor) -> Heads:
    tensors: dict[str, Tensor] = {TOKENS: tokens, **dict(network.named_parameters())}
    embedded = training.method != "medusa"
    if embedded:
        tensors[EMBEDDING] = network.embedding
    if not embedded or not torch.equal(network.embedding[: len(tokens)], network.output):
        tensors[OUTPUT] = network.output
    found = {name: tensor.detach().cpu().numpy() for name, tensor in tensors.items()}
    return Heads(training.method, loaded.name, network.width, heads.digest(loaded.tokenizer), found)
