"""What a forward of llama.cpp is made of: a batch of tokens, a context to evaluate it in, and the rows that come out.

Must not know what is evaluated, or why.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from typing import Any

import llama_cpp
import numpy as np
import numpy.typing as npt

from predtui.llm.halt import Halt
from predtui.llm.llamacpp.exactness import UNPADDED
from predtui.llm.llamacpp.log import expect
from predtui.llm.llamacpp.parameters import KV_TYPES
from predtui.llm.pace import MOST
from predtui.llm.placement import AUTO, USUAL, Placement
from predtui.llm.rows import Hidden, Logits

CHUNK = MOST
"""Tokens of the largest batch."""
HALTED = 2
"""Status of a forward that was ended while it was under way; the cache is as it was before."""
MOST_PADDING = 16
"""The most tokens that stand beside those of a batch that are of use."""
_FLASH_ATTENTION, _PLAIN_ATTENTION = 1, 0
_BF16 = 30
"""llama.cpp's number of the type."""
_KNOWS_STATES = hasattr(llama_cpp, "LLAMA_STATE_SEQ_FLAGS_PARTIAL_ONLY")
_STATE = 1
"""llama.cpp's flag of what cannot be cut: the state of recurrent layers, and what a sliding window holds."""


class Batch:
    """A ``llama_batch`` over numpy arrays, filled anew for each forward."""

    def __init__(self, size: int, spare: int) -> None:
        """``spare``: a sequence that holds nothing else, for padding, to be cleared after a forward that is ``padded``
        with so many tokens."""
        self._spare, self.padding = spare, UNPADDED
        self._tokens = np.zeros(size, np.int32)
        self._positions = np.zeros(size, np.int32)
        self._wanted = np.zeros(size, np.int8)
        self._sequences = np.zeros(size, np.int32)
        self._counts = np.ones(size, np.int32)
        stride = self._sequences.itemsize
        self._pointers = self._sequences.ctypes.data + stride * np.arange(size, dtype=np.uintp)
        self._first, self._rows, self.padded = 0, 0, 0
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
        self.put(tokens, range(start, start + len(tokens)), 0, rows)

    def put(self, tokens: Sequence[int], positions: Sequence[int], sequences: Sequence[int] | int, rows: int) -> None:
        """Each token at its position in its sequence, with logits for the last ``rows`` of them."""
        count = len(tokens)
        end, outputs = self.padding.of(count), self.padding.of(rows) if rows else 0
        beside = min(end - count, outputs - rows)
        wanted = outputs - beside
        self._tokens[:count], self._tokens[count:end] = tokens, 0
        self._positions[:count], self._positions[count:end] = positions, np.arange(end - count)
        self._sequences[:count], self._sequences[count:end] = sequences, self._spare
        self._wanted[:end] = 0
        self._wanted[count - wanted : count + beside] = 1
        self._first, self._rows, self.padded = wanted - rows, rows, end - count
        self.struct.n_tokens = end

    def rows(self, context: int, vocab_size: int) -> Logits:
        """A copy [rows, vocab_size] of what was wanted of the forward that ``context`` has evaluated."""
        return output_rows(context, self._first + self._rows, vocab_size)[self._first :]


