"""The model's own greedy replies to prompts: the fixed points that its Jacobi trajectories end in.

Collected before training, so that tuning teaches the model to say sooner what it says anyway. Must not know of losses.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor
from transformers import DynamicCache

from predtui.files import replace_by
from predtui.lab.training.cllm.windows import Reply
from predtui.llm.torch.naming import cache_name
from predtui.llm.unfit import numberless

Facts = dict[str, Any]
FACTS = "facts"
BATCH = 256
"""Prompts answered side by side, at most."""
PLACES = 32_768
"""Of such a batch in the key-value cache, at most: all are as wide as the longest prompt and its reply."""
_SORTED = 8 * BATCH
"""Prompts of which those of like length are put together."""
_LEAVING = 0.8
"""Share of the rows at which those that have ended are taken out."""


def likeliest(logits: Tensor) -> Tensor:
    """Of ``logits`` [rows, vocabulary] the greedy tokens [rows, 1]."""
    return logits.argmax(-1, keepdim=True)


def collect(
    network: Any,
    prompts: Iterator[Sequence[int]],
    is_end: Callable[[int], bool],
    limit: int,
    wanted: int,
    choose: Callable[[Tensor], Tensor] = likeliest,
    enough: Callable[[int], bool] = lambda _count: False,
) -> list[Reply]:
    """``wanted`` replies to the next prompts, of at most ``limit`` tokens, chosen as in ``answered``; fewer where that
    is ``enough`` (told how many there are)."""
    replies: list[Reply] = []
    while len(replies) < wanted and not enough(len(replies)):
        drawn = sorted(islice(prompts, min(_SORTED, wanted - len(replies))), key=len)
        alike = list(batches(drawn, limit))
        random.Random(len(replies)).shuffle(alike)  # lest those be short that are answered before it is enough
        for some in alike:
            if not enough(len(replies)):
                replies += answered(network, some, is_end, limit, choose)
    return replies


def batches(prompts: Sequence[Sequence[int]], limit: int) -> Iterator[Sequence[Sequence[int]]]:
    """``prompts``, the shortest first, in such as are answered side by side."""
    start = 0
    while start < len(prompts):
        end = start + 1
        while end < len(prompts) and end - start < min(BATCH, PLACES // (len(prompts[end]) + limit)):
            end += 1
        yield prompts[start:end]
        start = end


@torch.inference_mode()
def answered(
    network: Any,
    prompts: Sequence[Sequence[int]],
    is_end: Callable[[int], bool],
    limit: int,
    choose: Callable[[Tensor], Tensor] = likeliest,
) -> list[Reply]:
    """Replies to prompts side by side, each at most ``limit`` tokens, who has ended leaves now and then; ``choose``
    takes logits [rows, vocabulary] and gives tokens [rows, 1]. Raises PredtuiError for a network that computes no
    numbers."""
    width = max(map(len, prompts))
    padding = torch.tensor([width - len(prompt) for prompt in prompts], device=network.device)
    ids = torch.tensor([[0] * (width - len(prompt)) + list(prompt) for prompt in prompts], device=network.device)
    said: list[list[int]] = [[] for _ in prompts]
    rows = list(range(len(prompts)))
    cache, name = DynamicCache(config=network.config.get_text_config()), cache_name(network)
    for step in range(limit):
        column = torch.arange(width + step, device=network.device)
        out = network(
            ids,
            attention_mask=(column >= padding[:, None]).long(),
            position_ids=(column[-ids.shape[1] :] - padding[:, None]).clamp(min=0),
            **{name: cache},
            use_cache=True,
            logits_to_keep=1,
        )
        if not step and out.logits.isnan().any():
            raise numberless()
        ids = choose(out.logits[:, -1])
        for row, token in zip(rows, ids[:, 0].tolist(), strict=True):
            if not (said[row] and is_end(said[row][-1])):
                said[row].append(token)
        speaking = [place for place, row in enumerate(rows) if not is_end(said[row][-1])]
        if not speaking:
            break
        if len(speaking) <= _LEAVING * len(rows):
            kept = torch.tensor(speaking, device=network.device)
            cache.batch_select_indices(kept)
            ids, padding, rows = ids[kept], padding[kept], [rows[place] for place in speaking]
    return [Reply(tuple(prompt), tuple(reply)) for prompt, reply in zip(prompts, said, strict=True)]


def save(path: Path, replies: Sequence[Reply], facts: Facts) -> None:
    """Write them as safetensors, as a whole or not at all: all tokens, how many are each prompt's and each reply's, and
    the ``facts`` that they are a function of."""
    tokens = [token for reply in replies for token in (*reply.prompt, *reply.tokens)]
    lengths = [[len(reply.prompt), len(reply.tokens)] for reply in replies]
    tensors = {"tokens": torch.tensor(tokens), "lengths": torch.tensor(lengths)}
    about = {FACTS: json.dumps(facts, sort_keys=True)}
    replace_by(path, lambda place: save_file(tensors, str(place), metadata=about))


def saved(path: Path, facts: Facts) -> list[Reply] | None:
    """What ``save`` wrote with the same ``facts``; None where there is no such file, or it is damaged."""
    try:
        with safe_open(str(path), framework="pt") as file:
            if (file.metadata() or {}).get(FACTS) != json.dumps(facts, sort_keys=True):
                return None
            data: dict[str, Tensor] = {name: file.get_tensor(name) for name in ("tokens", "lengths")}
    except (OSError, SafetensorError):
        return None
    tokens = iter(data["tokens"].tolist())
    return [Reply(tuple(islice(tokens, p)), tuple(islice(tokens, r))) for p, r in data["lengths"].tolist()]
