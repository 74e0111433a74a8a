"""What is free: of the machine, and within the bounds of a container."""

from __future__ import annotations

from pathlib import Path

import psutil
import pytest

from predtui.llm import memory
from predtui.llm.memory import GB, MB, nvidia, ram, told


def group(tmp_path: Path, limit: str, used: int, files: int) -> None:
    (tmp_path / "memory.max").write_text(f"{limit}\n")
    (tmp_path / "memory.current").write_text(f"{used}\n")
    (tmp_path / "memory.stat").write_text(
        f"anon {used - files}\nactive_file {files // 2}\ninactive_file {files // 2}\n"
    )


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class System:
        total, available = 64 * GB, 32 * GB

    monkeypatch.setattr(psutil, "virtual_memory", lambda: System)
    monkeypatch.setattr(memory, "_GROUP", tmp_path)


def test_the_machine_has_what_it_says(tmp_path: Path) -> None:
    assert (ram().total, ram().free) == (64 * GB, 32 * GB)
    group(tmp_path, "max", 8 * GB, 2 * GB)
    assert (ram().total, ram().free) == (64 * GB, 32 * GB)


def test_a_container_has_no_more_than_it_may_and_files_in_memory_count_as_free(tmp_path: Path) -> None:
    group(tmp_path, str(4 * GB), 3 * GB, 2 * GB)
    assert (ram().total, ram().free) == (4 * GB, 3 * GB)
    group(tmp_path, str(4 * GB), 4 * GB, 0)
    assert ram().free == 0


def test_no_driver_is_no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    import pynvml

    def broken() -> None:
        raise pynvml.NVMLError(1)

    monkeypatch.setattr(pynvml, "nvmlInit", broken)
    assert nvidia() == ()


def test_a_gpu_is_read_with_what_its_memory_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    import pynvml

    class Held:
        total, free = 24 * GB, 20 * GB

    for name, value in {
        "Init": None, "DeviceGetCount": 1, "DeviceGetHandleByIndex": 0, "DeviceGetMemoryInfo": Held,
        "DeviceGetMaxClockInfo": 10501, "DeviceGetMemoryBusWidth": 384, "DeviceGetName": "RTX 4090",
    }.items():  # fmt: skip
        monkeypatch.setattr(pynvml, f"nvml{name}", lambda *_, value=value: value)
    (gpu,) = nvidia()
    assert (gpu.name, gpu.total, gpu.free) == ("RTX 4090", 24 * GB, 20 * GB)
    assert gpu.rate == pytest.approx(1008e9, rel=0.01)


def test_bytes_are_told_in_the_unit_that_suits() -> None:
    assert (told(448 * MB), told(2.1 * GB)) == ("448 MB", "2.1 GB")
