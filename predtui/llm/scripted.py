"""A language model without weights: logits are a seeded hash of the last few tokens. For tests and benches.

It keeps the contract of a real model, its counters and its memory, in microseconds, and its replies look like
speech: words, sentences, an end. Must not know who asks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import replace

import numpy as np

from predtui.llm.abilities import Abilities
from predtui.llm.base import (
    Counters,
    LoadedModel,
    ModelRequest,
    check_request,
    check_vocabulary,
    common_prefix,
    reusable,
)
from predtui.llm.layers import check_layers
from predtui.llm.rows import ArrayRows, Logits, Rows
from predtui.llm.soft import Weights, check_tree, check_weights
from predtui.llm.windows import CELLS, Window
from predtui.state.events import Message

_SYMBOLS = "\x01\x02\x03\x04 etaoinshrdlucmfwypvbgkqjxzETAOINSHRDLUCM.?!,'0123456789éß"
_END, _SYSTEM, _USER, _ASSISTANT = range(4)
_ROWS = 509
_LAYERS = 4
_MISSED = 0.7
"""Standard deviation of what each layer that is left out changes."""


class ScriptedModel:
    """Logits at a position depend on its last ``order`` tokens and, through one of ``moods`` classes, on all before:
    two prompts of one class agree soon, two of different classes do not. Same seed, same model."""

    def __init__(self, seed: int = 0, order: int = 3, moods: int = 2, context: int = 1024) -> None:
        self.counters = Counters()
        self._order, self._moods, self._context = order, moods, context
        rng = np.random.default_rng(seed)
        self._table = rng.normal(size=(_ROWS, len(_SYMBOLS))).astype(np.float32)
        self._habits = _habits()
        self._memory: list[int] = []
        self._telling, self._layers = False, _LAYERS
        self._soft = 0

    @property
    def vocab_size(self) -> int:
        return len(_SYMBOLS)

    @property
    def abilities(self) -> Abilities:
        can = replace(Abilities.of_logits(self.vocab_size), trees=True, spares=True, windows=True)
        return replace(can, hidden=self.vocab_size, layers=self._layers, soft=True)

    @property
    def context_size(self) -> int:
        return self._context

    def forward(self, tokens: Sequence[int], last: int = 1) -> Rows:
        kept = reusable(self._memory, tokens, last, self._context, self.vocab_size)
        self.counters.forwards += 1
        self.counters.tokens += len(tokens) - kept
        self._memory = list(tokens)
        return self._rows(self.looked_at(tokens, last))

    def tell_hidden(self) -> None:
        """As ``HiddenModel`` says; its output layer would change nothing."""
        self._telling = True

    def looked_at(self, tokens: Sequence[int], last: int) -> Logits:
        """The logits after each of the last ``last`` of ``tokens``, of which nothing is remembered."""
        ends = range(len(tokens) - last + 1, len(tokens) + 1)
        rows, before = [self._row(tokens, end) for end in ends], [tokens[end - 1] for end in ends]
        logits: Logits = self._table[rows] + self._habits[before]
        return logits

    def forward_tree(self, tokens: Sequence[int], tree: Sequence[int], parents: Sequence[int]) -> Rows:
        """As ``TreeModel`` says, but that of the tree nothing is remembered."""
        check_request(tokens, 1, self._context - len(tree))
        paths = [list(tokens)]
        for token, parent in zip(tree, parents, strict=True):
            paths.append([*paths[parent + 1], token])
        kept = min(common_prefix(self._memory, tokens), len(tokens) - 1)
        check_vocabulary(tokens[kept:], self.vocab_size)
        check_tree(tree, self.vocab_size, self._soft)
        self.counters.forwards += 1
        self.counters.tokens += len(tokens) - kept + len(tree)
        self._memory = list(tokens)
        rows, last = [self._row(path, len(path)) for path in paths], [path[-1] % self.vocab_size for path in paths]
        return self._rows(self._table[rows] + self._habits[last])

    def soften(self, weights: Weights, layer: int = 0) -> None:
        """As ``SoftModel`` says; what was learned says nothing to it."""
        check_weights(weights, layer, self.vocab_size, self._layers)
        self._soft = len(weights)

    @contextmanager
    def aside(self, tokens: Sequence[int], room: int) -> Iterator[None]:
        memory = list(self._memory)
        try:
            yield
        finally:
            self._memory = memory

    def window_bytes(self, cells: int = CELLS) -> int:
        """As ``WindowModel`` says."""
        return 4 * cells

    def window(self, cells: int = CELLS) -> Window:
        """As ``WindowModel`` says."""
        return Window(self, _Cells(self), cells)

    def part_bytes(self, layers: Sequence[int]) -> int:
        """As ``LayeredModel`` says."""
        return self._table.nbytes

    def part(self, layers: Sequence[int]) -> ScriptedModel:
        """As ``LayeredModel`` says: each layer that is left out is missed."""
        check_layers(layers, self._layers)
        part = copy(self)
        missed = (
            np.random.default_rng(layer).normal(size=self._table.shape) for layer in {*range(self._layers)} - {*layers}
        )
        part._table = self._table + _MISSED * sum(missed, np.zeros(())).astype(np.float32)
        part.counters, part._memory, part._telling, part._layers = Counters(), [], False, len(layers)
        return part

    def forget(self, keep: int = 0) -> None:
        del self._memory[keep:]

    def close(self) -> None:
        self._memory.clear()

    def _rows(self, logits: Logits) -> ArrayRows:
        return ArrayRows(logits, logits if self._telling else None)

    def _row(self, tokens: Sequence[int], end: int) -> int:
        start = max(0, end - self._order)
        state = sum(tokens[:start]) % self._moods
        for token in tokens[start:end]:
            state = state * 131 + token + 1
        return state % _ROWS


class _Cells:
    """Of a window: it holds tokens, and has their model look at these alone."""

    def __init__(self, model: ScriptedModel) -> None:
        self._model, self._held = model, list[int]()

    @property
    def bytes(self) -> int:
        """Those of the tokens."""
        return 4 * len(self._held)

    def cut(self, keep: int) -> None:
        del self._held[keep:]

    def drop(self, start: int, count: int) -> None:
        del self._held[start : start + count]

    def evaluate(self, tokens: Sequence[int], positions: Sequence[int], rows: int) -> Logits:
        self._held += tokens
        return self._model.looked_at(self._held, rows)


class CharacterTokenizer:
    """One token a character; a character that is not in the alphabet becomes ``?``."""

    def encode(self, text: str, special: bool = False) -> list[int]:
        first = 0 if special else _ASSISTANT + 1
        unknown = _SYMBOLS.index("?")
        return [i if (i := _SYMBOLS.find(c)) >= first else unknown for c in text]

    def decode(self, tokens: Sequence[int]) -> str:
        return "".join(_SYMBOLS[t] for t in tokens if t > _ASSISTANT)

    def is_end(self, token: int) -> bool:
        return token == _END


class MarkedTemplate:
    """Each message behind a marker of its role, and the assistant's marker at the end."""

    def render(self, messages: Sequence[Message]) -> str:
        marks = {"system": _SYSTEM, "user": _USER, "assistant": _ASSISTANT}
        said = [f"{_SYMBOLS[marks[m.role]]}{m.content}{_SYMBOLS[_END]}" for m in messages]
        return "".join([*said, _SYMBOLS[_ASSISTANT]])


def load(request: ModelRequest) -> LoadedModel:
    """A scripted model as an engine loads it; a number for its name is its seed."""
    seed = int(request.model) if request.model.isdigit() else 0
    model = ScriptedModel(seed, context=request.context or 1024)
    return LoadedModel("scripted", "scripted", "cpu", 0, model, CharacterTokenizer(), MarkedTemplate())


def _habits() -> Logits:
    """What makes the babble look like speech, [symbol, next symbol]: words of a few letters, sentences of a few words,
    a space or the end of the reply after a sentence."""
    habits = np.zeros((len(_SYMBOLS), len(_SYMBOLS)), np.float32)
    space, marks = _SYMBOLS.index(" "), [_SYMBOLS.index(mark) for mark in ".?!"]
    habits[:, [_SYSTEM, _USER, _ASSISTANT]] = -20
    habits[:, _END] = -2
    habits[:, space], habits[:, marks] = 1.2, 0.3
    habits[np.ix_([space, _ASSISTANT], [space, *marks])] = -20
    habits[marks, space], habits[marks, _END] = 9, 8.5
    return habits
