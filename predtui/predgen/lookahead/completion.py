"""What a user may be about to say: the likeliest ends of the word begun, or next words, by the model's own account.

The prompt is cut after the words that are known, inside the user's message, and the model goes on with them. Must not
know of replies, of stages, or of what the words are for.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass

from predtui.llm.base import LoadedModel, common_prefix, has_trees
from predtui.llm.rows import Row
from predtui.predgen.window import Window
from predtui.state.events import Message

_LIKELY = 4096
"""Of the vocabulary, the likeliest tokens that are looked at where letters are to be matched."""
_LONGEST = 6
"""Tokens of a word at most."""
_HARDLY = math.log(1e-6)
"""The logarithm of the probability of a word that is spelled, and not known."""
_WIDTH = 8
"""Beginnings that are followed side by side."""


@dataclass(frozen=True, slots=True)
class _Beginning:
    """A word as far as it is spelled, with the logarithm of its probability."""

    tokens: tuple[int, ...]
    text: str
    score: float
    whole: bool = False


def _improbability(word: _Beginning) -> float:
    return -word.score


class Completer:
    """Finds words one forward at a time, so that whoever has better to do stops asking. Rows are kept while the words
    before stay the same, so that each further letter costs little."""

    def __init__(self, loaded: LoadedModel, window: Window, count: int) -> None:
        """``count``: how many words are wanted."""
        self._model, self._tokenizer = loaded.model, loaded.tokenizer
        self._window = window
        self._count = count
        self._prefix: list[int] = []
        self._rows: dict[tuple[int, ...], Row] = {}
        """What follows the prefix and so many tokens of a word."""
        self._pieces: dict[int, str] = {}

    def read(self, prompt: Sequence[int]) -> int:
        """How many tokens of ``prompt`` are those that words were looked for after, but for the last, with which each
        forward begins."""
        return max(0, common_prefix(self._prefix, prompt) - 1)

    def words(
        self, history: Sequence[Message], said: str, begun: str
    ) -> Generator[None, None, list[tuple[str, float]]]:
        """Words that may follow ``said``, which is not empty, and that begin with ``begun``, which may be; the
        likeliest first, each with its share of those found, 0 where hardly anybody would say it. Yields after each
        forward. Raises Preempted as the model does."""
        if not self._goes_on(history, said):
            return []
        growing, whole = [_Beginning((), "", 0.0)], list[_Beginning]()
        for _ in range(_LONGEST):
            yield from self._look(growing)
            growing, whole = self._grown(growing, whole, begun)
            if not growing:
                break
        total = math.fsum(math.exp(word.score) for word in whole)
        shares: dict[str, float] = {}
        for word in whole:
            share = math.exp(word.score) / total if word.score > _HARDLY else 0.0
            shares.setdefault(begun + word.text[len(begun) + 1 :], share)
        return [(word, share) for word, share in shares.items() if word]

    def _goes_on(self, history: Sequence[Message], said: str) -> bool:
        """Cut the prompt where another word would follow ``said``; whether there is such a place, and room behind."""
        prompt = self._window.tokens(history, said, guess=True)
        longer = self._window.tokens(history, f"{said} and", guess=True)
        prefix = prompt[: common_prefix(prompt, longer)]
        if not prefix or self._model.context_size - len(prefix) < _WIDTH * _LONGEST:
            return False
        if prefix != self._prefix:
            self._prefix, self._rows = prefix, {}
        return True

    def _grown(
        self, growing: Sequence[_Beginning], whole: Sequence[_Beginning], begun: str
    ) -> tuple[list[_Beginning], list[_Beginning]]:
        """Beginnings a token longer that may still be among the likeliest, and the likeliest whole words by now."""
        width = 1 if growing[0].tokens else _WIDTH
        ways = [way for word in growing for way in self._likeliest(word, begun, width)]
        best = sorted([*whole, *(way for way in ways if way.whole)], key=_improbability)[: self._count]
        least = best[-1].score if len(best) == self._count else -math.inf
        return [way for way in ways if not way.whole and way.score > least], best

    def _likeliest(self, word: _Beginning, begun: str, count: int) -> list[_Beginning]:
        """``count`` ways to go on with ``word`` that agree with what is ``begun``, the likeliest first; one is to end
        it."""
        row = self._rows[word.tokens]
        ways: list[_Beginning] = []
        for token in row.top(_LIKELY):
            way = self._way(word, token, word.score + row.logprob(token), f" {begun}".lower())
            if way is not None:
                ways.append(way)
            if len(ways) == count:
                break
        return ways

    def _way(self, word: _Beginning, token: int, score: float, wanted: str) -> _Beginning | None:
        """``word`` where ``token`` comes next: whole, a token longer, or None where that does not agree with what is
        ``wanted``."""
        piece = self._piece(token)
        text = (word.text + piece).lower()
        if len(word.text) >= max(2, len(wanted)) and not (piece[:1].isalnum() or piece[:1] in ("'", "-")):
            return _Beginning(word.tokens, word.text, score, whole=True)
        if piece and (text.startswith(wanted) or wanted.startswith(text)):
            return _Beginning((*word.tokens, token), word.text + piece, score)
        return None

    def _piece(self, token: int) -> str:
        """The text of a token within a sentence."""
        if token not in self._pieces:
            anchor = self._prefix[-1]
            known = len(self._tokenizer.decode([anchor]))
            self._pieces[token] = self._tokenizer.decode([anchor, token])[known:]
        return self._pieces[token]

    def _look(self, words: Sequence[_Beginning]) -> Iterator[None]:
        """What follows each of ``words``, no two of which begin alike, in one forward where the engine can."""
        runs = [word.tokens for word in words if word.tokens not in self._rows]
        if not has_trees(self._model) or runs == [()]:
            for run in runs:
                self._rows[run] = self._model.forward([*self._prefix, *run])[-1]
                yield
        elif runs:
            tokens = [token for run in runs for token in run]
            ends = list(itertools.accumulate(len(run) for run in runs))
            parents = [-1 if node in {0, *ends} else node - 1 for node in range(len(tokens))]
            rows = self._model.forward_tree(self._prefix, tokens, parents)
            self._rows |= {run: rows[end] for run, end in zip(runs, ends, strict=True)}
            yield
