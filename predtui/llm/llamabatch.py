"""What a forward of llama.cpp is made of: a batch of tokens, a context to evaluate it in, and the rows that come out.

Must not know what is evaluated, or why.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence

import llama_cpp
import numpy as np

from predtui.llm.base import Logits
from predtui.llm.halt import Halt

CHUNK = 256
"""Tokens of the largest batch."""
HALTED = 2
"""Status of a forward that was ended while it was under way; the cache is as it was before."""
_FLASH_ATTENTION_OFF = 0
"""On a CPU its kernels for one token and for many differ by up to 0.15 in logits of deviation 6, the plain ones by 0.01
(random-weight Llama, 16-bit); what one chooses, the other must not reject."""


class Batch:
    """A ``llama_batch`` over numpy arrays, filled anew for each forward."""

    def __init__(self, size: int) -> None:
        self._tokens = np.zeros(size, np.int32)
        self._positions = np.zeros(size, np.int32)
        self._wanted = np.zeros(size, np.int8)
        self._sequences = np.zeros(size, np.int32)
        self._counts = np.ones(size, np.int32)
        stride = self._sequences.itemsize
        self._pointers = self._sequences.ctypes.data + stride * np.arange(size, dtype=np.uintp)
        self.struct = llama_cpp.llama_batch(
            n_tokens=0,
            token=self._tokens.ctypes.data_as(ctypes.POINTER(ctypes.c_int32)),
            embd=None,
            pos=self._positions.ctypes.data_as(ctypes.POINTER(ctypes.c_int32)),
            n_seq_id=self._counts.ctypes.data_as(ctypes.POINTER(ctypes.c_int32)),
            seq_id=self._pointers.ctypes.data_as(ctypes.POINTER(ctypes.POINTER(ctypes.c_int32))),
            logits=self._wanted.ctypes.data_as(ctypes.POINTER(ctypes.c_int8)),
        )

    def fill(self, tokens: Sequence[int], start: int, rows: int) -> None:
        """``tokens`` of sequence 0 from position ``start`` on, with logits for the last ``rows`` of them."""
        count = len(tokens)
        self._tokens[:count] = tokens
        self._positions[:count] = np.arange(start, start + count)
        self._sequences[:count] = 0
        self._wanted[: count - rows] = 0
        self._wanted[count - rows : count] = 1
        self.struct.n_tokens = count

    def put(self, tokens: Sequence[int], positions: Sequence[int], sequences: Sequence[int], rows: int) -> None:
        """Each token at its position in its sequence, with logits for the last ``rows`` of them."""
        count = len(tokens)
        self._tokens[:count] = tokens
        self._positions[:count] = positions
        self._sequences[:count] = sequences
        self._wanted[:count] = np.arange(count) >= count - rows
        self.struct.n_tokens = count

    def fill_branches(self, runs: Sequence[Sequence[int]], start: int) -> None:
        """Each run in its own sequence from position ``start`` on, with logits for every token."""
        count = 0
        for sequence, run in enumerate(runs):
            end = count + len(run)
            self._tokens[count:end] = run
            self._positions[count:end] = np.arange(start, start + len(run))
            self._sequences[count:end] = sequence
            count = end
        self._wanted[:count] = 1
        self.struct.n_tokens = count


def open_context(model: int, cells: int, threads: int, sequences: int) -> int:
    """llama.cpp's pointer of a context with ``cells`` cache cells that ``sequences`` sequences share; 0 where it
    cannot be had."""
    params = llama_cpp.llama_context_default_params()
    params.n_ctx = cells
    params.n_batch = params.n_ubatch = CHUNK
    params.n_seq_max = sequences
    params.n_threads = params.n_threads_batch = threads
    if not llama_cpp.llama_supports_gpu_offload():
        params.flash_attn_type = _FLASH_ATTENTION_OFF
    params.kv_unified = params.swa_full = params.no_perf = True
    return int(llama_cpp.llama_init_from_model(model, params) or 0)


def stop_at(context: int, halt: Halt) -> None:
    """End the context's forwards, between two operations of the network, as soon as ``halt`` is set.

    llama.cpp asks a C function of a pointer each time. The length of the string that the halt's byte begins is such a
    function, and costs no call into Python.
    """
    library = ctypes.CDLL("msvcrt" if os.name == "nt" else None)
    asked = ctypes.cast(library.strlen, llama_cpp.ggml_abort_callback)
    llama_cpp.llama_set_abort_callback(context, asked, ctypes.c_void_p(halt.address))


def output_rows(context: int, count: int, vocab_size: int) -> Logits:
    """A copy [count, vocab_size] of the rows that the last forward of a context was asked for."""
    address = ctypes.addressof(llama_cpp.llama_get_logits(context).contents)
    buffer = memoryview((ctypes.c_float * (count * vocab_size)).from_address(address))
    rows: Logits = np.frombuffer(buffer, np.float32).reshape(count, vocab_size).copy()
    return rows
