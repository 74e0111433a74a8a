"""Kangaroo's adapter: trained on the states that a target's first layers have of whole contexts, prompts and replies.

It learns to say behind these layers what the whole target replied. What it drafts later are tokens, of which the layers
have the same states as of a reply's, so it need not learn from its own drafts. Must not know how a draft is verified.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import torch
from rich.console import Console
from torch import Tensor, nn
from torch.nn import functional

from predtui.decoding import heads
from predtui.decoding.drafters.kangaroo import EXIT, NAME, THETA, WIDTH, inner
from predtui.decoding.heads import OUTPUT, TOKENS, Heads
from predtui.errors import PredtuiError
from predtui.lab.training.cllm.windows import IGNORED, Reply
from predtui.lab.training.heads import states
from predtui.lab.training.heads.config import Recipe
from predtui.lab.training.heads.estimate import estimated
from predtui.lab.training.heads.loop import Training
from predtui.lab.training.heads.networks.base import HeadNetwork, Layers, normed
from predtui.lab.training.heads.states import Batch
from predtui.lab.training.heads.train import HeadTraining, facts_of, publish, replies_of, tables_of
from predtui.lab.training.pocket.report import bar
from predtui.lab.training.steps import Counters, News
from predtui.llm.base import LoadedModel, tells_hidden
from predtui.llm.layers import has_layers
from predtui.llm.load import load
from predtui.system.exits import terminate_as_interrupt

CONTEXTS = 32
"""Of a batch; a place in a context is one of ``Recipe.batch`` lessons elsewhere."""


def recipe_of(recipe: Recipe) -> Recipe:
    """The same with what is usual here: batches of whole contexts, of which each token counts as much."""
    return replace(recipe, batch=min(recipe.batch, CONTEXTS), discount=1.0)


@dataclass(frozen=True, slots=True)
class Contexts:
    """``hidden`` [tokens, width], 16 bits: the part's state behind each of ``tokens`` [tokens], prompts with their
    replies, all behind each other; ``starts`` and ``ends`` [contexts]: where each reply begins and ends. ``prompts``:
    those of the replies that are held out."""

    hidden: Tensor
    tokens: Tensor
    starts: Tensor
    ends: Tensor
    prompts: tuple[tuple[int, ...], ...]

    @property
    def replied(self) -> Tensor:
        """The tokens of all replies."""
        return torch.cat([self.tokens[start:end] for start, end in zip(self.starts, self.ends, strict=True)])


def of_replies(loaded: LoadedModel, layers: int, replies: Sequence[Reply], held_out: int) -> Contexts:
    """The states that the first ``layers`` have, of all but the last ``held_out`` of ``replies``."""
    assert has_layers(loaded.model), "the trainer has seen to it"
    part = loaded.model.part(range(layers))
    assert tells_hidden(part), "the trainer has seen to it"
    part.tell_hidden()
    hidden, tokens, learned = list[Tensor](), list[int](), replies[: len(replies) - held_out]
    places = []
    for reply in learned:
        context = [*reply.prompt, *reply.tokens]
        rows = part.forward(context, len(context))
        assert rows.hidden is not None
        hidden.append(torch.from_numpy(rows.hidden.astype(np.float16)))
        places.append((len(tokens) + len(reply.prompt), len(tokens) + len(context)))
        tokens += context
    starts, ends = torch.tensor(places).T.contiguous()
    held = tuple(reply.prompt for reply in replies[len(learned) :])
    return Contexts(torch.cat(hidden), torch.tensor(tokens), starts, ends, held)


class WholeLessons:
    """Contexts, and what comes at each place of their replies."""

    def __init__(self, contexts: Contexts, tokens: Tensor) -> None:
        """``tokens`` [n]: the draft vocabulary."""
        self._contexts = contexts
        rows = torch.full((int(max(contexts.tokens.max(), tokens.max())) + 1,), IGNORED)
        rows[tokens] = torch.arange(len(tokens))
        self._rows = rows[contexts.tokens]
        self._begins = torch.cat((torch.zeros(1, dtype=torch.long), contexts.ends[:-1]))

    def batch(self, size: int, generator: torch.Generator) -> Batch:
        """States [size, longest context, width]; places [size, longest reply] in it that something is to be told
        after; nothing, twice; and the rows of what comes there, ``IGNORED`` beyond the reply, and for what is not in
        the draft vocabulary."""
        chosen = torch.randint(len(self._begins), (size,), generator=generator)
        begins, starts, ends = self._begins[chosen], self._contexts.starts[chosen], self._contexts.ends[chosen]
        within = torch.arange(int((ends - begins).max()))
        hidden = self._contexts.hidden[(begins[:, None] + within).clamp(max=len(self._rows) - 1)].float()
        ahead = starts[:, None] + torch.arange(int((ends - starts).max()))
        inside = ahead < ends[:, None]
        told = torch.where(inside, self._rows[ahead.clamp(max=len(self._rows) - 1)], IGNORED)
        places = torch.where(inside, ahead - 1 - begins[:, None], 0)
        return hidden, places, torch.empty(0), torch.empty(0), told


class KangarooNetwork(HeadNetwork):
    """Begins as the target's output layer behind the part: attention adds nothing."""

    def __init__(self, output: Tensor) -> None:
        super().__init__(output, output)
        width, size = self.width, inner(self.width)
        self.state_norm, self.norm = (nn.Parameter(torch.ones(width)) for _ in range(2))
        self.qkv, self.out = Layers(nn.Linear(width, 3 * size, bias=False)), Layers(nn.Linear(size, width, bias=False))
        nn.init.zeros_(self.out.layers[0].weight)  # type: ignore[arg-type]

    def forward(self, hidden: Tensor, rows: Tensor, recalled: Tensor, before: Tensor) -> Tensor:
        """Logits [batch, places, n] after the places ``rows`` [batch, places] of contexts whose states are ``hidden``
        [batch, longest, width]; the rest is not looked at."""
        batch, length, _ = hidden.shape
        size = inner(self.width)
        qkv = self.qkv(normed(hidden) * self.state_norm).view(batch, length, 3, -1, min(size, WIDTH))
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(turned(q), turned(k), v, is_causal=True)
        every = torch.arange(batch)[:, None], rows
        x = hidden[every] + self.out(mixed.transpose(1, 2).reshape(batch, length, size)[every])
        return (normed(x) * self.norm) @ self.output.T


