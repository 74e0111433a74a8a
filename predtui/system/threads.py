"""How many CPU threads numeric libraries may use: in a process that is started, and in this one.

numpy's OpenBLAS, OpenMP and the like take every core unless told otherwise, and their threads spin while they wait: a
stage with a small share makes all others slow. Must not know whose share is how large.
"""

from __future__ import annotations

import sys

VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "RAYON_NUM_THREADS",
)
"""Read once, when a library is loaded: by OpenMP (PyTorch's and CTranslate2's too), by numpy's BLAS, whichever it is,
and by tokenizers."""


def environment(threads: int) -> dict[str, str]:
    """What tells a process that is started how many threads its libraries may use; nothing for 0, which is theirs to
    choose."""
    return dict.fromkeys(VARIABLES, str(threads)) if threads else {}


def limit(threads: int) -> None:
    """Let the libraries that this process has loaded use so many ``threads`` from now on, at least one."""
    from threadpoolctl import threadpool_limits

    threadpool_limits(limits=threads)
    torch = sys.modules.get("torch")
    if torch is not None and hasattr(torch, "set_num_threads"):
        torch.set_num_threads(threads)


def limit_numpy(threads: int) -> None:
    """Let numpy's BLAS, and that of whatever else has one, use so many ``threads`` from now on."""
    from threadpoolctl import threadpool_limits

    threadpool_limits(limits=threads, user_api="blas")
