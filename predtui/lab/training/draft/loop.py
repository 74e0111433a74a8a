"""Steps of training a draft: first the next token of the target's replies, then the target's distribution there, which
the target computes anew in each step. Must not know of files, or of prompts.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from predtui.lab.training.cllm.windows import Reply
from predtui.lab.training.draft.config import Recipe
from predtui.lab.training.draft.losses import LOSSES
from predtui.lab.training.pocket.model import PocketModel
from predtui.lab.training.steps import Steps


class Alignment(Steps):
    """One run over ``replies``; its batches are drawn by ``seed``. The draft learns to foretell what the target says,
    not what it is told: of the prompts nothing is learned."""

    def __init__(
        self, network: PocketModel, target: Any, replies: Sequence[Reply], recipe: Recipe, seed: int, path: Path
    ) -> None:
        """``target``: a causal network of transformers; ``path``: the checkpoint."""
        super().__init__(network, recipe, seed, path)
        self.network, self._target, self._replies, self._recipe = network, target, replies, recipe

    def learn(self, generator: torch.Generator, share: float) -> float:
        drawn = torch.randint(len(self._replies), (self._recipe.batch,), generator=generator)
        ids, places = batch([self._replies[number] for number in drawn.tolist()])
        ids, places = ids.to(self._target.device), places.to(self._target.device)
        logits = self.network(ids, places)
        nats = functional.cross_entropy(logits, ids.flatten()[places + 1])
        loss = nats if share < self._recipe.pretraining else LOSSES[self._recipe.loss](logits, self._told(ids, places))
        torch.autograd.backward(loss)
        return nats.item()

    @torch.no_grad()
    def _told(self, ids: Tensor, places: Tensor) -> Tensor:
        logits: Tensor = self._target(ids, use_cache=False).logits
        return logits.flatten(0, 1)[places].float()


def batch(replies: Sequence[Reply]) -> tuple[Tensor, Tensor]:
    """Prompts with their replies [replies, longest], filled up behind, where nothing is seen; and the flat places whose
    next token is of a reply."""
    longest = max(len(reply.prompt) + len(reply.tokens) for reply in replies)
    rows: list[list[int]] = []
    places: list[int] = []
    for row, reply in enumerate(replies):
        whole = [*reply.prompt, *reply.tokens]
        rows.append(whole + [0] * (longest - len(whole)))
        places += range(row * longest + len(reply.prompt) - 1, row * longest + len(whole) - 1)
    return torch.tensor(rows), torch.tensor(places)