def open_context(model: int, cells: int, threads: int, sequences: int, placement: Placement = USUAL) -> int:
    """llama.cpp's pointer of a context with ``cells`` cache cells that ``sequences`` sequences share, and some for
    padding; 0 where it cannot be had.

    On a CPU, attention goes over the visible cells one by one, in their order, the same way for each token (llama.cpp's
    flash attention, where keys and values differ in type): what a token sees is summed alike however many are evaluated
    beside it, and in whatever cells. Where they may not differ (multi-head latent attention), or on a GPU, it is as
    llama.cpp has it. ``placement`` may want it otherwise.
    """
    params = llama_cpp.llama_context_default_params()
    params.n_ctx = cells + MOST_PADDING
    params.n_batch, params.n_ubatch = CHUNK, placement.batch or CHUNK
    params.n_seq_max = sequences
    params.n_threads = params.n_threads_batch = threads
    params.kv_unified = params.swa_full = params.no_perf = True
    params.type_k = params.type_v = plain = KV_TYPES[placement.kv]
    if placement.flash != AUTO:
        params.flash_attn_type = _FLASH_ATTENTION if placement.flash == "on" else _PLAIN_ATTENTION
    if llama_cpp.llama_supports_gpu_offload() or placement.flash == "off":
        return int(llama_cpp.llama_init_from_model(model, params) or 0)
    params.flash_attn_type, params.type_v = _FLASH_ATTENTION, _BF16 if placement.kv == "f16" else plain
    opened = llama_cpp.llama_init_from_model(model, params)
    if not opened:
        params.flash_attn_type, params.type_v = _PLAIN_ATTENTION, plain
        opened = llama_cpp.llama_init_from_model(model, params)
    return int(opened or 0)


def stop_at(context: int, halt: Halt) -> None:
    """End the context's forwards, between two operations of the network, as soon as ``halt`` is set.

    llama.cpp asks a C function of a pointer each time. The length of the string that the halt's byte begins is such a
    function, and costs no call into Python.
    """
    library = ctypes.CDLL("msvcrt" if os.name == "nt" else None)
    asked = ctypes.cast(library.strlen, llama_cpp.ggml_abort_callback)
    llama_cpp.llama_set_abort_callback(context, asked, ctypes.c_void_p(halt.address))
    expect(halt)


def output_rows(context: int, count: int, vocab_size: int) -> Logits:
    """A copy [count, vocab_size] of the first rows that the last forward of a context was asked for."""
    address = ctypes.addressof(llama_cpp.llama_get_logits(context).contents)
    buffer = memoryview((ctypes.c_float * (count * vocab_size)).from_address(address))
    rows: Logits = np.frombuffer(buffer, np.float32).reshape(count, vocab_size).copy()
    return rows


def output_states(context: int, count: int, width: int) -> Hidden:
    """A copy [count, width] of the states behind the first rows of the last forward of a context."""
    address = ctypes.addressof(llama_cpp.llama_get_embeddings(context).contents)
    buffer = memoryview((ctypes.c_float * (count * width)).from_address(address))
    states: Hidden = np.frombuffer(buffer, np.float32).reshape(count, width).copy()
    return states


class Saved:
    """What the cache holds of a sequence, to be put into the lowest cells that are free, in the order they had; or
    only what cannot be cut of it (``state``), where the library knows the difference."""

    def __init__(self, context: int, sequence: int, state: bool = False) -> None:
        self._context, self._state = context, state and _KNOWS_STATES
        if self._state:
            size = llama_cpp.llama_state_seq_get_size_ext(context, sequence, _STATE)
            self._buffer, self._data = _buffer(size)
            self.size = llama_cpp.llama_state_seq_get_data_ext(context, self._data, size, sequence, _STATE)
        else:
            size = llama_cpp.llama_state_seq_get_size(context, sequence)
            self._buffer, self._data = _buffer(size)
            self.size = llama_cpp.llama_state_seq_get_data(context, self._data, size, sequence)

    def restore(self, sequence: int) -> bool:
        """In place of what ``sequence`` holds of it. Whether it could be."""
        if self._state:
            done = llama_cpp.llama_state_seq_set_data_ext(self._context, self._data, self.size, sequence, _STATE)
        else:
            done = llama_cpp.llama_state_seq_set_data(self._context, self._data, self.size, sequence)
        return bool(self.size and done == self.size)


def _buffer(size: int) -> tuple[npt.NDArray[np.uint8], Any]:
    """So many bytes, and a pointer to them that is valid as long as they are."""
    buffer = np.empty(size, np.uint8)
    return buffer, buffer.ctypes.data_as(ctypes.POINTER(ctypes.c_uint8))
