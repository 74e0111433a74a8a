"""How busy the first NVIDIA GPU is, as NVML tells. Must not know what for.

Other makers' GPUs are not read: Apple's tell root alone (powermetrics), or by a private interface.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any, NamedTuple

MIB = 1024 * 1024


class GpuSample(NamedTuple):
    """Each None where the device does not tell."""

    percent: float | None = None
    memory_mb: float | None = None
    """Used, by whomever."""
    watts: float | None = None
    celsius: float | None = None


class Gpu:
    """NVML is imported and begun here, on the thread that makes it; without library, driver or device, no figures."""

    def __init__(self) -> None:
        self._handle: Any = None
        with contextlib.suppress(Exception):  # no library, no driver or no device: each is "no GPU"
            import pynvml

            pynvml.nvmlInit()
            self._nvml = pynvml
            self._handle = pynvml.nvmlDeviceGetHandleByIndex(0)

    @property
    def name(self) -> str | None:
        """What the GPU is called; None without one."""
        return str(self._nvml.nvmlDeviceGetName(self._handle)) if self._handle is not None else None

    def sample(self) -> GpuSample:
        """As it is now."""
        if self._handle is None:
            return GpuSample()
        nvml, gpu = self._nvml, self._handle
        return GpuSample(
            self._told(lambda: nvml.nvmlDeviceGetUtilizationRates(gpu).gpu),
            self._told(lambda: nvml.nvmlDeviceGetMemoryInfo(gpu).used / MIB),
            self._told(lambda: nvml.nvmlDeviceGetPowerUsage(gpu) / 1000),
            self._told(lambda: nvml.nvmlDeviceGetTemperature(gpu, nvml.NVML_TEMPERATURE_GPU)),
        )

    def _told(self, ask: Callable[[], float]) -> float | None:
        try:
            return float(ask())
        except self._nvml.NVMLError:
            return None
