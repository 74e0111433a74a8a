"""The text of tokens that grow, decoded as they come. Must not know of any particular tokenizer, or of what is said."""

from __future__ import annotations

from collections.abc import Sequence

from predtui.llm.base import Tokenizer

_OPEN = 6
"""Tokens that are decoded anew at each call, at least until there are so many."""


class Detokenizer:
    """Gives what its tokenizer's ``decode`` gives, at the cost of the tokens that are new since the call before.

    Text is settled where it would go on with a letter as if nothing stood before it: no character is incomplete there.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._decode = tokenizer.decode
        self._letter = tokenizer.encode("a")[-1:]
        self._width = len(self._decode(self._letter))
        self._settled: tuple[int, ...] = ()
        self._text = ""
        """Of the settled tokens."""

    def text(self, tokens: Sequence[int]) -> str:
        """The text of ``tokens``, most of which, if any, were those of the last call."""
        tokens = tuple(tokens)
        if tokens[: len(self._settled)] != self._settled:
            self._settled, self._text = (), ""
        new = tokens[len(self._settled) :]
        piece = self._piece(new)
        text = self._text + piece
        if len(new) >= _OPEN and self._width and self._complete(new, piece):
            self._settled, self._text = tokens, text
        return text

    def _piece(self, tokens: Sequence[int]) -> str:
        """``tokens`` behind the settled ones. The letter before them keeps their leading space, which some tokenizers
        drop at the beginning of a text."""
        if not self._settled:
            return self._decode(tokens)
        return self._decode([*self._letter, *tokens])[self._width :]

    def _complete(self, tokens: Sequence[int], piece: str) -> bool:
        """Whether ``tokens`` end with a whole character."""
        after = self._piece([*tokens, *self._letter])
        return after.startswith(piece) and after[len(piece) :].strip() == self._decode(self._letter).strip()
