"""PCM that an event carries: the bytes themselves, or a clip that says where they lie. Must not know files.

``len(sound)`` is in bytes and ``bytes(sound)`` fetches them, whichever it is.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Protocol


class Source(Protocol):
    """Where clips lie."""

    def read(self, clip: Clip) -> bytes:
        """As many bytes as ``clip`` is long: silence where its sound is no longer kept."""
        ...


@dataclass(frozen=True, slots=True)
class Clip:
    """``length`` bytes from ``start`` of the sound of ``turn``. The source does not travel with it between processes:
    each has its own."""

    turn: int
    start: int
    length: int
    source: Source | None = field(default=None, compare=False, repr=False)

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, part: slice) -> Clip:
        start, stop, _ = part.indices(self.length)
        return replace(self, start=self.start + start, length=max(0, stop - start))

    def __bytes__(self) -> bytes:
        return self.source.read(self) if self.source else bytes(self.length)

    def __reduce__(self) -> tuple[type[Clip], tuple[int, int, int]]:
        return (Clip, (self.turn, self.start, self.length))


Sound = bytes | Clip
