"""Heads of random weights for any target, small and as each method reads them."""

from __future__ import annotations

import atexit
import shutil
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np

from predtui.decoding import heads
from predtui.decoding.drafters.kangaroo import inner
from predtui.decoding.heads import EMBEDDING, OUTPUT, TOKENS, Heads
from predtui.llm.base import LoadedModel

METHODS = ("medusa", "hydra", "eagle", "clover", "falcon", "chimera")
PARTS = ("kangaroo",)
"""Methods whose heads are of the states of a part."""
SOFT = {"ppd": 2, "hidden-transfer": 3}
"""Methods of soft tokens, and the ranks of what makes these."""
JUDGE = "judge"
NORMS = ("state_norm", "embedding_norm", "inner_norm", "seen_norm", "hidden_norm", "head_norm", "norm")
NARROW, ATTENDS = 8, 4


def shapes(method: str, width: int) -> dict[str, tuple[int, int]]:
    """Of layers of one matrix alone."""
    square, whole = (width, width), {"gate_up": (2 * width, width), "down": (width, width)}
    if method == "eagle":
        return dict.fromkeys(("state", "token", "one", "two"), square) | whole
    if method == "clover":
        narrow = dict.fromkeys(("query", "key", "value"), (NARROW, width)) | {"mixed": (width, NARROW)}
        return dict.fromkeys(("augment", "token", "one", "two"), square) | narrow | whole
    if method == "falcon":
        narrow = dict.fromkeys(("token", "one", "two"), (NARROW, width)) | {"begin": (2 * NARROW, width)}
        narrow |= {"gates": (4 * NARROW, 2 * NARROW), "enter": (width, 2 * NARROW), "query": (ATTENDS, width)}
        narrow |= {"remember": (2 * ATTENDS, NARROW), "own": (2 * ATTENDS, width), "mixed": (width, ATTENDS)}
        return {"state": square} | narrow | whole
    if method == "chimera":
        narrow = dict.fromkeys(("trigram.0", "trigram.1", "trigram.2", "query"), (NARROW, width))
        narrow |= dict.fromkeys(("key", "value"), (NARROW, NARROW))
        return {"state": square} | narrow | dict.fromkeys(("short", "mixed"), (width, NARROW))
    return {}


def random_heads(method: str, target: LoadedModel, seed: int = 0, width: int = 0) -> Heads:
    """Such as say something; the draft vocabulary lacks some of the target's tokens. ``width``: of other states than
    the target's."""
    rng, width = np.random.default_rng(seed), width or target.abilities.hidden
    tokens = np.arange(0 if target.model.vocab_size < 9 else 4, target.model.vocab_size)

    def matrix(*shape: int) -> Any:
        return (rng.normal(size=shape) * shape[-1] ** -0.5).astype(np.float32)

    tensors: dict[str, Any] = {TOKENS: tokens}
    if method == "kangaroo":
        size = inner(width)
        tensors |= {OUTPUT: 2 * matrix(len(tokens), width), "exit": np.array([1])}
        tensors |= {name: np.ones(width, np.float32) for name in ("state_norm", "norm")}
        tensors |= {"qkv.layers.0.weight": matrix(3 * size, width), "out.layers.0.weight": matrix(width, size)}
        return Heads(method, target.name, width, heads.digest(target.tokenizer), tensors)
    if method in SOFT:
        tensors |= {"soft": matrix(3, *[width] * (SOFT[method] - 1)), "layer": np.array([SOFT[method] - 2])}
        return Heads(method, target.name, width, heads.digest(target.tokenizer), tensors)
    if method == JUDGE:
        told = {"weight": matrix(width), "bias": np.zeros(1), "threshold": np.full(1, 0.5)}
        return Heads(method, target.name, width, heads.digest(target.tokenizer), {TOKENS: np.array([0]), **told})
    if method == "medusa":
        tensors |= {OUTPUT: 2 * matrix(len(tokens), width)}
        for head in range(3):
            tensors |= {
                f"heads.{head}.layers.0.weight": matrix(width, width),
                f"heads.{head}.layers.0.bias": matrix(width),
            }
        return Heads(method, target.name, width, heads.digest(target.tokenizer), tensors)
    tensors |= {EMBEDDING: 2 * matrix(len(tokens) + 1, width)}
    tensors |= {name: np.ones(width, np.float32) for name in NORMS}
    if method == "hydra":
        tensors["narrow.layers.0.weight"] = matrix(3, width)
        for head in range(3):
            tensors[f"heads.{head}.layers.0.weight"] = matrix(width, width + 3 * (head + 1))
            tensors |= {
                f"heads.{head}.layers.1.weight": matrix(width, width),
                f"heads.{head}.layers.1.bias": matrix(width),
            }
    elif method == "chimera":
        tensors["far"] = matrix(5)
        for head in range(2):
            tensors[f"heads.{head}.layers.0.weight"] = matrix(width, width)
            tensors[f"heads.{head}.layers.0.bias"] = matrix(width)
    elif method == "clover":
        tensors["augment.layers.1.weight"] = matrix(width, width)
    elif method == "falcon":
        tensors["slots"] = matrix(2, width)
    tensors |= {f"{name}.layers.0.weight": matrix(*shape) for name, shape in shapes(method, width).items()}
    return Heads(method, target.name, width, heads.digest(target.tokenizer), tensors)


def heads_of(target: LoadedModel, memo: dict[tuple[str, int, int], Path] = {}) -> Path:  # noqa: B006
    """A folder of heads for each method."""
    key = target.name, target.model.vocab_size, target.abilities.hidden
    if key not in memo:
        memo[key] = Path(mkdtemp(prefix="predtui-heads"))
        atexit.register(shutil.rmtree, memo[key], ignore_errors=True)
        for method in (*METHODS, *PARTS, *SOFT, JUDGE) if target.abilities.hidden else ():
            heads.write(random_heads(method, target), memo[key] / method)
    return memo[key]
