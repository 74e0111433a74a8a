"""Earlier prompts, walked through and searched as in a shell: text in, text out. Knows nothing of where they are typed,
nor of where they are kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence


class Recall:
    """Goes back from a line that is empty, or stands as it was recalled; in any other one, the keys are for the
    cursor."""

    def __init__(self, earlier: Callable[[], Sequence[str]] = tuple) -> None:
        """``earlier``: what was asked before this run, the newest last."""
        self._earlier = earlier
        self._own: list[str] = []
        self._walked: list[str] = []
        """What is being walked through, the newest first."""
        self._at = -1
        """Which of them stands in the line; -1: none."""

    def add(self, text: str) -> None:
        """``text`` was sent."""
        self._own.append(text)
        self._at = -1

    def older(self, line: str) -> str | None:
        """What takes the place of ``line``; None where nothing does."""
        if line and not self._shows(line):
            return None
        if not line:
            self._walked, self._at = self.matching(""), -1
        return self._go(self._at + 1)

    def newer(self, line: str) -> str | None:
        """What takes the place of ``line``, which is empty again at last; None where nothing does."""
        if not self._shows(line):
            return None
        if self._at == 0:
            self._at = -1
            return ""
        return self._go(self._at - 1)

    def matching(self, words: str) -> list[str]:
        """The prompts that have all these words, in letters of any case: the newest first, each once."""
        wanted = words.casefold().split()
        every = dict.fromkeys(text.strip() for text in reversed((*self._earlier(), *self._own)))
        return [text for text in every if text and all(word in text.casefold() for word in wanted)]

    def _shows(self, line: str) -> bool:
        return 0 <= self._at < len(self._walked) and line == self._walked[self._at]

    def _go(self, at: int) -> str | None:
        if not 0 <= at < len(self._walked):
            return None
        self._at = at
        return self._walked[at]
