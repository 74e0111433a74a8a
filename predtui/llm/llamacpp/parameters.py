"""What is chosen of where and how a model is held, as llama.cpp's parameters, whose names differ between versions of
the bindings. Must not know why it is chosen.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import llama_cpp

from predtui.llm.base import Told
from predtui.llm.llamacpp.devices import Device
from predtui.llm.placement import ALL, AUTO, Placement
from predtui.llm.plan import Plan

KV_TYPES = {"f16": llama_cpp.GGML_TYPE_F16, "q8_0": llama_cpp.GGML_TYPE_Q8_0, "q4_0": llama_cpp.GGML_TYPE_Q4_0}


def hold(params: llama_cpp.llama_model_params, mapped: bool, locked: bool) -> None:
    """Have the file mapped or read, and locked in memory or not."""
    if not hasattr(params, "load_mode"):
        params.use_mmap, params.use_mlock = mapped, locked
    elif not mapped or locked:
        params.load_mode = {
            (True, True): llama_cpp.LLAMA_LOAD_MODE_MMAP_MLOCK,
            (False, True): llama_cpp.LLAMA_LOAD_MODE_MLOCK,
            (False, False): llama_cpp.LLAMA_LOAD_MODE_NONE,
        }[mapped, locked]


def place(
    params: llama_cpp.llama_model_params, placement: Placement, plan: Plan, there: Sequence[Device]
) -> list[object]:
    """Have layers held by the GPUs ``there`` as ``plan`` says, or as ``placement`` does. What is returned must live as
    long as ``params`` are used."""
    kept: list[object] = []
    if placement.devices():
        pointers = (ctypes.c_void_p * (len(there) + 1))(*(one.pointer for one in there), None)
        params.devices = ctypes.addressof(pointers)  # type: ignore[assignment]
        kept.append(pointers)
    if placement.gpu_layers == AUTO:
        params.n_gpu_layers = sum(plan.layers) if there else 0
    else:
        params.n_gpu_layers = len(plan.network.layers) + 1 if placement.gpu_layers == ALL else int(placement.gpu_layers)
    shares = placement.shares() or (plan.layers if len(there) > 1 and any(plan.layers) else ())
    if shares:
        split = (ctypes.c_float * llama_cpp.LLAMA_MAX_DEVICES)(*shares[: llama_cpp.LLAMA_MAX_DEVICES])
        params.tensor_split = split
        kept.append(split)
    return kept


def listen(params: llama_cpp.llama_model_params, told: Told, total: int) -> object:
    """Have ``told`` asked while the weights, so many bytes, are loaded. What is returned must live as long."""

    def asked(fraction: float, _data: object) -> bool:
        return told(int(fraction * total), total)

    callback = llama_cpp.llama_progress_callback(asked)
    params.progress_callback = callback
    return callback
