"""What a GPU does not tell is None, and nothing else is."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from predtui.system.gpu import MIB, Gpu, GpuSample

ASKED = {
    "nvmlDeviceGetUtilizationRates": ("percent", SimpleNamespace(gpu=42)),
    "nvmlDeviceGetMemoryInfo": ("memory_mb", SimpleNamespace(used=7 * MIB)),
    "nvmlDeviceGetPowerUsage": ("watts", 70_500),
    "nvmlDeviceGetTemperature": ("celsius", 58),
}
"""Function of NVML → the figure that it is asked for, and its answer."""


class NVMLError(Exception):
    pass


def nvml(*silent: str) -> Any:
    """The library, with one GPU that does not answer the ``silent`` functions."""

    def asked(name: str, answer: Any) -> Any:
        def ask(handle: object, *_: object) -> Any:
            assert handle == "gpu"
            if name in silent:
                raise NVMLError
            return answer

        return ask

    answers = {name: asked(name, answer) for name, (_, answer) in ASKED.items()}
    begun = {"nvmlInit": lambda: None, "nvmlDeviceGetHandleByIndex": lambda index: "gpu"}
    return SimpleNamespace(NVMLError=NVMLError, NVML_TEMPERATURE_GPU=0, **begun, **answers)


@pytest.mark.parametrize("silent", [(), *((name,) for name in ASKED), tuple(ASKED)])
def test_what_the_device_does_not_tell_is_none(monkeypatch: pytest.MonkeyPatch, silent: tuple[str, ...]) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", nvml(*silent))
    told = GpuSample(42.0, 7.0, 70.5, 58.0)
    assert Gpu().sample() == told._replace(**{ASKED[name][0]: None for name in silent})


def test_a_gpu_that_goes_away_tells_nothing_any_more(monkeypatch: pytest.MonkeyPatch) -> None:
    library = nvml()
    monkeypatch.setitem(sys.modules, "pynvml", library)
    gpu = Gpu()
    assert gpu.sample() != GpuSample()
    for name in ASKED:
        setattr(library, name, getattr(nvml(name), name))
    assert gpu.sample() == GpuSample()


def test_without_library_or_driver_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_driver() -> None:
        raise NVMLError

    monkeypatch.setitem(sys.modules, "pynvml", None)
    assert (Gpu().name, Gpu().sample()) == (None, GpuSample())
    library = nvml()
    library.nvmlInit = no_driver
    monkeypatch.setitem(sys.modules, "pynvml", library)
    assert (Gpu().name, Gpu().sample()) == (None, GpuSample())


def test_what_is_asked_is_in_nvidias_own_library() -> None:
    import pynvml

    for name in (*ASKED, "NVMLError", "NVML_TEMPERATURE_GPU", "nvmlInit", "nvmlDeviceGetHandleByIndex"):
        assert hasattr(pynvml, name), name


def test_the_library_is_not_imported_before_it_is_needed() -> None:
    code = "import sys, predtui.runtime.monitor, predtui.tui.app; sys.exit('pynvml' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
