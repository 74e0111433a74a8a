"""The GPUs that llama.cpp can use here, and their memory, as its own library tells. Must not know of models."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, replace

import llama_cpp

from predtui.errors import PredtuiError
from predtui.llm.memory import Memory, nvidia

_GPU, _BUILT_IN = 1, 2
"""ggml's numbers for a GPU with memory of its own, and for one that shares the machine's."""
NONE = "cpu"


@dataclass(frozen=True, slots=True)
class Device:
    """``pointer``: ggml's."""

    pointer: int
    memory: Memory


def devices() -> tuple[Device, ...]:
    """In the order in which llama.cpp deals layers out to them; none where it was built for the processor alone."""
    if not llama_cpp.llama_supports_gpu_offload():
        return ()
    library = _library()
    pointers = [library.ggml_backend_dev_get(number) for number in range(library.ggml_backend_dev_count())]
    kinds = {pointer: library.ggml_backend_dev_type(pointer) for pointer in pointers}
    wanted = _GPU if _GPU in kinds.values() else _BUILT_IN
    found = [Device(pointer, _memory(library, pointer)) for pointer in pointers if kinds[pointer] == wanted]
    known = nvidia()
    if len(known) != len(found):
        return tuple(found)
    rated = zip(found, known, strict=True)
    return tuple(replace(one, memory=replace(one.memory, rate=gpu.rate)) for one, gpu in rated)


def chosen(names: tuple[str, ...], there: tuple[Device, ...]) -> tuple[Device, ...]:
    """Those of ``there`` that are called ``names``; all where nothing is named. Raises PredtuiError for another
    name."""
    if names in ((), (NONE,)):
        return () if names else there
    by_name = {one.memory.name.lower(): one for one in there}
    for name in names:
        if name.lower() not in by_name:
            known = ", ".join(one.memory.name for one in there)
            remedy = f"It has {known}, and cpu." if known else "It was built for the processor alone: leave it empty."
            raise PredtuiError(f"llm.device = {name!r} is none that llama.cpp has here.", remedy)
    return tuple(by_name[name.lower()] for name in names)


def _memory(library: ctypes.CDLL, pointer: int) -> Memory:
    free, total = ctypes.c_size_t(), ctypes.c_size_t()
    library.ggml_backend_dev_memory(pointer, ctypes.byref(free), ctypes.byref(total))
    name = library.ggml_backend_dev_name(pointer).decode("utf-8", "replace")
    return Memory(name, total.value, free.value)


def _library() -> ctypes.CDLL:
    """ggml, which the bindings of llama.cpp load and mostly leave alone."""
    from llama_cpp import _ggml

    library: ctypes.CDLL = _ggml.libggml
    library.ggml_backend_dev_count.restype = ctypes.c_size_t
    library.ggml_backend_dev_get.argtypes, library.ggml_backend_dev_get.restype = [ctypes.c_size_t], ctypes.c_void_p
    library.ggml_backend_dev_type.argtypes, library.ggml_backend_dev_type.restype = [ctypes.c_void_p], ctypes.c_int
    library.ggml_backend_dev_name.argtypes, library.ggml_backend_dev_name.restype = [ctypes.c_void_p], ctypes.c_char_p
    sizes = ctypes.POINTER(ctypes.c_size_t)
    library.ggml_backend_dev_memory.argtypes = [ctypes.c_void_p, sizes, sizes]
    return library
