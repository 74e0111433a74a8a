"""Soft tokens for PPD and Hidden Transfer: learned through the target itself, whose weights stay.

At places in its own replies, each with a chain of soft tokens behind it, it is to tell what it said after the next
token. All places of a reply share its cache, and one forward, in which a chain sees its place, what is before that, and
itself. Must not know how a draft is verified.
"""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import torch
from rich.console import Console
from torch import Tensor, nn
from transformers import DynamicCache

from predtui.decoding import heads
from predtui.decoding.drafters import hidden_transfer, ppd
from predtui.decoding.heads import TOKENS, Heads
from predtui.decoding.soft_draft import LAYER, SOFT
from predtui.errors import PredtuiError
from predtui.lab.training.cllm.windows import IGNORED
from predtui.lab.training.heads import states
from predtui.lab.training.heads.config import Recipe
from predtui.lab.training.heads.estimate import estimated
from predtui.lab.training.heads.loop import Training
from predtui.lab.training.heads.networks.base import HeadNetwork
from predtui.lab.training.heads.states import Batch, States
from predtui.lab.training.heads.train import HeadTraining, collected, facts_of, publish, tables_of
from predtui.lab.training.pocket.report import bar
from predtui.lab.training.steps import Counters, News
from predtui.llm.base import LoadedModel
from predtui.llm.load import load
from predtui.llm.torch.naming import cache_name
from predtui.llm.torch.soft import entering, soft_state
from predtui.system.exits import terminate_as_interrupt

METHODS = (ppd.NAME, hidden_transfer.NAME)
CHAIN, PLACES, CONTEXTS = 3, 24, 8
"""Soft tokens of a chain, chains of a context, and contexts of a batch."""
GROUPS = 8
"""So many batches are drawn for each; those of like length stand together, and one is taken."""
ROOM = 1024
"""Tokens of a batch, beside its chains: contexts that are longer are fewer."""
PPD_LR, TRANSFER_LR = 0.05, 0.005
_CONTEXT = 100
"""Tokens of a context, before any is known."""


def recipe_of(recipe: Recipe, method: str) -> Recipe:
    """The same with what is usual here: batches of whole contexts, and AdamW alone."""
    rate = PPD_LR if method == ppd.NAME else TRANSFER_LR
    return replace(recipe, batch=min(recipe.batch, CONTEXTS), depth=CHAIN, adam_lr=rate)


