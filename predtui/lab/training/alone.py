"""A trainer in a process of its own, in the environment that trains fastest. Must not know what is trained."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence

ALLOCATOR: Mapping[str, str] = {
    "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",
    "MALLOC_TRIM_THRESHOLD_": "10000000000",
    "MALLOC_MMAP_THRESHOLD_": "10000000000",
    "MALLOC_TOP_PAD_": "268435456",
    "THP_MEM_ALLOC_ENABLE": "1",
}
"""Keep freed memory, and in huge pages: a training step allocates and frees the same large blocks again and again."""


def environment(threads: int) -> dict[str, str]:
    """The environment of a training process: this one's, the allocator settings, the threads (0: all cores)."""
    count = str(threads or os.cpu_count() or 1)
    return {**os.environ, **ALLOCATOR, "OMP_NUM_THREADS": count, "TOKENIZERS_PARALLELISM": "false"}


def alone(module: str, arguments: Sequence[str], threads: int) -> int:
    """Run ``module`` in the environment that trains fastest, in place of this process where the system can do that: no
    signal misses the one that has something to save. The exit status."""
    command = [sys.executable, "-m", module, *arguments]
    if sys.platform == "linux":
        sys.stdout.flush()
        os.execve(sys.executable, command, environment(threads))
    return subprocess.run(command, env=environment(threads)).returncode
