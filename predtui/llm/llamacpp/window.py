"""``Cells`` in llama.cpp: a small context of its own over a model's weights, which are not loaded again.

Positions are those within the window, as StreamingLLM has them: where tokens go, those behind them move up, and
llama.cpp turns their keys. Must not know which tokens go.
"""

from __future__ import annotations

from collections.abc import Sequence

import llama_cpp

from predtui.errors import PredtuiError
from predtui.llm.llamacpp.batch import CHUNK, Batch, open_context
from predtui.llm.llamacpp.log import last_error
from predtui.llm.llamacpp.sequences import SharedWeights
from predtui.llm.rows import Logits

_PADDING = 1
"""The sequence of what stands in a forward for no use of its own."""


class LlamaCells:
    """Sequence 0 of the context."""

    def __init__(self, model: SharedWeights, threads: int, size: int) -> None:
        """Raises PredtuiError where the context cannot be opened, or its keys cannot be turned."""
        self._vocab_size, self._held = model.vocab_size, 0
        self._context = open_context(model.handle, size, threads, _PADDING + 1, model.placement)
        self._kv = llama_cpp.llama_get_memory(self._context) if self._context else None
        if not self._kv or not llama_cpp.llama_memory_can_shift(self._kv):
            why = "its cache cannot be moved" if self._context else last_error()
            self.close()
            raise PredtuiError(f"llama.cpp can open no window over this model: {why}.", "Choose another --drafter.")
        self._batch = Batch(CHUNK, _PADDING)
        self._batch.padding = model.padding

    @property
    def bytes(self) -> int:
        return int(llama_cpp.llama_state_seq_get_size(self._context, 0))

    def cut(self, keep: int) -> None:
        llama_cpp.llama_memory_seq_rm(self._kv, 0, keep, -1)
        self._held = keep

    def drop(self, start: int, count: int) -> None:
        llama_cpp.llama_memory_seq_rm(self._kv, 0, start, start + count)
        llama_cpp.llama_memory_seq_add(self._kv, 0, start + count, -1, -count)
        self._held -= count

    def evaluate(self, tokens: Sequence[int], positions: Sequence[int], rows: int) -> Logits:
        """Raises PredtuiError."""
        self._batch.fill(tokens, self._held, rows)
        if llama_cpp.llama_decode(self._context, self._batch.struct) != 0:
            raise PredtuiError(f"llama.cpp could not evaluate {len(tokens)} tokens: {last_error()}.")
        if self._batch.padded:
            llama_cpp.llama_memory_seq_rm(self._kv, _PADDING, -1, -1)
        self._held += len(tokens)
        return self._batch.rows(self._context, self._vocab_size)

    def close(self) -> None:
        if self._context:
            llama_cpp.llama_free(self._context)
        self._context = 0
