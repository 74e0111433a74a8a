"""The text of a reply as it grows, to its end: a token that ends it, or words in which a model speaks for another; what
of it is a thought is none of its text.

Must not know of prompts, of models, or of what is done with the text.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from predtui.llm.base import Tokenizer
from predtui.llm.thinking import SpelledTokenizer
from predtui.llm.thoughts import Parts, Thinking, divide
from predtui.predgen.detokenizer import Detokenizer


class ReplyText:
    """What may be shown, spoken and remembered of a reply, whether it is over, and what it thinks before."""

    def __init__(self, tokenizer: Tokenizer, stops: Sequence[str] = (), thinking: Thinking | None = None) -> None:
        """``stops``: strings before which a reply ends, beside the tokens that end it. ``thinking``: how its model
        marks thoughts, if it does."""
        spelled = SpelledTokenizer(tokenizer, thinking) if thinking else tokenizer
        self._decode, self._raw = spelled.decode, Detokenizer(spelled).text
        self._is_end, self._stops, self._thinking = tokenizer.is_end, stops, thinking
        self._last: tuple[tuple[int, ...], Parts] = (), self._divided("", False)
        """The tokens that were asked about last, and their parts."""
        self._head: tuple[int, ...] = ()
        """What came before the last answer that was asked about."""

    def text(self, tokens: Sequence[int]) -> str:
        """The text of ``tokens`` before the first stop string, without thoughts; what may become a stop or a mark of a
        thought is held back until the reply has ended without it. It only grows while the tokens do."""
        return self._parts(tokens).answer

    def thought(self, tokens: Sequence[int]) -> str:
        """The text of thoughts."""
        return self._parts(tokens).thought

    def thinks(self, tokens: Sequence[int]) -> bool:
        """Whether ``tokens`` end within a thought."""
        return self._parts(tokens).thinking

    def answered(self, tokens: Sequence[int]) -> int:
        """How many of ``tokens`` are the answer: all but those before it."""
        if self._thinking is None:
            return len(tokens)
        parts = self._parts(tokens)
        if parts.thinking or not parts.thoughts:
            return 0 if parts.thinking else len(tokens)
        if self._head != tuple(tokens[: len(self._head)]) or self._thoughts(self._head) != parts.thoughts:
            heads = range(len(tokens) + 1)
            count = bisect_left(heads, parts.thoughts, key=lambda length: self._thoughts(tokens[:length]))
            self._head = tuple(tokens[:count])
        return len(tokens) - len(self._head)

    def over(self, tokens: Sequence[int]) -> bool:
        """Whether nothing of the reply comes after ``tokens``, which go no further than its end."""
        return self._ended(tokens) or (bool(self._stops) and self._stop(self._raw(tokens)) >= 0)

    def _parts(self, tokens: Sequence[int]) -> Parts:
        if tuple(tokens) != self._last[0]:
            self._last = tuple(tokens), self._divided(self._shown(tokens), self._ended(tokens))
        return self._last[1]

    def _divided(self, text: str, ended: bool) -> Parts:
        if self._thinking is None:
            return Parts(answer=text)
        return divide(text, self._thinking.form, self._thinking.within, ended)

    def _thoughts(self, tokens: Sequence[int]) -> int:
        """How many thoughts have ended by ``tokens``."""
        return self._divided(self._decode(tokens), False).thoughts

    def _shown(self, tokens: Sequence[int]) -> str:
        """What comes before the first stop string, or what may become one."""
        raw = self._raw(tokens)
        end = self._stop(raw)
        if end >= 0:
            return raw[:end]
        return raw if self._ended(tokens) else raw[: len(raw) - self._pending(raw)]

    def _ended(self, tokens: Sequence[int]) -> bool:
        return bool(tokens) and self._is_end(tokens[-1])

    def _stop(self, raw: str) -> int:
        """Where the first stop string begins; -1 where there is none."""
        return min((found for stop in self._stops if (found := raw.find(stop)) >= 0), default=-1)

    def _pending(self, raw: str) -> int:
        """How many characters at the end of ``raw`` may be the beginning of a stop string."""
        longest = max((len(stop) - 1 for stop in self._stops), default=0)
        sizes = range(min(longest, len(raw)), 0, -1)
        return next((size for size in sizes if any(stop.startswith(raw[-size:]) for stop in self._stops)), 0)