class SoftLessons:
    """Contexts, places in their replies, and what comes behind the token after each."""

    def __init__(self, known: States, depth: int) -> None:
        """``depth``: tokens that are to be told. Raises PredtuiError where no reply is as long as that takes."""
        self._depth, asked, said = depth, _split(known.asked, known.asked_ends), _split(known.tokens, known.ends)
        self._pairs = [(ask, reply) for ask, reply in zip(asked, said, strict=True) if len(reply) > 1]
        if not self._pairs:
            raise PredtuiError("No reply has two tokens.", "Give other --prompts.")

    def batch(self, size: int, generator: torch.Generator) -> Batch:
        """Of ``size`` contexts of like length, fewer where they are long: tokens [contexts, longest], 0 behind the end;
        places [contexts, PLACES] in them; nothing, twice; and the tokens [contexts * PLACES, depth] that come behind
        the one after each place, ``IGNORED`` beyond the reply."""
        drawn = torch.randint(len(self._pairs), (GROUPS * size,), generator=generator).tolist()
        drawn.sort(key=self._length)
        group = int(torch.randint(GROUPS, (1,), generator=generator)) * size
        room = max(1, ROOM // self._length(drawn[group + size - 1]))
        chosen = [self._pairs[n] for n in drawn[group : group + size][:room]]
        contexts = [torch.cat(pair) for pair in chosen]
        tokens = nn.utils.rnn.pad_sequence(contexts, batch_first=True)
        places, told = torch.empty(len(chosen), PLACES, dtype=torch.long), list[Tensor]()
        for row, ((ask, reply), context) in enumerate(zip(chosen, contexts, strict=True)):
            behind = torch.randint(len(reply) - 1, (PLACES,), generator=generator)
            places[row] = len(ask) - 1 + behind
            ahead = places[row][:, None] + 2 + torch.arange(self._depth)
            told.append(torch.where(ahead < len(context), context[ahead.clamp(max=len(context) - 1)], IGNORED))
        return tokens, places, torch.empty(0), torch.empty(0), torch.cat(told)

    def _length(self, number: int) -> int:
        return sum(map(len, self._pairs[number]))


def _split(tokens: Tensor, ends: Tensor) -> tuple[Tensor, ...]:
    return torch.tensor_split(tokens, ends[:-1])


class SoftNetwork(HeadNetwork):
    """What makes soft tokens, before a frozen target. PPD's begin as the mean of embeddings, Hidden Transfer's as the
    state of the last token."""

    def __init__(self, target: Any, method: str, output: Tensor, layer: int) -> None:
        """``target``: a network of transformers, in which soft tokens enter ``layer``."""
        super().__init__(output, output)
        self._target, self.layer = (target,), layer  # a tuple, so that its weights are none of this network's
        target.requires_grad_(False)
        width = output.shape[1]
        mean = target.get_input_embeddings().weight.float().mean(dim=0)
        fresh = mean.expand(CHAIN, width) if method == ppd.NAME else torch.eye(width).expand(CHAIN, width, width)
        self.soft = nn.Parameter(fresh.clone().contiguous())

    def forward(self, hidden: Tensor, rows: Tensor, recalled: Tensor, before: Tensor) -> Tensor:
        """Logits [batch * places, chain, vocabulary] behind chains at the places ``rows`` [batch, places] of contexts
        whose tokens are ``hidden`` [batch, longest]; the rest is not looked at."""
        (target,), (batch, places) = self._target, rows.shape
        known, below = self._read(hidden.to(target.device))
        steps = torch.arange(CHAIN)
        under = below.take_along_dim(rows.to(below.device)[..., None], dim=1).flatten(0, 1)
        weights = self.soft.to(under)
        made = torch.stack([soft_state(weight, under) for weight in weights], dim=1).view(batch, -1, self.width)
        with entering(target, self.layer, lambda _states: made):
            out = target(
                hidden.new_zeros(batch, places * CHAIN).to(target.device),
                attention_mask=seen_by(hidden.shape[1], rows, target.dtype).to(target.device),
                position_ids=(rows[..., None] + 1 + steps).flatten(1).to(target.device),
                use_cache=True,
                **{cache_name(target): known},
            )
        logits: Tensor = out.logits.float().cpu()
        return logits.view(batch * places, CHAIN, -1)

    @torch.no_grad()
    def _read(self, tokens: Tensor) -> tuple[Any, Tensor]:
        """Of contexts [batch, longest], the cache and what enters the layer [batch, longest, width]: these know nothing
        of chains, so that only the chains are learned through."""
        (target,), below = self._target, list[Tensor]()

        def kept(states: Tensor) -> Tensor:
            below.append(states)
            return states

        cache = DynamicCache(config=target.config.get_text_config())
        with entering(target, self.layer, kept):
            target(tokens, use_cache=True, logits_to_keep=1, **{cache_name(target): cache})
        return cache, below[0]

    def work(self, depth: int) -> int:
        """Those of a context, which is read once where others take three passes, and of its chains, which take two: no
        weight of the target is learned."""
        weights: int = sum(weight.numel() for weight in self._target[0].parameters())
        return weights * (_CONTEXT + 2 * PLACES * depth) // 3


def seen_by(length: int, rows: Tensor, dtype: torch.dtype) -> Tensor:
    """Additive, [batch, 1, chains * CHAIN, length + chains * CHAIN]: what chains at the places ``rows`` [batch, chains]
    see of ``length`` tokens in a row, and of themselves."""
    batch, places = rows.shape
    before = torch.arange(length) <= rows.repeat_interleave(CHAIN, dim=1)[..., None]
    chain = torch.arange(places).repeat_interleave(CHAIN)
    own = (chain[:, None] == chain).tril().expand(batch, -1, -1)
    seen = torch.cat((before, own), dim=2)
    return torch.where(seen, 0.0, torch.finfo(dtype).min).to(dtype)[:, None]


def train_soft(training: HeadTraining, layer: int, console: Console) -> None:
    """Train the soft tokens of a method, Hidden Transfer's for what enters ``layer``, and write ``training.out``.
    Raises as ``train_heads`` does, and PredtuiError where the model takes none, or has not so many layers."""
    loaded = load(training.model, "torch", training.threads or None)
    training = replace(training, recipe=recipe_of(training.recipe, training.method))
    layer = 0 if training.method == ppd.NAME else layer
    network = _network(training, loaded, layer)
    work, facts = training.work / loaded.name, facts_of(training, loaded)
    path = work / "states.safetensors"
    known = states.saved(path, facts) if training.resume else None
    foreseen = estimated(loaded, network, training.recipe, training.budget, known is None)
    console.print(f"{training.method} for {loaded.name}: {foreseen.line()}", soft_wrap=True)
    with terminate_as_interrupt():
        if known is None:
            known = collected(training, loaded, console)
            states.save(path, known, facts)
        lessons = SoftLessons(known, CHAIN)
        run = Training(network, lessons, training.recipe, training.seed, work / f"{training.method}.safetensors")
        with bar(f"heads {loaded.name} {training.method}", console, News.line) as report:
            fresh = Counters(json.dumps([training.method, layer, facts, asdict(training.recipe)], sort_keys=True))
            counters = run.run(training.budget, fresh, training.resume, report)
    publish(training, loaded, exported(training.method, loaded, network), counters, known.prompts, console)


def _network(training: HeadTraining, loaded: LoadedModel, layer: int) -> SoftNetwork:
    if not loaded.abilities.soft:
        why = "its layers are not plain ones in a list, each of which attends to all that came before"
        raise PredtuiError(f"{loaded.name} takes no soft tokens: {why}.", "Train another method.")
    if layer >= (layers := loaded.abilities.layers):
        raise PredtuiError(f"{loaded.name} has {layers} layers, and none behind {layer}.", "Give a smaller --exit.")
    network: Any = loaded.model.network  # type: ignore[attr-defined]
    return SoftNetwork(network, training.method, tables_of(loaded)[1], layer)


def exported(method: str, loaded: LoadedModel, network: SoftNetwork) -> Heads:
    """As the drafter reads it. Of a draft vocabulary, which is the target's, the last token stands for all."""
    tensors = {TOKENS: np.array([loaded.model.vocab_size - 1]), LAYER: np.array([network.layer])}
    tensors[SOFT] = network.soft.detach().cpu().numpy()
    return Heads(method, loaded.name, network.width, heads.digest(loaded.tokenizer), tensors)
