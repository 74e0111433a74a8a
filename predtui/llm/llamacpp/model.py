"""llama.cpp behind ``LanguageModel``: weights in a GGUF file, a KV cache that remembers the last argument.

Calls the low-level API directly, with one batch reused for every forward. Must not know of text, templates or how
tokens are chosen.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import llama_cpp
import numpy as np
import psutil

from predtui.errors import PredtuiError
from predtui.llm.base import (
    Counters,
    Preempted,
    Stale,
    common_prefix,
    never,
    reusable,
)
from predtui.llm.gguf import GgufHeader, read_header
from predtui.llm.halt import Halt
from predtui.llm.llamacpp.batch import CHUNK, HALTED, Batch, open_context, stop_at
from predtui.llm.llamacpp.exactness import UNTESTED, Padding, found
from predtui.llm.llamacpp.log import forget_errors, initialise, last_error
from predtui.llm.llamacpp.repacking import AUTO, REPACKED, SAFEST, may_repack, tiles_are_ours
from predtui.llm.llamacpp.sequences import LlamaCppSequences
from predtui.llm.llamacpp.threads import llama_threads
from predtui.llm.rows import Answers, ArrayRows, Logits, Rows
from predtui.llm.sequences import Sequences
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

    def __init__(
        self,
        path: Path,
        threads: int | None = None,
        context: int = 0,
        stale: Stale = never,
        weights: str = AUTO,
    ) -> None:
        """``context`` in tokens, 0 for the model's own up to 4096; ``stale`` is asked between the chunks of a long
        evaluation, and a Halt within them, too, which then raises Preempted; ``weights``: how they are held, as in
        ``repacking``, whose self-test decides where nothing else is said. Raises PredtuiError for a file that cannot be
        loaded."""
        initialise()
        header = read_header(path)
        self.counters = Counters()
        self._stale = stale
        self._memory: list[int] = []
        self._context = 0
        self._parameters = header.parameters
        self._threads = 1 if weights == SAFEST else threads or llama_threads(self._parameters)
        self._cores = None if threads or self._threads == 1 else Cores(self._threads)
        self._working = self._threads
        """Threads of the last forward."""
        self._model = self._load(path, header, weights)
        self._context = self._open(path, self._threads, context)
        self._kv = llama_cpp.llama_get_memory(self._context)
        self._vocab_size = int(llama_cpp.llama_vocab_n_tokens(self.vocab))
        self._batch = Batch(CHUNK, PADDING)
        repacked = "repacked" if self._repacked else "stored"
        self.exactness = UNTESTED if self.recurrent else found(self, header.weights, self._threads, repacked)
        self.counters = Counters()
        if isinstance(stale, Halt):
            stop_at(self._context, stale)

    @property
    def vocab_size(self) -> int:
        return self._vocab_size

    @property
    def answers(self) -> Answers:
        return Answers.all(self.vocab_size)

    @property
    def context_size(self) -> int:
        return self._context_size

    @property
    def parameters(self) -> int:
        return self._parameters

    @property
    def padding(self) -> Padding:
        return self._batch.padding

    def pad(self, padding: Padding) -> None:
        """As ``PaddedModel`` says."""
        self.forget()
        self._batch.padding = padding

    @property
    def handle(self) -> int:
        """llama.cpp's model pointer, for what reads the file's vocabulary and metadata; valid until ``close``."""
        return self._model

    @property
    def recurrent(self) -> bool:
        """Whether the model keeps a state that cannot be cut back to any of its tokens, in some layers at least."""
        return bool(llama_cpp.llama_model_is_recurrent(self._model) or llama_cpp.llama_model_is_hybrid(self._model))

    @property
    def vocab(self) -> int:
        """llama.cpp's vocabulary pointer; valid until ``close``."""
        return llama_cpp.llama_model_get_vocab(self._model) or 0

    def forward(self, tokens: Sequence[int], last: int = 1) -> Rows:
        kept = self._cut_back(reusable(self._memory, tokens, last, self._context_size, self._vocab_size))
        self.counters.forwards += 1
        parts: list[Logits] = []
        first_row = len(tokens) - last
        for start in range(kept, len(tokens), CHUNK):
            if start > kept and self._stale():
                raise Preempted
            end = min(start + CHUNK, len(tokens))
            rows = min(end - start, max(0, end - first_row))
            self._batch.fill(tokens[start:end], start, rows)
            self._decode(self._batch.struct, self._batch.padded)
            self._memory.extend(tokens[start:end])
            if rows:
                parts.append(self._batch.rows(self._context, self._vocab_size))
        return ArrayRows(parts[0] if len(parts) == 1 else np.concatenate(parts))

    def _remember(self, tokens: Sequence[int]) -> None:
        """Evaluate what is not yet remembered of ``tokens``."""
        if common_prefix(self._memory, tokens) < len(tokens):
            LlamaCppModel.forward(self, tokens)

    def leave(self, cores: int) -> None:
        """As ``SharingModel`` says; a number of threads that was asked for stays."""
        if self._cores:
            self._cores.leave(cores)

    def sequences(self) -> Sequences:
        beside_a_target = self._threads - 1 if self._cores else self._threads
        return LlamaCppSequences(self, max(1, beside_a_target))

    def forget(self, keep: int = 0) -> None:
        self._cut_back(min(keep, len(self._memory)))

    def close(self) -> None:
        if self._context:
            llama_cpp.llama_free(self._context)
        if self._model:
            llama_cpp.llama_model_free(self._model)
        self._context = self._model = 0
        self._memory.clear()

    def _cut_back(self, keep: int) -> int:
        """Forget what lies beyond ``keep`` tokens, or all where the cache cannot be cut (recurrence); what is kept."""
        if keep < len(self._memory):
            if not llama_cpp.llama_memory_seq_rm(self._kv, 0, keep, -1):
                llama_cpp.llama_memory_clear(self._kv, False)
                keep = 0
            del self._memory[keep:]
        return keep

    def _decode(self, batch: llama_cpp.llama_batch, padded: int, sequences: int = 1) -> None:
        """Evaluate ``batch``, whose tokens belong to so many sequences, but for the last ``padded``, of no use.
        Raises Preempted where it was halted: then sequence 0 is as it was before, and the others hold nothing, which
        llama.cpp sees to for tokens of a single sequence only."""
        if self._cores and (threads := self._cores.threads) != self._working:
            llama_cpp.llama_set_n_threads(self._context, threads, threads)
            self._working = threads
        status = llama_cpp.llama_decode(self._context, batch)
        if padded:
            llama_cpp.llama_memory_seq_rm(self._kv, PADDING, -1, -1)
        if status == HALTED:
            forget_errors()
            llama_cpp.llama_memory_seq_rm(self._kv, 0, len(self._memory), -1)
            for sequence in range(1, sequences):
                llama_cpp.llama_memory_seq_rm(self._kv, sequence, -1, -1)
            raise Preempted
        if status != 0:
            llama_cpp.llama_memory_clear(self._kv, False)
            self._memory.clear()
            raise PredtuiError(f"llama.cpp could not evaluate {batch.n_tokens} tokens: {last_error()}.")
        self.counters.tokens += int(batch.n_tokens) - padded

    def _head_width(self) -> int:
        heads = int(llama_cpp.llama_model_n_head(self._model)) or 1
        return int(llama_cpp.llama_model_n_embd(self._model)) // heads

    def _load(self, path: Path, header: GgufHeader, weights: str) -> int:
        free = psutil.virtual_memory().available
        if header.size > free:
            raise _too_large(path, header.size, free)
        params = llama_cpp.llama_model_default_params()
        self._repacked = weights == REPACKED or (
            weights == AUTO and tiles_are_ours() and may_repack(path, header.weights, self._threads)
        )
        params.use_extra_bufts = self._repacked
        if weights == SAFEST:
            _unmap(params)
        model = llama_cpp.llama_model_load_from_file(str(path).encode(), params)
        if not model:
            kind = header.metadata.get("general.architecture", "unknown")
            raise PredtuiError(
                f"llama.cpp cannot load {path} (architecture {kind}): {last_error()}.",
                "Choose another model with --model, or update llama-cpp-python.",
            )
        return int(model)

    def _open(self, path: Path, threads: int, context: int) -> int:
        if 0 < context < _LEAST_CONTEXT:
            self.close()
            raise PredtuiError(
                f"A context of {context} tokens holds no conversation.", f"Give {_LEAST_CONTEXT} or more, or 0."
            )
        trained = int(llama_cpp.llama_model_n_ctx_train(self._model))
        self._context_size = min(context or _DEFAULT_CONTEXT, trained)
        needed, free = self._cache_bytes(), psutil.virtual_memory().available
        if needed > free:
            self.close()
            raise _too_large(path, needed, free)
        opened = open_context(self._model, self._context_size, threads, PADDING + 1)
        if not opened:
            self.close()
            raise PredtuiError(f"llama.cpp cannot run {path}: {last_error()}.", "Try a smaller --llm-context.")
        return opened

    def _cache_bytes(self) -> int:
        """Bytes of a 16-bit KV cache: keys and values of every layer at every position."""
        width = self._head_width() * int(llama_cpp.llama_model_n_head_kv(self._model))
        return 4 * width * int(llama_cpp.llama_model_n_layer(self._model)) * self._context_size


def _unmap(params: llama_cpp.llama_model_params) -> None:
    """Have the file read instead of mapped, as versions of the bindings say it."""
    if hasattr(params, "load_mode"):
        params.load_mode = llama_cpp.LLAMA_LOAD_MODE_NONE
    else:
        params.use_mmap = False


def _too_large(path: Path, needed: int, free: int) -> PredtuiError:
    return PredtuiError(
        f"{path} needs {needed / 2**20:,.0f} MB of memory and {free / 2**20:,.0f} MB are free.",
        "Choose a smaller model or a smaller --llm-context.",
    )
