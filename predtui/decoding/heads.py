"""Trained heads in a folder: what a method has learnt to tell from the hidden states of one target.

One safetensors file holds their weights in 16 bits and, in its header, whose they are. They speak a draft vocabulary,
the tokens that the target's replies are made of (FR-Spec, Zhao et al. 2025), since all of a large one would be most of
the file and of the time. Must not know how a method drafts with its weights, or how they were trained.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from predtui.errors import PredtuiError
from predtui.files import existing, replace_by
from predtui.llm.base import LoadedModel, Tokenizer

WEIGHTS = "heads.safetensors"
FACTS = "heads"
"""What the header tells, as JSON, below this name."""
TOKENS, EMBEDDING, OUTPUT = "tokens", "embedding", "output"
EPSILON = np.float32(1e-6)
"""Of norms."""
_LARGEST = np.float32(88)
"""Of an exponent in 32 bits."""
ATTENTION = 4
"""Heads of attention, in the methods that attend."""
_PROBE = "Hello, world! It's 12:30 on 4 May 2026; naïve cafés cost €3.50\n\tfor (i = 0; i < n; i++) — 你好, мир"
"""What two tokenizers are compared by: each engine has its own way to spell a single token."""

Array = npt.NDArray[np.float32]
Network = TypeVar("Network")
Place = Callable[[Sequence[int]], npt.NDArray[np.int64]]
"""The row [len(tokens)] of each of some tokens in the embedding: the last where it is not in the draft vocabulary."""


@dataclass(frozen=True)
class Heads:
    """``method`` and ``model``: who drafts with them, and for which target; ``width``: of that target's states;
    ``tokenizer``: the ``digest`` of its tokenizer. Of ``tensors``, "tokens" [n] are the draft vocabulary, "embedding"
    [n + 1, width] the target's embeddings of these tokens and, in the last row, of any other, where the method takes
    them, and "output" [n, width] the rows of its output matrix, where they are not its embeddings."""

    method: str
    model: str
    width: int
    tokenizer: str
    tensors: Mapping[str, Any]

    @property
    def tokens(self) -> npt.NDArray[np.int64]:
        """The draft vocabulary [n]."""
        return np.asarray(self.tensors[TOKENS], np.int64)

    @property
    def output(self) -> Array:
        """The target's output matrix [width, n] for these tokens."""
        whole = self.weight(OUTPUT) if OUTPUT in self.tensors else self.weight(EMBEDDING)[: len(self.tokens)]
        return np.ascontiguousarray(whole.T)

    def weight(self, name: str) -> Array:
        """A tensor in 32 bits. Raises KeyError where it is missing."""
        return np.ascontiguousarray(self.tensors[name], np.float32)

    def matrix(self, name: str) -> Array:
        """The matrix [in, out] of a layer, in the order in which numpy multiplies a few rows by it in half the time."""
        return np.ascontiguousarray(self.weight(f"{name}.weight").T)

    def count(self, name: str) -> int:
        """How many tensors there are by this ``name`` with 0, 1, 2, ... in its place {}. Raises KeyError for none."""
        found = next(number for number in range(len(self.tensors) + 1) if name.format(number) not in self.tensors)
        if not found:
            raise KeyError(name)
        return found

    @cached_property
    def place(self) -> Place:
        """Holds none of the weights, which a drafter has in a form of its own."""
        rows = {token: row for row, token in enumerate(self.tokens.tolist())}
        return lambda tokens: np.array([rows.get(token, len(rows)) for token in tokens], np.int64)


def normed(x: Array) -> Array:
    """Each row of ``x`` [m, width] over its root mean square."""
    square: Array = np.square(x).mean(axis=-1, keepdims=True)
    result: Array = x / np.sqrt(square + EPSILON)
    return result


def silu(x: Array) -> Array:
    """``x`` times its sigmoid."""
    result: Array = x * sigmoid(x)
    return result


def sigmoid(x: Array) -> Array:
    """Between 0 and 1."""
    result: Array = np.reciprocal(1 + np.exp(np.minimum(-x, _LARGEST)))
    return result


