"""A folder of notes, kept up to date, and what it has to say to a prompt. Must not know of models or turns."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from predtui.foreign import printable
from predtui.predgen.notes.folder import NotesFolder
from predtui.predgen.notes.index import Index
from predtui.predgen.notes.passages import Passage, passages
from predtui.predgen.notes.retrieval import SLOW_S, Retriever
from predtui.state.events import Notice

LOOKED_AT_S = 2.0
"""Seconds after which the folder is looked at again while input goes on."""
_NAMED = 3
"""Notes that a line about what is left out names."""


class Notes:
    """What is in the folder now, or was when it was last looked at."""

    def __init__(self, named: str, now: Callable[[], float], slow_s: float = SLOW_S) -> None:
        """Nothing is read before ``look``. Raises PredtuiError where there is nothing to search with."""
        self._folder, self._index, self._now = NotesFolder(named), Index(), now
        self.retriever = Retriever(self._index, now, slow_s)
        self._looked = float("-inf")
        self._told = ""

    def look(self, at_once: bool = True) -> Iterator[Notice]:
        """Take in what has changed; unless it is to be ``at_once``, no more often than needed. Tells what is wrong,
        once each time that is something else."""
        if not at_once and self._now() - self._looked < LOOKED_AT_S:
            return
        self._looked = self._now()
        changes = self._folder.look()
        for name in changes.gone:
            self._index.put(name, ())
        for name, text in changes.read.items():
            self._index.put(name, passages(name, text))
        if changes.gone or changes.read:
            self.retriever.changed()
        yield from self._tell()

    def passages(self, prompt: str, guess: bool = False) -> tuple[Passage, ...]:
        """As ``Retriever.passages``."""
        return self.retriever.passages(prompt, guess)

    def __len__(self) -> int:
        return len(self._index)

    def close(self) -> None:
        self._index.close()

    def _tell(self) -> Iterator[Notice]:
        line = self._wrong()
        if line and line != self._told:
            yield Notice(text=line, severity="warning")
        elif self._told and not line:
            yield Notice(text=f"{len(self._folder)} notes of {printable(self._folder.named)} are read now.")
        self._told = line

    def _wrong(self) -> str:
        if self._folder.problem:
            return f"No notes: {self._folder.problem} Replies rest on none; --context names another folder."
        left = [f"{name} ({why})" for name, why in sorted(self._folder.left_out.items())]
        more = f" and {len(left) - _NAMED} more" if len(left) > _NAMED else ""
        parts = [f"left out: {', '.join(left[:_NAMED])}{more}"] if left else []
        parts += ["there are too many for the rest"] if self._folder.more else []
        return f"{len(self._folder)} notes are read; {'; '.join(parts)}." if parts else ""
