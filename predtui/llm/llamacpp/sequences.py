"""``Sequences`` in llama.cpp: one context whose cache cells several sequences share, so that a copy costs nothing.

Must not know what the sequences are for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import llama_cpp

from predtui.errors import PredtuiError
from predtui.llm.base import Counters, check_request, check_vocabulary, common_prefix
from predtui.llm.llamacpp.batch import CHUNK, Batch, Saved, open_context
from predtui.llm.llamacpp.exactness import Padding
from predtui.llm.llamacpp.log import last_error
from predtui.llm.placement import Placement
from predtui.llm.rows import ArrayRows, Rows
from predtui.llm.sequences import SEQUENCES

_SPARED, _PADDING = 2 * SEQUENCES, 2 * SEQUENCES + 1
"""Sequences of what is moved, and of what stands in a forward for no use of its own."""


class SharedWeights(Protocol):
    """What is shared with the model whose weights these are, which must stay open."""

    counters: Counters

    @property
    def handle(self) -> int:
        """llama.cpp's model pointer."""
        ...

    @property
    def vocab_size(self) -> int: ...

    @property
    def context_size(self) -> int: ...

    @property
    def padding(self) -> Padding: ...

    @property
    def placement(self) -> Placement: ...


class LlamaCppSequences:
    """Each list of tokens has a sequence id. A call lays its lists out in the half of the ids that the call before did
    not use, copies what it shares with that one, and clears the other half."""

    def __init__(self, model: SharedWeights, threads: int) -> None:
        """All lists together, what they share counted once, fit into the model's context. Counts into the model's
        counters. Raises PredtuiError where the context cannot be opened."""
        self._model, self._vocab_size, self._context_size = model, model.vocab_size, model.context_size
        self._context = open_context(model.handle, model.context_size, threads, _PADDING + 1, model.placement)
        if not self._context:
            raise PredtuiError(
                f"llama.cpp cannot open a second context: {last_error()}.",
                "Choose a smaller model, or free some memory.",
            )
        self._kv = llama_cpp.llama_get_memory(self._context)
        self._batch = Batch(CHUNK, _PADDING)
        self._batch.padding = model.padding
        self._memory: list[list[int]] = []
        self._first_id = 0
        self._ground = 0
        """Tokens at the beginning of all lists that are known to stand in the lowest cells, one after the other."""

    def forward_each(self, contexts: Sequence[Sequence[int]]) -> Rows:
        if not 1 <= len(contexts) <= SEQUENCES:
            raise ValueError(f"{len(contexts)} sequences; at most {SEQUENCES}")
        for context in contexts:
            check_request(context, 1, self._context_size)
            check_vocabulary(context, self._vocab_size)
        wanted = [list(context) for context in contexts]
        self._lay_out(wanted)
        for number, context in enumerate(wanted):
            self._catch_up(number, context)
        ids = range(self._first_id, self._first_id + len(wanted))
        self._evaluate([c[-1] for c in wanted], [len(c) - 1 for c in wanted], ids, len(wanted))
        self._memory = wanted
        self._model.counters.forwards += 1
        return ArrayRows(self._batch.rows(self._context, self._vocab_size))

    def close(self) -> None:
        if self._context:
            llama_cpp.llama_free(self._context)
        self._context = 0

    def _lay_out(self, wanted: list[list[int]]) -> None:
        """Give each list what it shares with one of the previous call; forget the rest of those."""
        old, self._first_id = self._first_id, SEQUENCES - self._first_id
        kept: list[list[int]] = []
        for number, context in enumerate(wanted):
            shared = [common_prefix(known, context) for known in self._memory]
            keep = min(max(shared, default=0), len(context) - 1)
            if keep:
                self._copy(old + shared.index(max(shared)), self._first_id + number, 0, keep)
            kept.append(context[:keep])
        for number in range(len(self._memory)):
            llama_cpp.llama_memory_seq_rm(self._kv, old + number, -1, -1)
        if any(known not in (context[: len(known)] for context in kept) for known in self._memory):
            self._close_ranks(kept)
        self._memory = kept

    def _close_ranks(self, kept: list[list[int]]) -> None:
        """Move what is above the ground to the lowest cells: what follows must come after it in the cache, as attention
        goes by the order of the cells, and not where something else was forgotten."""
        ground = min(self._ground, *(common_prefix(kept[0], context) for context in kept))
        saved: list[tuple[int, int, Saved]] = []
        for number, context in enumerate(kept):
            shared = [common_prefix(earlier, context) for earlier in kept[:number]]
            start = max(ground, *shared) if shared else ground
            self._copy(self._first_id + number, _SPARED, start, len(context))
            saved.append((start, shared.index(start) if start in shared else 0, Saved(self._context, _SPARED)))
            llama_cpp.llama_memory_seq_rm(self._kv, _SPARED, -1, -1)
        for number in range(len(kept)):
            llama_cpp.llama_memory_seq_rm(self._kv, self._first_id + number, ground, -1)
        for number, (context, (start, source, rest)) in enumerate(zip(kept, saved, strict=True)):
            start = min(start, max(ground, len(kept[source])))
            self._copy(self._first_id + source, self._first_id + number, ground, start)
            if start < len(context) and rest.restore(_SPARED):
                self._copy(_SPARED, self._first_id + number, start, len(context))
                llama_cpp.llama_memory_seq_rm(self._kv, _SPARED, -1, -1)
            else:
                del context[start:]
        self._ground = min(common_prefix(kept[0], context) for context in kept)

    def _catch_up(self, number: int, context: list[int]) -> None:
        """Bring a list to all but its last token: out of one before it, and by evaluation."""
        known, last = len(self._memory[number]), len(context) - 1
        for earlier in range(number):
            shared = min(common_prefix(self._memory[earlier], context), last)
            if shared > known:
                self._copy(self._first_id + earlier, self._first_id + number, known, shared)
                known = shared
        for start in range(known, last, CHUNK):
            part = context[start : min(start + CHUNK, last)]
            self._evaluate(part, range(start, start + len(part)), [self._first_id + number] * len(part), 0)
        self._memory[number] = context[:last]

    def _copy(self, source: int, to: int, start: int, end: int) -> None:
        llama_cpp.llama_memory_seq_cp(self._kv, source, to, start, end)

    def _evaluate(self, tokens: Sequence[int], positions: Sequence[int], ids: Sequence[int], rows: int) -> None:
        self._batch.put(tokens, positions, ids, rows)
        if llama_cpp.llama_decode(self._context, self._batch.struct) != 0:
            llama_cpp.llama_memory_clear(self._kv, False)
            self._memory, self._ground = [], 0
            raise PredtuiError(f"llama.cpp could not evaluate {len(tokens)} tokens: {last_error()}.")
        if self._batch.padded:
            llama_cpp.llama_memory_seq_rm(self._kv, _PADDING, -1, -1)
        self._model.counters.tokens += len(tokens)
