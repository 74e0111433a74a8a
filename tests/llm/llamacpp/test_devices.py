"""GPUs by llama.cpp's own names, and which of them a person has chosen."""

from __future__ import annotations

import ctypes
from typing import Any

import llama_cpp
import pytest

from predtui.errors import PredtuiError
from predtui.llm.llamacpp import devices as module
from predtui.llm.llamacpp.devices import Device, chosen, devices
from predtui.llm.llamacpp.parameters import place
from predtui.llm.memory import GB, Memory
from predtui.llm.placement import Placement
from predtui.llm.plan import Ask, plan
from predtui.llm.sizes.network import Layer, Network

NETWORK = Network("llama", 10**9, 4096, 1024, 4096, 8, 32000, tuple(Layer(GB, GB, 64, 64) for _ in range(4)), 1, 0, GB)


class Library:
    """A processor, two GPUs with 3 GB free, and a third that shares the machine's memory."""

    kinds = (0, 1, 1, 2)

    def ggml_backend_dev_count(self) -> int:
        return 4

    def ggml_backend_dev_get(self, number: int) -> int:
        return 100 + number

    def ggml_backend_dev_type(self, pointer: int) -> int:
        return self.kinds[pointer - 100]

    def ggml_backend_dev_name(self, pointer: int) -> bytes:
        return b"CUDA%d" % (pointer - 101)

    def ggml_backend_dev_memory(self, _pointer: int, free: Any, total: Any) -> None:
        free._obj.value, total._obj.value = 3 * GB, 4 * GB


@pytest.fixture
def two(monkeypatch: pytest.MonkeyPatch) -> tuple[Device, ...]:
    monkeypatch.setattr(llama_cpp, "llama_supports_gpu_offload", lambda: True)
    monkeypatch.setattr(module, "_library", Library)
    monkeypatch.setattr(module, "nvidia", lambda: ())
    return devices()


def test_gpus_are_told_by_name_and_memory(two: tuple[Device, ...]) -> None:
    assert two == tuple(Device(101 + n, Memory(f"CUDA{n}", 4 * GB, 3 * GB)) for n in range(2))


def test_a_library_for_the_processor_alone_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(llama_cpp, "llama_supports_gpu_offload", lambda: False)
    assert devices() == ()
    library = module._library()
    assert library.ggml_backend_dev_count() >= 1, "ggml answers by these names"


def test_a_person_chooses_by_name(two: tuple[Device, ...]) -> None:
    assert chosen((), two) == two
    assert chosen(("cuda1",), two) == two[1:]
    assert chosen(("cpu",), two) == ()
    with pytest.raises(PredtuiError, match=r"CUDA7.*It has CUDA0, CUDA1, and cpu"):
        chosen(("CUDA7",), two)


@pytest.mark.parametrize(
    ("placement", "layers", "split"),
    [
        (Placement(), 4, [2.0, 2.0]),
        (Placement(gpu_layers="-1"), 5, [2.0, 3.0]),
        (Placement(gpu_layers="3"), 3, [2.0, 1.0]),
        (Placement(gpu_layers="3", split="3,1"), 3, [3.0, 1.0]),
        (Placement(gpu_layers="0"), 0, None),
    ],
    ids=str,
)
def test_llama_cpp_is_told_the_layers_and_where(
    placement: Placement, layers: int, split: list[float] | None, two: tuple[Device, ...]
) -> None:
    asked = {"auto": None, "-1": 5}.get(placement.gpu_layers, None if placement.gpu_layers == "auto" else 3)
    asked = 0 if placement.gpu_layers == "0" else asked
    made = plan(NETWORK, Ask(64, 256, gpu_layers=asked), Memory("RAM", 64 * GB, 32 * GB), [one.memory for one in two])
    params = llama_cpp.llama_model_default_params()
    kept = place(params, placement, made, two)
    assert params.n_gpu_layers == layers
    shares = list(params.tensor_split[:2]) if params.tensor_split else None
    assert shares == split
    assert bool(kept) == bool(split)


def test_chosen_gpus_are_given_by_their_pointers(two: tuple[Device, ...]) -> None:
    made = plan(NETWORK, Ask(64, 256), Memory("RAM", 64 * GB, 32 * GB), [two[1].memory])
    params = llama_cpp.llama_model_default_params()
    kept = place(params, Placement(device="CUDA1"), made, two[1:])
    given = ctypes.cast(params.devices, ctypes.POINTER(ctypes.c_void_p))
    assert (given[0], given[1]) == (102, None)
    assert kept