def turned(x: Tensor) -> Tensor:
    """``x`` [batch, heads, length, width] with the angles of each place, as the drafter has them."""
    half = x.shape[-1] // 2
    angles = torch.outer(torch.arange(x.shape[2]), THETA ** (-torch.arange(half) / half))
    (left, right), sine, cosine = x.chunk(2, dim=-1), angles.sin(), angles.cos()
    return torch.cat((left * cosine - right * sine, right * cosine + left * sine), dim=-1)


def train_kangaroo(training: HeadTraining, layers: int, console: Console) -> None:
    """Train the adapter behind the first ``layers`` and write ``training.out``. Raises as ``train_heads`` does, and
    PredtuiError where the model has no more layers than that, or can leave out none."""
    loaded, training = load(training.model, "torch", training.threads or None), _usual(training)
    output = tables_of(loaded)[1]
    if not 0 < layers < loaded.abilities.layers:
        why = f"has {loaded.abilities.layers} layers" if loaded.abilities.layers else "can leave out no layers"
        raise PredtuiError(f"{loaded.name} {why}: no adapter can stand behind {layers}.", "Give another --exit.")
    work, facts = training.work / loaded.name, {**facts_of(training, loaded), "exit": layers}
    path = work / f"contexts-{layers}.safetensors"
    known = states.read(path, facts, Contexts) if training.resume else None
    sketch = _network(training, output, torch.arange(min(training.recipe.vocabulary, len(output))))
    foreseen = estimated(loaded, sketch, training.recipe, training.budget, known is None)
    console.print(f"{NAME} for {loaded.name}: {foreseen.line()}", soft_wrap=True)
    with terminate_as_interrupt():
        if known is None:
            said = replies_of(training, loaded, console)
            known = of_replies(loaded, layers, said, min(training.recipe.held_out, len(said) // 2))
            states.save(path, known, facts)
        tokens = states.commonest(known.replied, training.recipe.vocabulary)
        network, lessons = _network(training, output, tokens), WholeLessons(known, tokens)
        run = Training(network, lessons, training.recipe, training.seed, work / f"{NAME}-{layers}.safetensors")
        with bar(f"heads {loaded.name} {NAME}", console, News.line) as report:
            fresh = Counters(json.dumps([NAME, facts, asdict(training.recipe)], sort_keys=True))
            counters = run.run(training.budget, fresh, training.resume, report)
    publish(training, loaded, exported(loaded, network, tokens, layers), counters, known.prompts, console)


def _usual(training: HeadTraining) -> HeadTraining:
    return replace(training, recipe=recipe_of(training.recipe))


def _network(training: HeadTraining, output: Tensor, tokens: Tensor) -> KangarooNetwork:
    """Fresh, for the draft vocabulary ``tokens``."""
    torch.manual_seed(training.seed)
    return KangarooNetwork(output[tokens])


def exported(loaded: LoadedModel, network: KangarooNetwork, tokens: Tensor, layers: int) -> Heads:
    """As the drafter reads it."""
    tensors: dict[str, Any] = {TOKENS: tokens, OUTPUT: network.output, EXIT: torch.tensor([layers])}
    tensors |= dict(network.named_parameters())
    found = {name: tensor.detach().cpu().numpy() for name, tensor in tensors.items()}
    return Heads(NAME, loaded.name, network.width, heads.digest(loaded.tokenizer), found)
