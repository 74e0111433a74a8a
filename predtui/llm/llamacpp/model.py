"""llama.cpp behind ``LanguageModel``: weights in a GGUF file, a KV cache that remembers the last argument.

Calls the low-level API directly, with one batch reused for every forward. Must not know of text, templates or how
tokens are chosen.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import llama_cpp
import numpy as np

from predtui.errors import PredtuiError
from predtui.llm.abilities import Abilities
from predtui.llm.base import (
    Counters,
    Preempted,
    Stale,
    common_prefix,
    never,
    reusable,
)
from predtui.llm.halt import Halt
from predtui.llm.llamacpp.batch import CHUNK, HALTED, Batch, open_context, output_states, stop_at
from predtui.llm.llamacpp.exactness import Padding, found
from predtui.llm.llamacpp.log import forget_errors, last_error
from predtui.llm.llamacpp.weights import LlamaWeights
from predtui.llm.pace import Pace
from predtui.llm.placement import Placement
from predtui.llm.rows import ArrayRows, Hidden, Logits, Rows
from predtui.llm.threads import Cores

LEAVES = 16
"""Leaves of a tree that one forward can evaluate side by side."""
SPARED, PADDING = LEAVES, LEAVES + 1
"""The sequences of what is put aside or moved, and of what stands in a forward for no use of its own."""
_DEFAULT_CONTEXT = 4096
_LEAST_CONTEXT = 64
"""What llama.cpp itself does with fewer cells than sequences is to abort."""


class LlamaCppModel:
    """A GGUF model. One sequence holds the last argument."""

    SEQUENCES = PADDING + 1
    """How many the context has room for."""

    def __init__(self, weights: LlamaWeights, context: int = 0, stale: Stale = never) -> None:
        """Takes over ``weights``, which are closed with it. ``context`` in tokens, 0 for the model's own up to 4096;
        ``stale`` is asked between the pieces of a long evaluation, and a Halt within them, too, which then raises
        Preempted. Raises PredtuiError for weights that cannot be run."""
        self.counters = Counters()
        self._stale: Stale = never
        self._memory: list[int] = []
        self._context = 0
        self._weights, self._model = weights, weights.handle
        self._threads = weights.threads
        self._cores = Cores(self._threads) if weights.follows else None
        self._working = self._threads
        """Threads of the last forward."""
        self._context = self._open(context)
        self._kv = llama_cpp.llama_get_memory(self._context)
        self._vocab_size = int(llama_cpp.llama_vocab_n_tokens(self.vocab))
        pooled = llama_cpp.llama_pooling_type(self._context) != llama_cpp.LLAMA_POOLING_TYPE_NONE
        self._width = 0 if pooled else int(llama_cpp.llama_model_n_embd(self._model))
        self._telling = False
        """Whether rows have the states behind them."""
        self._batch = Batch(CHUNK, PADDING)
        self._pace = Pace()
        self.exactness = found(self, weights.header.weights, self._threads, weights.held)
        self.counters, self._stale = Counters(), stale  # what is computed to open is for whatever comes
        if isinstance(stale, Halt):
            stop_at(self._context, stale)

    @property
    def vocab_size(self) -> int:
        return self._vocab_size

    @property
    def abilities(self) -> Abilities:
        return replace(Abilities.of_logits(self.vocab_size), shares=True)

    @property
    def context_size(self) -> int:
        return self._context_size

    @property
    def parameters(self) -> int:
        return self._weights.header.parameters

    @property
    def footprint(self) -> int:
        """Bytes that weights, cache and buffers take, about."""
        return self._weights.plan.needed

    @property
    def padding(self) -> Padding:
        return self._batch.padding

    @property
    def placement(self) -> Placement:
        """How the cache is held, too."""
        return self._weights.placement

    @property
    def handle(self) -> int:
        """llama.cpp's model pointer, for what reads the file's vocabulary and metadata; valid until ``close``."""
        return self._model

    @property
    def vocab(self) -> int:
        """llama.cpp's vocabulary pointer; valid until ``close``."""
        return llama_cpp.llama_model_get_vocab(self._model) or 0

    def forward(self, tokens: Sequence[int], last: int = 1) -> Rows:
        wanted = reusable(self._memory, tokens, last, self._context_size, self._vocab_size)
        kept = self._cut_back(wanted)
        self.counters.forwards += 1
        parts: list[Logits] = []
        states: list[Hidden] = []
        first_row = len(tokens) - last
        pieces = self._pieces(kept, wanted, first_row, len(tokens))
        for start, end in divided(pieces, first_row) if self._telling else pieces:
            if start > kept and self._stale():
                raise Preempted
            rows = min(end - start, max(0, end - first_row))
            self._batch.fill(tokens[start:end], start, rows)
            self._decode(self._batch.struct, self._batch.padded, told=rows > 0)
            self._memory.extend(tokens[start:end])
            if rows:
                parts.append(self._batch.rows(self._context, self._vocab_size))
            if rows and self._telling:
                states.append(output_states(self._context, rows, self._width))
        return ArrayRows(_joined(parts), _joined(states) if states else None)

    def _pieces(self, start: int, _wanted: int, first_row: int, end: int) -> Iterator[tuple[int, int]]:
        """Begin and end of what is evaluated at once of the tokens from ``start`` to ``end``, of which rows are wanted
        from ``first_row`` on; ``_wanted`` is where they part from what was remembered before."""
        return self._pace.pieces(start, first_row, end)

    def _remember(self, tokens: Sequence[int]) -> None:
        """Evaluate what is not yet remembered of ``tokens``."""
        if common_prefix(self._memory, tokens) < len(tokens):
            LlamaCppModel.forward(self, tokens)

    def leave(self, cores: int) -> None:
        """As ``SharingModel`` says; a number of threads that was asked for stays."""
        if self._cores:
            self._cores.leave(cores)

    def forget(self, keep: int = 0) -> None:
        self._cut_back(min(keep, len(self._memory)))

    def close(self) -> None:
        if self._context:
            llama_cpp.llama_free(self._context)
        self._weights.close()
        self._context = self._model = 0
        self._memory.clear()

    def _cut_back(self, keep: int) -> int:
        """Forget what lies beyond ``keep`` tokens, or all where the cache has lost some of what these need (a sliding
        window that was not kept whole); what is kept."""
        if keep < len(self._memory):
            cut = llama_cpp.llama_memory_seq_rm(self._kv, 0, keep, -1)
            if not cut or (keep and llama_cpp.llama_memory_seq_pos_min(self._kv, 0) != 0):
                self._forget_all()
            del self._memory[keep:]
        return min(keep, len(self._memory))

    def _forget_all(self) -> None:
        llama_cpp.llama_memory_clear(self._kv, False)
        self._memory.clear()

    def _decode(self, batch: llama_cpp.llama_batch, padded: int, sequences: int = 1, told: bool = True) -> None:
        """Evaluate ``batch``, whose tokens belong to so many sequences, but for the last ``padded``, of no use;
        ``told``: whether there are rows, whose states may be wanted.
        Raises Preempted where it was halted: then what is remembered is as it was before, and other sequences hold
        nothing."""
        if self._cores and (threads := self._cores.threads) != self._working:
            llama_cpp.llama_set_n_threads(self._context, threads, threads)
            self._working = threads
        if self._telling:
            llama_cpp.llama_set_embeddings(self._context, told)
        status = llama_cpp.llama_decode(self._context, batch)
        if padded:
            llama_cpp.llama_memory_seq_rm(self._kv, PADDING, -1, -1)
        if status == HALTED:
            forget_errors()
            self._halted(sequences)
            raise Preempted
        if status != 0:
            self._forget_all()
            raise PredtuiError(f"llama.cpp could not evaluate {batch.n_tokens} tokens: {last_error()}.")
        self.counters.tokens += int(batch.n_tokens) - padded

    def _halted(self, sequences: int) -> None:
        """Undo what a forward over so many sequences has begun, which llama.cpp sees to for a single one only."""
        llama_cpp.llama_memory_seq_rm(self._kv, 0, len(self._memory), -1)
        for sequence in range(1, sequences):
            llama_cpp.llama_memory_seq_rm(self._kv, sequence, -1, -1)

    def _open(self, context: int) -> int:
        path = self._weights.path
        if 0 < context < _LEAST_CONTEXT:
            self.close()
            raise PredtuiError(
                f"A context of {context} tokens holds no conversation.", f"Give {_LEAST_CONTEXT} or more, or 0."
            )
        trained = int(llama_cpp.llama_model_n_ctx_train(self._model))
        self._context_size = min(context or _DEFAULT_CONTEXT, trained)
        opened = open_context(self._model, self._context_size, self._threads, self.SEQUENCES, self.placement)
        if not opened:
            self.close()
            raise PredtuiError(f"llama.cpp cannot run {path}: {last_error()}.", "Try a smaller --llm-context.")
        return opened


def divided(pieces: Iterator[tuple[int, int]], first_row: int) -> Iterator[tuple[int, int]]:
    """``pieces``, of which the one that begins before ``first_row`` and ends behind it becomes two: a forward that
    tells states tells those of all its tokens, and their logits."""
    for start, end in pieces:
        if start < first_row < end:
            yield start, first_row
        yield max(start, first_row) if first_row < end else start, end


def _joined(parts: list[Logits]) -> Logits:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)
