"""What a synthesiser is: text in, PCM chunks out, resumable anywhere. Must not know where text comes from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol


class Synthesizer(Protocol):
    """Turns one sentence at a time into mono 16-bit PCM."""

    rate: int
    """Samples per second of the chunks; known once the engine is open."""

    def synthesize(self, text: str) -> Iterator[bytes]:
        """Chunks in order. The iterator *is* the resumable state: a caller that stops taking chunks and comes back
        later goes on where it stood; dropping it drops the state. Several may be in flight at once.
        Empty or unspeakable text yields nothing. Raises PredtuiError where the engine fails."""
        ...

    def close(self) -> None: ...
