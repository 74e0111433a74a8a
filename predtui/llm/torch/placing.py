"""Where a network is put, and in which numbers, by what the machine has. Must not know of files or of networks."""

from __future__ import annotations

from dataclasses import dataclass

import psutil
import torch

from predtui.errors import PredtuiError

SEVERAL = "auto"
"""transformers' word for layers that are shared out to all GPUs."""


@dataclass(frozen=True, slots=True)
class Machine:
    """Free bytes of each of its GPUs (CUDA, ROCm) and of its memory. ``bfloat16``: whether those compute in it.
    ``metal``: whether there is Apple's GPU, which shares the memory."""

    memory: int
    gpus: tuple[int, ...] = ()
    bfloat16: bool = False
    metal: bool = False

    @classmethod
    def here(cls) -> Machine:
        count = torch.cuda.device_count() if torch.cuda.is_available() else 0
        return cls(
            memory=psutil.virtual_memory().available,
            gpus=tuple(torch.cuda.mem_get_info(number)[0] for number in range(count)),
            bfloat16=count > 0 and torch.cuda.is_bf16_supported(including_emulation=False),
            metal=torch.backends.mps.is_available(),
        )


@dataclass(frozen=True, slots=True)
class Place:
    """``device``: PyTorch's name, or ``SEVERAL``. ``told``: device and numbers in the words of the screen."""

    device: str
    dtype: torch.dtype
    told: str


def place(name: str, small: int, large: int, machine: Machine) -> Place:
    """Of a model whose weights and cache take ``small`` bytes in 16 bits, and ``large`` in 32. 16 bits on a GPU; on the
    CPU 32, whose rows do not depend on how many are computed at once, or 16 where only those fit. Raises PredtuiError
    where it fits nowhere."""
    half = torch.bfloat16 if machine.bfloat16 else torch.float16
    if machine.gpus:
        first, free = machine.gpus[0], sum(machine.gpus)
        if small <= first:
            return Place("cuda", half, f"gpu, {_word(half)}")
        if small <= free:
            return Place(SEVERAL, half, f"{len(machine.gpus)} gpus, {_word(half)}")
        raise _too_large(name, small, free, "of the GPUs' memory")
    if large <= machine.memory and not machine.metal:
        return Place("cpu", torch.float32, "cpu")
    if small <= machine.memory:
        half = torch.float16 if machine.metal else torch.bfloat16
        where = "mps" if machine.metal else "cpu"
        return Place(where, half, f"{where}, {_word(half)}")
    raise _too_large(name, small, machine.memory, "of memory")


def _word(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _too_large(name: str, needed: int, free: int, of: str) -> PredtuiError:
    return PredtuiError(
        f"{name} needs {needed / 2**20:,.0f} MB {of} and {free / 2**20:,.0f} MB are free.", "Choose a smaller model."
    )
