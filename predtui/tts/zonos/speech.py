"""Speaks one sentence from its prefix: a column of codes per forward, a chunk of sound once its frames are complete.

A ``Speech`` is an iterator that can be saved between any two steps and resumed from what was saved, in the same
process; the sound is the same. Must not know of text, voices or turns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from predtui.errors import PredtuiError
from predtui.tts.zonos.backbone import KeyValueCache
from predtui.tts.zonos.codec import Codec, pcm
from predtui.tts.zonos.config import CODEBOOKS, EOS
from predtui.tts.zonos.pattern import DELAY, audible, forced, undelayed
from predtui.tts.zonos.sampling import SamplingOptions, guided, sample

Step = Callable[[Tensor, KeyValueCache], Tensor]
"""``ZonosModel.step``, or what does the same."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """What the sentence ``text`` starts from: ``read``, keys and values of its prefix as ``KeyValueCache.saved`` gives
    them, and ``known`` [9, frames], the frames before its own. It has at most ``limit`` frames of its own."""

    text: str
    read: Tensor
    known: Tensor
    limit: int


@dataclass(frozen=True, slots=True)
class ZonosState:
    """A sentence that was stopped midway. ``cache``: keys and values of its prefix and of the first ``read`` of its
    ``columns`` [9, columns], empty once it is over. ``known`` and ``limit``: those of its prompt. ``end``: the column
    of its EOS, None before that. ``given``: frames known before or given as sound."""

    text: str
    known: Tensor
    limit: int
    cache: Tensor
    read: int
    columns: Tensor
    end: int | None
    given: int

    @property
    def nbytes(self) -> int:
        """Bytes of memory that it holds."""
        return self.cache.nbytes + self.columns.nbytes

    @property
    def finished(self) -> bool:
        """Whether all of the sentence has been given as sound."""
        return self.end is not None and self.given == self.end - 1

    @property
    def frames(self) -> Tensor:
        """The sentence's own frames that are complete, without those known before: [9, frames]."""
        total = None if self.end is None else self.end - 1
        return audible(undelayed(self.columns))[:, self.known.shape[1] : total]


class Speech(Iterator[bytes]):
    """The sound of one sentence: 16-bit PCM, mono. Each ``next`` costs at most one forward and gives a chunk, or empty
    bytes while none is complete."""

    def __init__(
        self, step: Step, codec: Codec, options: SamplingOptions, chunk: int, start: Prompt | ZonosState
    ) -> None:
        """``chunk``: frames per chunk; ``start``: a prompt to begin with, or a saved state to go on from."""
        self._step, self._codec, self._options, self._chunk = step, codec, options, chunk
        state = start if isinstance(start, ZonosState) else _fresh(start)
        self._start = state
        self._columns = list(state.columns.unbind(1))
        self._cache = KeyValueCache.restored(state.cache)
        self._read = state.read
        self._end = state.end
        self._given = state.given

    def save(self) -> ZonosState:
        """What ``Speech(..., start=state)`` goes on from; this object may go on as well."""
        over = self._given == self._total
        cache = self._cache.storage[..., :0, :].clone() if over else self._cache.saved()
        columns = torch.stack(self._columns, 1)
        return replace(self._start, cache=cache, read=self._read, columns=columns, end=self._end, given=self._given)

    @property
    def codes(self) -> Tensor:
        """The complete frames so far, those known before included, up to the end of the sentence: [9, frames]."""
        return audible(undelayed(torch.stack(self._columns, 1))[:, : self._total])

    def __next__(self) -> bytes:
        """Raises PredtuiError where the network or the codec fails, as for want of memory."""
        try:
            return self._next()
        except (RuntimeError, MemoryError) as error:
            raise failure(error) from error

    def _next(self) -> bytes:
        stop = self._given + self._chunk
        wanted = stop + self._codec.context if self._total is None else min(stop + self._codec.context, self._total)
        if len(self._columns) - DELAY < wanted:
            self._advance()
            return b""
        codes = self.codes
        start, stop = self._given, min(stop, codes.shape[1])
        if start == stop:
            raise StopIteration
        self._given = stop
        with torch.inference_mode():
            return pcm(self._codec.between(codes, start, stop))

    @property
    def _total(self) -> int | None:
        """Frames of the sentence, those known before included, once its end is known: EOS stands in the next."""
        return None if self._end is None else self._end - 1

    @torch.inference_mode()
    def _advance(self) -> None:
        """Evaluate the columns that have not been, and choose the next."""
        column = len(self._columns)
        if self._end is None and column > self._start.known.shape[1] + self._start.limit:
            self._end = column
        unread = torch.stack(self._columns[self._read :], 1).to(self._cache.storage.device)
        logits = guided(self._step(unread, self._cache), self._options.guidance)
        self._read = column
        sampled = sample(logits, self._recent(column).to(logits.device), column, self._options).cpu()
        fixed = forced(column, self._start.known, self._end)
        chosen = torch.where(fixed < 0, sampled, fixed)
        if self._end is None and chosen[0] == EOS and column > self._first:
            self._end = column
        self._columns.append(chosen)

    @property
    def _first(self) -> int:
        """The column of the sentence's own first code. As published, nothing before it counts as its past, and it is
        not the end whatever it says."""
        return self._start.known.shape[1] + 1

    def _recent(self, column: int) -> Tensor:
        """The columns [9, columns] before ``column`` whose codes are not to be repeated."""
        if column == self._first:
            return torch.empty((CODEBOOKS, 0), dtype=torch.long)
        return torch.stack(self._columns[max(0, column - self._options.window) :], 1)


def _fresh(prompt: Prompt) -> ZonosState:
    """Before the first forward: the columns whose every place is known."""
    known = prompt.known.shape[1]
    columns = torch.stack([forced(column, prompt.known, None) for column in range(known + 1)], 1)
    return ZonosState(prompt.text, prompt.known, prompt.limit, prompt.read, 0, columns, None, known)


def failure(error: Exception) -> PredtuiError:
    """What to tell a person about an exception from torch."""
    said = (str(error).strip().splitlines() or [""])[0]
    if isinstance(error, torch.OutOfMemoryError | MemoryError) or "allocate memory" in said:
        return PredtuiError("Zonos has no memory left.", "Lower tts.memory, set tts.int8, or choose --tts espeak.")
    return PredtuiError(f"Zonos failed: {said.rstrip('.')}.", "Choose --tts espeak.")