def attended(query: Array, keys: Array, values: Array, bias: Array | float = 0.0) -> Array:
    """[m, width]: of ``values`` [m, seen, width], what each ``query`` [m, width] finds by ``keys`` [m, seen, width];
    ``bias`` [seen] is on their scores. ``width`` is that of all heads."""
    rows, seen, width = keys.shape
    queries = query.reshape(rows, ATTENTION, -1, 1)
    scores = (keys.reshape(rows, seen, ATTENTION, -1).transpose(0, 2, 1, 3) @ queries)[..., 0]
    scores = scores * np.float32((width // ATTENTION) ** -0.5) + bias
    shares = np.exp(scores - scores.max(axis=2, keepdims=True))
    shares /= shares.sum(axis=2, keepdims=True)
    found = shares[:, :, None] @ values.reshape(rows, seen, ATTENTION, -1).transpose(0, 2, 1, 3)
    result: Array = found.reshape(rows, width)
    return result


def held(guesser: object) -> int:
    """Bytes of the arrays that ``guesser`` has, by themselves or in lists."""

    def of(value: object) -> int:
        if isinstance(value, np.ndarray):
            return value.nbytes
        return sum(map(of, value)) if isinstance(value, list | tuple) else 0

    return sum(map(of, vars(guesser).values()))


def digest(tokenizer: Tokenizer) -> str:
    """Tells one tokenizer from another, the same in every engine."""
    return hashlib.sha256(repr(tokenizer.encode(_PROBE)).encode()).hexdigest()[:16]


def write(heads: Heads, folder: Path) -> None:
    """Into ``folder``, which is made, as a whole or not at all. Weights are kept in 16 bits. Raises PredtuiError where
    they cannot be written."""
    from safetensors.numpy import save_file

    facts = {"method": heads.method, "model": heads.model, "width": heads.width, "tokenizer": heads.tokenizer}
    kept = {
        name: np.asarray(tensor, np.int32 if name == TOKENS else np.float16) for name, tensor in heads.tensors.items()
    }
    about = {FACTS: json.dumps(facts)}
    replace_by(folder / WEIGHTS, lambda place: save_file(kept, str(place), metadata=about))


def load(
    folder: Path, method: str, target: LoadedModel, make: Callable[[Heads], Network], trainer: str = ""
) -> Network:
    """What ``make`` makes of the heads of ``method`` in ``folder``, or in a folder of that name within it. ``trainer``:
    the command of ``predtui train`` that trains them, where it is not that of all others. Raises PredtuiError where
    there are none, where they are damaged, and where they are another target's."""
    path = next((path for path in (folder / WEIGHTS, folder / method / WEIGHTS) if path.is_file()), None)
    command = trainer or f"heads --method {method}"
    remedy = f"Train some: predtui train {command} --model MODEL"
    if path is None:
        raise PredtuiError(f"There are no heads for {method} in {folder}.", remedy)
    try:
        heads = _read(path)
        if heads.method == method:
            _check(heads, target, path, remedy)
            _measure(heads)
            return make(heads)
    except PredtuiError:
        raise
    except Exception as error:  # what is not as it should be fails in any way
        raise PredtuiError(f"{path} cannot be read ({type(error).__name__}: {error}).", remedy) from error
    raise PredtuiError(f"The heads in {path} are for {heads.method}, not for {method}.", remedy)


def _read(path: Path) -> Heads:
    """Raises ValueError or KeyError for a damaged file, or safetensors' own errors."""
    from safetensors import safe_open

    with safe_open(str(existing(path)), framework="numpy") as file:
        facts = json.loads(file.metadata()[FACTS])
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    heads = Heads(facts["method"], facts["model"], int(facts["width"]), facts["tokenizer"], tensors)
    tokens = heads.tokens
    if tokens.ndim != 1 or not tokens.size or tokens.min() < 0 or len(np.unique(tokens)) < tokens.size:
        raise ValueError("its tokens make no vocabulary")
    for name, tensor in tensors.items():
        if tensor.dtype != (np.int32 if name == TOKENS else np.float16):
            raise ValueError(f"{name} is kept as {tensor.dtype}")
    if not all(np.isfinite(tensor).all() for tensor in tensors.values()):
        raise ValueError("some weights are no numbers")
    return heads


def _measure(heads: Heads) -> None:
    """Raises ValueError where what every method looks up in is not as large as the draft vocabulary."""
    for name, rows in ((EMBEDDING, heads.tokens.size + 1), (OUTPUT, heads.tokens.size)):
        if name in heads.tensors and heads.tensors[name].shape != (rows, heads.width):
            raise ValueError(f"{name} has the shape {heads.tensors[name].shape}")


def _check(heads: Heads, target: LoadedModel, path: Path, remedy: str) -> None:
    """Raises PredtuiError where the heads are another target's."""
    width = target.abilities.hidden
    if heads.width != width:
        why = f"its states have {width} values, and these heads take {heads.width}"
    elif heads.tokenizer != digest(target.tokenizer) or heads.tokens.max() >= target.model.vocab_size:
        why = "its tokens are others"
    else:
        return
    raise PredtuiError(f"The heads in {path} are for {heads.model}, not for {target.name}: {why}.", remedy)
