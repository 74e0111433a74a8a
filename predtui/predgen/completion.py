"""What a user may be about to say: the likeliest ends of the word begun, or next words, by the model's own account.

The prompt is cut after the words that are known, inside the user's message, and the model goes on with them. Must not
know of replies, of stages, or of what the words are for.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass

import numpy as np

from predtui.events import Message
from predtui.llm.base import LoadedModel, Logits, TreeModel, common_prefix
from predtui.predgen.window import Window

_LIKELY = 256
"""Of the vocabulary, the likeliest tokens that are looked at."""
_LONGEST = 4
"""Tokens of a word at most."""


@dataclass(frozen=True, slots=True)
class _Beginning:
    """A word as far as it is spelled, with the logarithm of its probability."""

    tokens: tuple[int, ...]
    text: str
    score: float
    whole: bool = False


class Completer:
    """Finds words one forward at a time, so that whoever has better to do stops asking."""

    def __init__(self, loaded: LoadedModel, window: Window, count: int) -> None:
        """``count``: how many words are wanted."""
        self._model, self._tokenizer = loaded.model, loaded.tokenizer
        self._window = window
        self._count = count

    def words(self, history: Sequence[Message], said: str, begun: str) -> Generator[None, None, list[str]]:
        """Words that may follow ``said``, which is not empty, and that begin with ``begun``, which may be; the
        likeliest first. Yields after each forward but the last. Raises Preempted as the model does."""
        prompt = self._window.tokens(history, said)
        prefix = prompt[: common_prefix(prompt, self._window.tokens(history, f"{said} and"))]
        room = self._model.context_size - len(prefix)
        if not prefix or room < self._count * _LONGEST:
            return []
        found = self._likeliest(_Beginning((), "", 0.0), self._model.logits(prefix)[-1], prefix, begun)[: self._count]
        for _ in range(_LONGEST):
            growing = [word for word in found if not word.whole]
            if not growing:
                break
            yield
            rows = self._after(prefix, [word.tokens for word in growing])
            grown = (self._likeliest(word, row, prefix, begun)[:1] for word, row in zip(growing, rows, strict=True))
            found = [*(word for word in found if word.whole), *(word for words in grown for word in words)]
        found.sort(key=lambda word: -word.score)
        spelled = (begun + word.text[len(begun) + 1 :] for word in found if word.whole)
        return list(dict.fromkeys(word for word in spelled if word))

    def _likeliest(self, word: _Beginning, row: Logits, prefix: Sequence[int], begun: str) -> list[_Beginning]:
        """Ways to go on with ``word`` that agree with what is ``begun``, the likeliest first; one is to end it."""
        scores = row - row.max()
        scores -= np.log(np.exp(scores).sum())
        before = [prefix[-1], *word.tokens]
        known, wanted = len(self._tokenizer.decode(before)), f" {begun}".lower()
        ways: list[_Beginning] = []
        for token in np.argsort(-row)[:_LIKELY].tolist():
            text = word.text + self._tokenizer.decode([*before, token])[known:]
            score = word.score + float(scores[token])
            spells = text[len(word.text) :][:1]
            if len(word.text) > 1 and len(word.text) >= len(wanted) and not (spells.isalnum() or spells in ("'", "-")):
                ways.append(_Beginning(word.tokens, word.text, score, whole=True))
            elif text != word.text and (text.lower().startswith(wanted) or wanted.startswith(text.lower())):
                ways.append(_Beginning((*word.tokens, token), text, score))
        return ways

    def _after(self, prefix: list[int], runs: Sequence[tuple[int, ...]]) -> list[Logits]:
        """Logits after each of ``runs``, no two of which begin alike, in one forward where the engine can."""
        if not isinstance(self._model, TreeModel):
            return [self._model.logits([*prefix, *run])[-1] for run in runs]
        tokens = [token for run in runs for token in run]
        ends = np.cumsum([len(run) for run in runs]).tolist()
        starts = {0, *ends}
        parents = [-1 if node in starts else node - 1 for node in range(len(tokens))]
        rows = self._model.tree_logits(prefix, tokens, parents)
        return [rows[end] for end in ends]
