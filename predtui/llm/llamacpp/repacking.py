"""Decides whether llama.cpp may repack a file's weights on this machine, by a self-test in a child process.

llama.cpp can rearrange quantised weights ("extra buffers") for kernels that make better use of the processor. They are
often faster, but on some processors the first forward over several tokens crashes the process. So weights are repacked
only where ``selftest`` survived it, chose the same tokens as with the weights as stored, and was faster. The verdict is
remembered for the build of llama.cpp, the processor, the number of threads, and the types and shapes of the tensors:
these select the kernels. Must not import llama.cpp: a crash or a hang must be the child's.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import json
import logging
import os
import subprocess
import sys
import tempfile
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from predtui.llm.gguf import Weight
from predtui.llm.llamacpp import compile as build
from predtui.llm.llamacpp.excerpt import write_excerpt
from predtui.llm.llamacpp.findings import Findings, digest, key_of, llama_build, processor
from predtui.settings import cache_folder
from predtui.system.exits import FAULTS, FOREIGN, ending, signal_name

AUTO, REPACKED, STORED, SAFEST = "auto", "repacked", "stored", "safest"
"""How weights are held: as the self-test decides; repacked; as the file stores them; as stored, but read into memory
instead of mapped, and evaluated on a single thread."""
_NEVER_REPACKED = {"F32", "F64", "BF16", "I8", "I16", "I32", "I64"}
"""GGUF types for which no extra buffer of llama.cpp (AMX, its own repacking, KleidiAI, SpacemiT) has a kernel."""
_GAIN = 1.05
"""Speed-up that repacking must bring: it costs time at each start, and memory that processes could have shared."""
_PATIENCE_S, _READ_BYTES_S = 60.0, 30e6
"""Time limit of the child: seconds, plus one second for this many bytes of its file."""
_SMALL = 2**30
"""Bytes up to which a file is tested whole; of a larger one, an excerpt of its layers."""
_FINDINGS = Findings("repacking.json")
_CHILD = "from predtui.llm.llamacpp.selftest import main; main()"
_log = logging.getLogger("predtui.selftest")


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the self-test found. ``repacked``: whether to repack; ``found``: why, in words. ``stored_ms``,
    ``repacked_ms``: median milliseconds of a forward by its number of tokens, as far as it came. ``tested``: when, in
    local time. ``lasting``: whether another test would find the same. ``remedy``: what to do about a llama.cpp that
    cannot evaluate the weights at all; empty where there is nothing to do."""

    repacked: bool
    found: str
    stored_ms: dict[str, float] = field(default_factory=dict)
    repacked_ms: dict[str, float] = field(default_factory=dict)
    tested: str = ""
    lasting: bool = True
    remedy: str = ""


def concerned(weights: Collection[Weight]) -> list[str]:
    """Names of the GGUF types in ``weights`` that llama.cpp repacks on at least one kind of processor, sorted."""
    return sorted({kind for kind, _ in weights} - _NEVER_REPACKED)


def may_repack(path: Path, weights: Collection[Weight], threads: int) -> bool:
    """Whether llama.cpp may repack the ``weights`` of the GGUF file ``path``, run on so many threads. The first call
    runs the self-test, which takes seconds; later ones read its verdict. Raises nothing."""
    if not concerned(weights):
        return False
    return (remembered(weights, threads) or self_test(path, weights, threads)).repacked


def tiles_are_ours() -> bool:
    """Whether llama.cpp has the processor's AMX tiles to itself in this process; True where the processor has none.

    llama.cpp configures the tiles once per thread; if another library has reconfigured them since, its next matrix
    product ends the process with SIGILL. PyTorch does that, through oneDNN: once it is loaded, this is False. Where it
    is not, oneDNN is told to leave the tiles alone, by an environment variable of this process.
    """
    if not _has_tiles():
        return True
    if "torch" in sys.modules:
        return False
    os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_BF16")
    return True


@functools.cache
def _has_tiles() -> bool:
    with contextlib.suppress(OSError):
        return "amx_tile" in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    return False


def untested(weights: Collection[Weight], threads: int) -> bool:
    """Whether ``may_repack`` would have to run the self-test."""
    return bool(concerned(weights)) and remembered(weights, threads) is None


def remembered(weights: Collection[Weight], threads: int) -> Verdict | None:
    """What the self-test found for such weights with this llama.cpp on this processor; None before it was run, and
    where its record cannot be read."""
    entry = _FINDINGS.read().get(key_of(_circumstances(weights, threads)))
    try:
        verdict = Verdict(**entry["verdict"]) if entry else None
    except (TypeError, KeyError):
        return None
    return verdict if verdict and isinstance(verdict.repacked, bool) else None


