"""How likely the user's turn is over where a prompt's words end: the model's own probability of what ends a turn there.

The forward that verifies a candidate stands right behind these words, so that it costs no forward of its own: the rows
that are asked for begin a few tokens earlier. Must not know of text to speak, of silence, or of what is made of it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from predtui.llm.around import ModelAround
from predtui.llm.base import LoadedModel
from predtui.llm.rows import Rows
from predtui.state.events import Message

_MARKS = (".", "?", "!", "。", "？", "！", "।", "؟")
"""Marks that end a sentence: a recogniser leaves them out, and a model writes them before it ends a turn."""
_LONGEST = 64
"""Tokens between the user's words and the reply; a template that writes more there is not asked."""


class EndOfTurn(ModelAround):
    """The model of ``loaded``, which is asked for one more thing in the forward that first looks at a prompt, where its
    rows tell it."""

    def __init__(self, loaded: LoadedModel) -> None:
        super().__init__(loaded.model)
        self._asked = False
        self._known: dict[tuple[int, ...], float] = {}
        self._watched: list[int] = []
        self._tail = _tail(loaded) if loaded.abilities.whole else ()
        self._ends = {*self._tail[:1], *_marks(loaded)}

    def begin(self, asks: bool) -> None:
        """A turn; whether anybody wants to know in it."""
        self._asked, self._watched = asks, []
        self._known.clear()

    def watch(self, prompt: Sequence[int]) -> None:
        """``prompt`` is looked at next."""
        known = not self._asked or tuple(prompt) in self._known
        ends = self._tail and tuple(prompt[-len(self._tail) :]) == self._tail and len(prompt) > len(self._tail)
        self._watched = [] if known or not ends else list(prompt)

    def probability(self, prompt: Sequence[int]) -> float | None:
        """That the turn ends with the user's words in ``prompt``, 0..1; None where that is not known."""
        return self._known.get(tuple(prompt))

    def forward(self, tokens: Sequence[int], last: int = 1) -> Rows:
        end = len(self._watched) - len(self._tail)
        behind = len(tokens) - end + 1
        if not self._watched or last >= behind or list(tokens[: len(self._watched)]) != self._watched:
            return super().forward(tokens, last)
        rows = super().forward(tokens, behind)
        self._learn(rows)
        return rows[behind - last :]

    def forward_tree(self, tokens: Sequence[int], tree: Sequence[int], parents: Sequence[int]) -> Rows:
        """The tail of the prompt becomes the tree's trunk."""
        if not self._watched or list(tokens) != self._watched:
            return super().forward_tree(tokens, tree, parents)
        trunk = len(self._tail)
        grown = [*range(-1, trunk - 1), *(parent + trunk for parent in parents)]
        rows = super().forward_tree(tokens[:-trunk], [*self._tail, *tree], grown)
        self._learn(rows)
        return rows[trunk:]

    def _learn(self, rows: Rows) -> None:
        """``rows``: the first is the one behind the words."""
        share = sum(math.exp(rows[0].logprob(token)) for token in self._ends)
        self._known[tuple(self._watched)] = min(1.0, share)
        self._watched = []


def _tail(loaded: LoadedModel) -> tuple[int, ...]:
    """The tokens of a prompt behind the user's words, the same for any; none where there are none."""
    one, other = (loaded.prompt_tokens([Message("user", said)]) for said in ("red", "two of them"))
    shared = next((i for i in range(min(len(one), len(other))) if one[-1 - i] != other[-1 - i]), 0)
    return tuple(one[len(one) - shared :]) if shared <= _LONGEST else ()


def _marks(loaded: LoadedModel) -> set[int]:
    """Tokens that are such a mark behind a word."""
    encode, decode = loaded.tokenizer.encode, loaded.tokenizer.decode
    return {tokens[-1] for mark in _MARKS if decode((tokens := encode(f"red{mark}"))[-1:]) == mark}
