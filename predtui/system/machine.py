"""What machine this is, in a line that tells it from others. Must not know what it is for."""

from __future__ import annotations

import os
import platform
from pathlib import Path


def machine() -> str:
    """Processor and cores: ``AMD EPYC 7B13, 2 cores``."""
    return f"{_processor()}, {os.cpu_count()} cores"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or platform.machine())