def self_test(path: Path, weights: Collection[Weight], threads: int) -> Verdict:
    """Run the self-test on the GGUF file ``path`` and remember a verdict that is lasting. Ends within a time limit that
    grows with the file; raises nothing."""
    now = _circumstances(weights, threads)
    _log.info("testing whether llama.cpp may repack %s of %s here: %s", now["types"], path, _reason(now))
    verdict = dataclasses.replace(_tried(path, threads), tested=datetime.now().isoformat(" ", "minutes"))
    _log.info("weights are %s: %s", "repacked" if verdict.repacked else "left as stored", verdict.found)
    if verdict.lasting:
        _FINDINGS.write({**now, "verdict": dataclasses.asdict(verdict)})
    return verdict


# --- the child -------------------------------------------------------------------------------------------------------


def _tried(path: Path, threads: int) -> Verdict:
    """The verdict on the file, or, if it is large, on an excerpt with as few layers as hold every type and shape: the
    same kernels in a fraction of the time. On all of it where the excerpt cannot be written, or where llama.cpp refuses
    it, as it does for networks whose layers depend on their number."""
    with contextlib.suppress(OSError):
        if path.stat().st_size > _SMALL:
            cache_folder().mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=cache_folder(), prefix=".excerpt") as folder:
                part = Path(folder) / "excerpt.gguf"
                if write_excerpt(path, part) and (verdict := _run(part, threads)).lasting:
                    return verdict
    return _run(path, threads)


def _run(path: Path, threads: int) -> Verdict:
    """Run the child on ``path``. It ends when this process does: it reads from a pipe that nobody writes to."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(str(Path(entry).absolute()) for entry in sys.path)}
    watched, held = os.pipe()
    try:
        limit = _PATIENCE_S + path.stat().st_size / _READ_BYTES_S
        done = subprocess.run(
            [sys.executable, "-P", "-c", _CHILD, str(path), str(threads)],
            stdin=watched,
            capture_output=True,
            env=environment,
            timeout=limit,
            process_group=0,
        )
    except subprocess.TimeoutExpired as error:
        return _judge(_lines(error.stdout or b""), f"did not end within {limit:.0f} s", lasting=True)
    except OSError as error:
        return Verdict(False, f"the self-test cannot be run: {error}", lasting=False)
    finally:
        os.close(held)
        os.close(watched)
    told = _lines(done.stdout)
    if done.returncode == 0 and told.keys() >= {STORED, REPACKED}:
        return _compare(told[STORED]["ms"], told[REPACKED]["ms"], told[REPACKED]["wrong"])
    said = done.stderr.decode("utf-8", errors="replace").strip().splitlines()
    why = f"{ending(done.returncode)} ({said[-1]})" if done.returncode > 0 and said else ending(done.returncode)
    verdict = _judge(told, why, lasting=signal_name(done.returncode) in FAULTS)
    foreign = signal_name(done.returncode) == FOREIGN and STORED not in told
    return dataclasses.replace(verdict, remedy=build.RECOMPILE) if foreign else verdict


def _judge(told: dict[str, Any], end: str, lasting: bool) -> Verdict:
    """The verdict on a child that did not finish: ``told`` is what it had reported, ``end`` how it ended."""
    which = "repacked weights" if STORED in told else "the weights as stored"
    return Verdict(False, f"the self-test {end}, with {which}", told.get(STORED, {}).get("ms", {}), lasting=lasting)


def _compare(stored: dict[str, float], repacked: dict[str, float], wrong: str) -> Verdict:
    if wrong:
        return Verdict(False, f"repacked weights compute something else: {wrong}", stored, repacked)
    gain = _gain(stored, repacked)
    found = f"repacked weights compute the same, {gain:.2f} times as fast as stored ones"
    return Verdict(gain >= _GAIN, found, stored, repacked)


def _gain(stored: dict[str, float], repacked: dict[str, float]) -> float:
    """The speed-up of ``repacked`` over ``stored``: the geometric mean over the sizes."""
    product = 1.0
    for size, ms in stored.items():
        product *= ms / max(repacked[size], 1e-6)
    return float(product ** (1 / max(1, len(stored))))


def _lines(output: bytes) -> dict[str, Any]:
    """The child's lines of JSON, merged; whatever the engine printed between them is skipped."""
    told: dict[str, Any] = {}
    for line in output.splitlines():
        with contextlib.suppress(ValueError):
            if isinstance(entry := json.loads(line), dict):
                told |= entry
    return told


# --- what it depends on, and the memory of it ------------------------------------------------------------------------


def _circumstances(weights: Collection[Weight], threads: int) -> dict[str, str]:
    return {
        "llama.cpp": llama_build(),
        "processor": processor(),
        "threads": str(threads),
        "weights": digest(repr(sorted(weight for weight in weights if weight[0] not in _NEVER_REPACKED))),
        "types": ", ".join(concerned(weights)),
    }


def _reason(now: dict[str, str]) -> str:
    """Why the weights have to be tested: what has changed since such weights were last tested."""
    for entry in reversed(list(_FINDINGS.read().values())):
        if entry.get("weights") == now["weights"]:
            changed = [name for name in ("llama.cpp", "processor", "threads") if entry.get(name) != now[name]]
            return f"again, for another {' and '.join(changed)}" if changed else "again, as asked"
    return "such weights were not tested before"
