"""How much memory there is: of the machine, of the group that this process is confined to, of each GPU. Must not know
of models.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

_GROUP = Path("/sys/fs/cgroup")
"""Of Linux, as a container sees its own."""
GB, MB = 1 << 30, 1 << 20


@dataclass(frozen=True, slots=True)
class Memory:
    """``total`` and ``free`` in bytes; what the system may take back from others without a loss counts as free.
    ``rate``: bytes that can be read of it in a second, 0 where that is unknown."""

    name: str
    total: int
    free: int
    rate: float = 0.0


def ram() -> Memory:
    """The machine's, or what a container may have of it."""
    system = psutil.virtual_memory()
    total, free = int(system.total), int(system.available)
    with contextlib.suppress(OSError, ValueError, KeyError):
        limit = int((_GROUP / "memory.max").read_text(encoding="utf-8"))  # "max" where there is none
        used = int((_GROUP / "memory.current").read_text(encoding="utf-8"))
        parts = dict(line.split() for line in (_GROUP / "memory.stat").read_text(encoding="utf-8").splitlines())
        kept = used - int(parts["active_file"]) - int(parts["inactive_file"])
        total, free = min(total, limit), max(0, min(free, limit - kept))
    return Memory("RAM", total, free)


def nvidia() -> tuple[Memory, ...]:
    """Each GPU that NVIDIA's driver tells of."""
    try:
        import pynvml

        pynvml.nvmlInit()
        handles = [pynvml.nvmlDeviceGetHandleByIndex(index) for index in range(pynvml.nvmlDeviceGetCount())]
        return tuple(_gpu(pynvml, handle) for handle in handles)
    except Exception:  # no library, no driver or no device: each is "no GPU"
        return ()


def _gpu(nvml: Any, handle: Any) -> Memory:
    held = nvml.nvmlDeviceGetMemoryInfo(handle)
    rate = 0.0
    with contextlib.suppress(nvml.NVMLError):
        megahertz = nvml.nvmlDeviceGetMaxClockInfo(handle, nvml.NVML_CLOCK_MEM)
        rate = 2e6 * megahertz * nvml.nvmlDeviceGetMemoryBusWidth(handle) / 8
    return Memory(str(nvml.nvmlDeviceGetName(handle)), int(held.total), int(held.free), rate)


def told(size: float) -> str:
    """A number of bytes as a person reads it."""
    return f"{size / GB:,.1f} GB" if size >= GB else f"{size / MB:,.0f} MB"
