"""The candidates of the last few prompts: recognisers flip back and forth, and so do candidates.

Must not know of models, or of how candidates are made or verified.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Held:
    """A candidate, each token of which was chosen for its prompt; ``lossless``: as plain decoding would have."""

    tokens: tuple[int, ...]
    lossless: bool = True


class Memory:
    """By prompt, the newest first; the oldest give way."""

    def __init__(self, size: int) -> None:
        """``size``: how many are kept; none where it is 0 or less."""
        self._size = max(0, size)
        self._held: dict[tuple[int, ...], Held] = {}

    def keep(self, prompt: Sequence[int], held: Held) -> None:
        """As the newest, in the place of what was kept for ``prompt`` before."""
        self._held.pop(tuple(prompt), None)
        self._held[tuple(prompt)] = held
        while len(self._held) > self._size:
            del self._held[next(iter(self._held))]

    def take(self, prompt: Sequence[int]) -> Held | None:
        """What is kept for ``prompt``, and is kept no longer."""
        return self._held.pop(tuple(prompt), None)

    def get(self, prompt: Sequence[int]) -> Held | None:
        """What is kept for ``prompt``, and stays kept, as the newest: it is asked for."""
        found = self.take(prompt)
        if found is not None:
            self.keep(prompt, found)
        return found

    def candidates(self) -> list[tuple[int, ...]]:
        """The newest first."""
        return [held.tokens for held in reversed(self._held.values())]

    def clear(self) -> None:
        self._held.clear()
