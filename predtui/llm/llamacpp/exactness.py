"""Finds out whether a model's logits are the same, bit for bit, however many tokens are evaluated at once.

Engines choose different kernels for different numbers of tokens, and these may sum in different orders. Padding a
forward to a certain number of tokens can make the difference vanish. The cheapest padding that does is measured once
per build of llama.cpp, processor, number of threads, and types and shapes of weights, and remembered. Must not know how
an engine evaluates.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from predtui.llm.base import LanguageModel, TreeModel, has_trees
from predtui.llm.gguf import Weight
from predtui.llm.llamacpp.findings import Findings, digest, key_of, llama_build, processor
from predtui.llm.rows import Logits

_SIZES = (1, 2, 3, 5, 8, 17)
"""Tokens of the forwards that are compared with one forward over the whole text."""
_LENGTH = 33
"""Tokens of that text."""
_FINDINGS = Findings("exactness.json")


@dataclass(frozen=True, slots=True)
class Padding:
    """A forward is filled up with tokens whose rows nobody reads, to at least ``least`` and to a ``multiple``."""

    least: int = 1
    multiple: int = 1

    def of(self, count: int) -> int:
        """How many tokens a forward over ``count`` tokens evaluates."""
        return -(-max(count, self.least) // self.multiple) * self.multiple


UNPADDED, PAIRS = Padding(), Padding(2)
_WAYS = (UNPADDED, PAIRS, Padding(4, 4), Padding(8), Padding(8, 8), Padding(16, 16))
"""Paddings to try, the cheapest first; the first that leaves no difference is taken."""


@dataclass(frozen=True, slots=True)
class Exactness:
    """What was measured. ``differs``: the largest absolute difference of any logit that is left with ``padding``;
    ``unpadded``: the same without padding. 0 is bit for bit equality."""

    padding: Padding
    differs: float
    unpadded: float

    @property
    def exact(self) -> bool:
        return self.differs == 0

    def __str__(self) -> str:
        if not self.exact:
            return (
                f"not exact: with the number of tokens evaluated at once, a logit changes by up to {self.differs:.2g}, "
                "so that a near tie may be decided otherwise than plain decoding decides it"
            )
        same = "exact: the same logits, bit for bit, however many tokens are evaluated at once"
        if self.padding == UNPADDED:
            return same
        count = (
            f"a multiple of {self.padding.multiple}" if self.padding.multiple > 1 else f"at least {self.padding.least}"
        )
        return f"{same}, since it is {count} (or a logit would change by up to {self.unpadded:.2g})"


@runtime_checkable
class PaddedModel(LanguageModel, Protocol):
    """A language model that can pad its forwards."""

    def pad(self, padding: Padding) -> None:
        """Pad every forward from now on. The model forgets what it has evaluated."""
        ...


def found(model: LanguageModel, weights: Collection[Weight], threads: int, held: str) -> Exactness:
    """The exactness of a llama.cpp model that was just opened, which is padded accordingly. ``held``: what else selects
    its kernels, in words. Where it is not remembered it is measured, in the time of one or two hundred tokens."""
    circumstances = {
        "llama.cpp": llama_build(),
        "processor": processor(),
        "threads": str(threads),
        "weights": digest(repr(sorted(weights))),
        "held": held,
    }
    exactness = _remembered(circumstances)
    if exactness is None:
        exactness = measure(model)
        _FINDINGS.write({**circumstances, "verdict": dataclasses.asdict(exactness)})
    if isinstance(model, PaddedModel):
        model.pad(exactness.padding)
    return exactness


def exactness_of(model: LanguageModel) -> Exactness:
    """What the engine found when it opened ``model``; measured now where it did not look."""
    known = getattr(model, "exactness", None)
    return known if isinstance(known, Exactness) else measure(model)


def known_exact(model: LanguageModel) -> bool:
    """Whether the engine found ``model`` exact when it opened it; False where it did not look."""
    known = getattr(model, "exactness", None)
    return isinstance(known, Exactness) and known.exact


def cost(model: LanguageModel, padding: Padding) -> tuple[float, float]:
    """Milliseconds per token of plain decoding with ``padding`` and without: the fastest of a few. Leaves it padded."""
    text = [(7919 * number + 13) % model.vocab_size for number in range(2 * _LENGTH)]
    fastest = []
    for way in (padding, UNPADDED):
        if isinstance(model, PaddedModel):
            model.pad(way)
        model.forward(text[:_LENGTH])
        took = []
        for end in range(_LENGTH + 1, len(text)):
            start = time.perf_counter()
            model.forward(text[:end])
            took.append(1000 * (time.perf_counter() - start))
        fastest.append(min(took))
    if isinstance(model, PaddedModel):
        model.pad(padding)
    return fastest[0], fastest[1]


def _remembered(circumstances: dict[str, str]) -> Exactness | None:
    entry = _FINDINGS.read().get(key_of(circumstances))
    try:
        verdict: dict[str, Any] = entry["verdict"] if entry else {}
        padding = Padding(**verdict["padding"])
        return Exactness(padding, float(verdict["differs"]), float(verdict["unpadded"]))
    except (TypeError, KeyError, ValueError):
        return None


def measure(model: LanguageModel) -> Exactness:
    """Try paddings, the cheapest first, until one leaves no difference; ``UNPADDED`` where none does. The model stays
    padded so, where it can be padded at all."""
    unpadded = 0.0
    for padding in _WAYS if isinstance(model, PaddedModel) else (UNPADDED,):
        if isinstance(model, PaddedModel):
            model.pad(padding)
        differs = 0.0
        for difference in _differences(model):
            differs = max(differs, difference)
            if differs and padding != UNPADDED:
                break
        unpadded = differs if padding == UNPADDED else unpadded
        if not differs:
            return Exactness(padding, 0.0, unpadded)
    if isinstance(model, PaddedModel):
        model.pad(UNPADDED)
    return Exactness(UNPADDED, unpadded, unpadded)


def _differences(model: LanguageModel) -> Iterator[float]:
    """Largest difference of a logit between one forward over a text and others over parts of it: runs, single rows, a
    tree, and what follows the tree."""
    text = [(7919 * number + 13) % model.vocab_size for number in range(_LENGTH)]
    model.forget()
    whole = model.forward(text, _LENGTH).logits
    for size in _SIZES:
        model.forget()
        for end in range(size, max(16, size) + 1, size):
            yield _difference(model.forward(text[:end], size).logits, whole[end - size : end])
    model.forget()
    for end in (_LENGTH, 7):
        yield _difference(model.forward(text[:end]).logits, whole[end - 1 : end])
    if has_trees(model):
        yield from _of_trees(model, text, whole)


def _of_trees(model: TreeModel, text: list[int], whole: Logits) -> Iterator[float]:
    """The same for a tree with a branch that the text follows and one that it does not, then for what comes after."""
    start, wrong = 12, (text[12] + 1) % model.vocab_size
    tree, parents = [text[12], wrong, text[13], wrong, text[14]], [-1, 0, 0, 1, 2]
    rows = model.forward_tree(text[:start], tree, parents).logits
    yield _difference(rows[[0, 1, 3, 5]], whole[start - 1 : start + 3])
    yield _difference(model.forward(text, 5).logits, whole[-5:])


def _difference(got: Logits, expected: Logits) -> float:
    return float(np.abs(got - expected).max())
