"""A model whose thoughts end by force: where one is as long as it may be, nothing but its end may follow.

So it stays what all models are, a function from tokens to rows, and whatever is lossless with it is lossless so too.
Must not know of prompts, of how tokens are chosen, or of what is done with a thought.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from functools import lru_cache
from itertools import accumulate

from predtui.llm.around import Generating, ModelAround
from predtui.llm.base import LanguageModel, LoadedModel
from predtui.llm.rows import ArrayRows, PartialRow, RowList, Rows
from predtui.llm.thinking import SpelledTokenizer, fragment
from predtui.llm.thoughts import MARK, Thinking

_CERTAIN = 1e4
"""The logit of a token that must follow, where all others have 0."""


class Ending:
    """Where a thought has to end, and by which token. A function of the tokens before alone: of the last of them, as
    many as a thought and its marks may have."""

    def __init__(self, loaded: LoadedModel, thinking: Thinking) -> None:
        tokenizer, form = SpelledTokenizer(loaded.tokenizer, thinking), thinking.form
        self._marks, self._close = form.pattern, form.close
        self._inner = frozenset(form.others)
        end = form.ending.index(form.close) + len(form.close)
        self._ending = fragment(loaded.tokenizer, form.ending[:end])
        self._budget = thinking.budget
        self._reach = thinking.budget + MARK + len(self._ending)
        """The longest thought that is ended."""
        self._piece = lru_cache(1 << 16)(lambda token: tokenizer.decode([token]))

    def forced(self, tokens: Sequence[int], last: int = 1) -> dict[int, int]:
        """Of the rows after each of the last ``last`` of ``tokens``, those that are not the model's to say: row → its
        token."""
        start = max(0, len(tokens) - last + 1 - self._reach - MARK)
        pieces = [self._piece(token) for token in tokens[start:]]
        ends = [*accumulate(map(len, pieces))]
        found = [m for m in self._marks.finditer("".join(pieces)) if m[0] not in self._inner]
        if not found:
            return {}
        places, told = [mark.end() for mark in found], dict[int, int]()
        for row in range(last):
            count = len(pieces) - last + 1 + row
            latest = bisect_right(places, ends[count - 1]) - 1
            if latest >= 0 and found[latest][0] != self._close:
                begins = bisect_left(ends, places[latest]) + 1
                token = self._next(tokens[start + begins : start + count])
                told |= {} if token is None else {row: token}
        return told

    def _next(self, thought: Sequence[int]) -> int | None:
        """What must follow so much of a thought. An ending that has begun goes on."""
        if not self._budget <= len(thought) <= self._reach:
            return None
        begun = range(min(len(self._ending) - 1, len(thought)), 0, -1)
        return self._ending[next((n for n in begun if [*thought[-n:]] == self._ending[:n]), 0)]


class Forced(ModelAround):
    """Another model, but for the rows that ``ending`` decides."""

    def __init__(self, model: LanguageModel, ending: Ending) -> None:
        super().__init__(model)
        self._ending = ending

    def _told(self, rows: Rows, tokens: Sequence[int], last: int) -> Rows:
        return self._with(rows, self._ending.forced(tokens, last))

    def _told_of_tree(self, rows: Rows, tokens: Sequence[int], tree: Sequence[int], parents: Sequence[int]) -> Rows:
        forced = self._ending.forced(tokens)
        real = sum(token < self.vocab_size for token in tree)  # soft ones are behind them
        for leaf in {*range(real)}.difference(parents[:real]):
            path = [leaf]
            while parents[path[0]] >= 0:
                path.insert(0, parents[path[0]])
            branch = self._ending.forced([*tokens, *(tree[node] for node in path)], len(path))
            forced |= {path[row] + 1: token for row, token in branch.items()}
        return self._with(rows, forced)

    def _streamed(self, generate: Generating, tokens: Sequence[int], limit: int) -> Generator[int, None, None]:
        """One request up to where a thought has to end, and another one from there."""
        context, last = list(tokens), len(tokens) + limit
        while len(context) < last:
            if forced := self._ending.forced(context):
                context.append(forced[0])
                yield context[-1]
                continue
            with closing(generate(context, last - len(context))) as arriving:
                for token in arriving:
                    context.append(token)
                    yield token
                    if self._ending.forced(context):
                        break
                else:
                    return

    def _with(self, rows: Rows, forced: Mapping[int, int]) -> Rows:
        """``rows`` with certainty of the tokens that are ``forced``, by row."""
        if not forced:
            return rows
        if not self.abilities.whole:
            certain = {row: PartialRow([(token, 0.0)]) for row, token in forced.items()}
            return RowList([certain.get(number, row) for number, row in enumerate(rows)], rows.hidden)
        logits = rows.logits.copy()
        for row, token in forced.items():
            logits[row] = 0
            logits[row, token] = _CERTAIN
        return ArrayRows(logits, rows.hidden)


def with_forced_endings(loaded: LoadedModel) -> LanguageModel:
    """The model of ``loaded``, whose thoughts are no longer than they may be; itself where it has none, or tells text
    alone, of which nothing is certain."""
    if loaded.thinking is None or not loaded.abilities.tokenises:
        return loaded.model
    return Forced(loaded.model, Ending(loaded, loaded.thinking))
