"""From a causal model in a folder to a small draft for it: what ``predtui train draft`` runs.

The target's own replies to prompts, training, a folder of weights, what they are worth, a card.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from torch import Tensor

from predtui.clock import VirtualClock
from predtui.decoding.costs.instrument import Instrument
from predtui.decoding.parts import Parts
from predtui.decoding.sampler import Greedy
from predtui.errors import PredtuiError
from predtui.lab.training.cllm import prompts, replies
from predtui.lab.training.cllm.windows import Reply
from predtui.lab.training.draft.card import write_card
from predtui.lab.training.draft.config import Recipe, shape_for
from predtui.lab.training.draft.estimate import estimated
from predtui.lab.training.draft.export import export
from predtui.lab.training.draft.loop import Alignment
from predtui.lab.training.heads.quality import watched
from predtui.lab.training.pocket.config import Budget
from predtui.lab.training.pocket.model import PocketModel
from predtui.lab.training.pocket.report import bar
from predtui.lab.training.steps import Counters, News
from predtui.llm.base import LoadedModel
from predtui.llm.load import load
from predtui.llm.torch.planning import find
from predtui.system.exits import terminate_as_interrupt

WORK = Path("build/draft")
"""Where replies and checkpoints stand, in a folder for each model, relative to where the command is run."""


@dataclass(frozen=True, slots=True)
class DraftTraining:
    """What is trained for what. ``model``: a shipped model's name, a folder, or a name in the local cache; ``layers``
    and ``width``: 0 for what suits the model; ``prompts``: a file of conversations, the pocket corpus without it;
    ``command``: for the card."""

    model: str
    out: Path
    budget: Budget
    layers: int = 0
    width: int = 0
    prompts: Path | None = None
    seed: int = 0
    threads: int = 0
    resume: bool = False
    command: str = ""
    work: Path = WORK
    recipe: Recipe = field(default_factory=Recipe)


def train_draft(training: DraftTraining, console: Console) -> None:
    """Train and write ``training.out``. Ctrl-C and SIGTERM save a checkpoint, then KeyboardInterrupt.

    Raises PredtuiError for a model whose replies have no token, for prompts that cannot be read, for too little memory,
    for a width that a draft cannot have, and for a checkpoint of another run.
    """
    loaded = load(training.model, "torch", training.threads or None)
    target: Any = loaded.model.network  # type: ignore[attr-defined]
    size = loaded.model.vocab_size, loaded.model.context_size
    shape = shape_for(loaded.parameters, *size, training.layers, training.width)
    facts, recipe = _facts(training, loaded), training.recipe
    digest = hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:12]
    kept = training.work / loaded.name / f"replies-{digest}.safetensors"
    known = replies.saved(kept, facts) if training.resume else None
    console.print(
        f"A draft of {shape.parameters:,} parameters, {shape.layers} layers of width {shape.hidden}, for "
        f"{loaded.name}: {estimated(loaded, shape, recipe, training.budget, known is None).line()}",
        soft_wrap=True,
    )
    with terminate_as_interrupt():
        said = known or _collected(training, loaded, kept, facts, console)
        learned = said[: len(said) - min(recipe.held_out, len(said) // 2)]
        network = PocketModel(shape, training.seed).to(target.device)
        checkpoint = kept.with_name(f"{shape.layers}x{shape.hidden}.safetensors")
        run = Alignment(network, target, learned, recipe, training.seed, checkpoint)
        with bar(f"draft {loaded.name}", console, News.line) as report:
            fresh = Counters(json.dumps([facts, asdict(recipe), asdict(shape)], sort_keys=True))
            counters = run.run(training.budget, fresh, training.resume, report)
    whole = export(network, target, find(training.model), training.out, f"predtui draft for {loaded.name}")
    if not whole:
        console.print("Its tokenizer cannot be written as GGUF: --draft reads the folder with numpy or torch instead.")
    figures = _measured(loaded, training, [reply.prompt for reply in said[len(learned) :]])
    about = {"command": training.command, "model": loaded.name, "seed": training.seed, "threads": training.threads}
    about |= {"steps": counters.step, "minutes": round(counters.seconds / 60, 1), "nats": round(counters.loss, 4)}
    about |= {"prompts": prompts.source(training.prompts)}
    about |= {"parameters": shape.parameters, "shape": asdict(shape), "recipe": asdict(recipe), **figures}
    (training.out / "training.json").write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")
    write_card(training.out)
    console.print(f"{counters.step} steps, {figures['tokens_per_forward']} tokens a forward: {training.out}")


def _facts(training: DraftTraining, loaded: LoadedModel) -> replies.Facts:
    """What replies are a function of."""
    facts = {
        "model": training.model,
        "parameters": loaded.parameters,
        "seed": training.seed,
        "prompts": prompts.digest(training.prompts),
    }
    names = ("replies", "reply_tokens", "sampled", "whole", "longest")
    return facts | {name: getattr(training.recipe, name) for name in names}


def _collected(
    training: DraftTraining, loaded: LoadedModel, kept: Path, facts: replies.Facts, console: Console
) -> list[Reply]:
    """The model's own replies to prompts, greedy and sampled, in no order; written to ``kept``, whole or not at all."""
    console.print(f"collecting what {loaded.name} replies")
    recipe, network = training.recipe, loaded.model.network  # type: ignore[attr-defined]
    taken = max(recipe.reply_tokens, loaded.model.context_size - recipe.longest)
    asked = prompts.that_fit(loaded, training.prompts, training.seed, recipe.whole, taken)
    generator = torch.Generator(network.device).manual_seed(training.seed)

    def drawn(logits: Tensor) -> Tensor:
        return torch.multinomial(logits.float().softmax(-1), 1, generator=generator)

    def collected(wanted: int, choose: Callable[[Tensor], Tensor]) -> list[Reply]:
        return replies.collect(network, asked, loaded.tokenizer.is_end, recipe.reply_tokens, wanted, choose)

    sampled = round(recipe.sampled * recipe.replies)
    said = collected(recipe.replies - sampled, replies.likeliest) + collected(sampled, drawn)
    random.Random(f"draft:{training.seed}").shuffle(said)
    if len(said) < 2:
        raise PredtuiError(f"Two replies of {loaded.name} are needed at least.", "Give more with --replies.")
    replies.save(kept, said, facts)
    return said


def _measured(loaded: LoadedModel, training: DraftTraining, held_out: list[tuple[int, ...]]) -> dict[str, Any]:
    draft = load(str(training.out), "numpy", training.threads or None)
    parts = Parts(loaded, Greedy(), draft, instrument=Instrument(VirtualClock()))
    return watched(parts, "model", held_out, training.recipe.reply_tokens)
