"""Whether a model is one function: a token's logits the same, bit for bit, however it comes to be evaluated.

Engines choose other kernels for other numbers of tokens, and these may sum in another order. Where that is so, a
forward can be padded to a number of tokens, and of rows, from which on it makes no difference. What is needed is
measured, once for a build, a processor, threads, types and shapes of weights. Must not know of engines.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from predtui.llm.base import LanguageModel, TreeModel
from predtui.llm.gguf import Weight
from predtui.llm.llamacpp.findings import Findings, digest, key_of, llama_build, processor
from predtui.llm.rows import Logits

_SIZES = (1, 2, 3, 5, 8, 17)
"""Tokens of the forwards that are compared with one over all of the text."""
_LENGTH = 33
_FINDINGS = Findings("exactness.json")


@dataclass(frozen=True, slots=True)
class Padding:
    """A forward over fewer than ``least`` tokens, or no ``multiple``, has others beside them, of no use."""

    least: int = 1
    multiple: int = 1

    def of(self, count: int) -> int:
        """Tokens of a forward in which ``count`` are of use."""
        return -(-max(count, self.least) // self.multiple) * self.multiple


UNPADDED, PAIRS = Padding(), Padding(2)
_WAYS = (UNPADDED, PAIRS, Padding(4, 4), Padding(8), Padding(8, 8), Padding(16, 16))
"""The cheapest first; the first that makes no difference is taken."""


@dataclass(frozen=True, slots=True)
class Exactness:
    """What was found: ``differs`` is the largest difference of a logit that is left, ``unpadded`` that without padding;
    0: none, in any of so many thousand logits."""

    padding: Padding
    differs: float
    unpadded: float

    @property
    def exact(self) -> bool:
        return self.differs == 0

    def __str__(self) -> str:
        if np.isnan(self.differs):
            return "not tested: the state of such a model cannot be cut back"
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


UNTESTED = Exactness(UNPADDED, float("nan"), float("nan"))


@runtime_checkable
class PaddedModel(LanguageModel, Protocol):
    """A language model that pads its forwards."""

    def pad(self, padding: Padding) -> None:
        """Pad so from now on. Nothing is remembered."""
        ...


def found(model: LanguageModel, weights: Collection[Weight], threads: int, held: str) -> Exactness:
    """The exactness of a model of llama.cpp that was just opened, which is padded so. ``held``: what else its kernels
    depend on. Measured where it is not remembered, which takes as long as a hundred tokens or two."""
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
    """What its engine found when it was opened; else it is measured."""
    known = getattr(model, "exactness", None)
    return known if isinstance(known, Exactness) else measure(model)


def known_exact(model: LanguageModel) -> bool:
    """Whether its engine found that it is."""
    known = getattr(model, "exactness", None)
    return isinstance(known, Exactness) and known.exact


def cost(model: LanguageModel, padding: Padding) -> tuple[float, float]:
    """Milliseconds of a token of plain decoding with that padding, and without any: the fastest of a few."""
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
    """Find the cheapest padding that leaves no difference; none where nothing does."""
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
    """Between a forward over a text and others over parts of it: runs, single rows, a tree and what follows it."""
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
    if isinstance(model, TreeModel):
        yield from _of_trees(model, text, whole)


def _of_trees(model: TreeModel, text: list[int], whole: Logits) -> Iterator[float]:
    """A wrong branch and one that the text goes down, then what follows that one."""
    start, wrong = 12, (text[12] + 1) % model.vocab_size
    tree, parents = [text[12], wrong, text[13], wrong, text[14]], [-1, 0, 0, 1, 2]
    rows = model.forward_tree(text[:start], tree, parents).logits
    yield _difference(rows[[0, 1, 3, 5]], whole[start - 1 : start + 3])
    yield _difference(model.forward(text, 5).logits, whole[-5:])


def _difference(got: Logits, expected: Logits) -> float:
    return float(np.abs(got - expected).max())
