"""How many bytes of weights this machine reads in a second: by what forwards of models took in their self-tests, or, as
long as there was none, by reading some memory. Must not import llama.cpp.
"""

from __future__ import annotations

import time
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from predtui.llm.gguf import Weight
from predtui.llm.llamacpp import repacking
from predtui.llm.llamacpp.findings import Findings, key_of, processor

_LEAST = 32 << 20
"""Bytes of weights below which caches of the processor hide what memory takes."""
_BLOCK = 64 << 20
_REPEATS = 3
_SLOWEST = 0.2
"""Of what memory gives: a test that says less was run beside something else."""
_FINDINGS = Findings("bandwidth.json")


def rate(weights: Collection[Weight], threads: int) -> float:
    """Bytes a second, of a model of these types and shapes where that was tested, else of the largest that was."""
    own = repacking.remembered(weights, threads)
    tested = [own] if own and own.rate else list(repacking.known(threads))
    known = [verdict for verdict in tested if verdict.rate and (verdict is own or verdict.read >= _LEAST)]
    bandwidth = _bandwidth(threads)
    if not known:
        return bandwidth
    return max(max(known, key=lambda verdict: verdict.read).rate, _SLOWEST * bandwidth)


def _bandwidth(threads: int) -> float:
    """Of this machine's memory, read by so many threads: the most that was ever measured, as what else a machine
    does makes it slower."""
    circumstances = {"processor": processor(), "threads": str(threads)}
    known = _FINDINGS.read().get(key_of(circumstances), {}).get("verdict")
    measured = _measured(threads)
    if isinstance(known, int | float) and known >= measured:
        return float(known)
    _FINDINGS.write({**circumstances, "verdict": measured})
    return measured


def _measured(threads: int) -> float:
    blocks = [np.ones(_BLOCK // 8, np.int64) for _ in range(threads)]
    fastest = float("inf")
    with ThreadPoolExecutor(threads) as pool:
        for _ in range(_REPEATS):
            start = time.perf_counter()
            list(pool.map(np.bitwise_or.reduce, blocks))
            fastest = min(fastest, time.perf_counter() - start)
    return threads * _BLOCK / fastest
