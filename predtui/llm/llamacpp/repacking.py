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
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from predtui.errors import PredtuiError
from predtui.llm.gguf import Weight, read_header
from predtui.llm.llamacpp import compile as build
from predtui.llm.llamacpp.excerpt import write_excerpt
from predtui.llm.llamacpp.findings import Findings, digest, key_of, llama_build, processor
from predtui.llm.sizes.of_gguf import network_of
from predtui.settings import cache_folder
from predtui.system.exits import FAULTS, FOREIGN, ending, signal_name
from predtui.system.others import Others

AUTO, REPACKED, STORED, SAFEST = "auto", "repacked", "stored", "safest"
"""How weights are held: as the self-test decides; repacked; as the file stores them; as stored, but read into memory
instead of mapped, and evaluated on a single thread."""
_NEVER_REPACKED = {"F32", "F64", "BF16", "I8", "I16", "I32", "I64"}
"""GGUF types for which no extra buffer of llama.cpp (AMX, its own repacking, KleidiAI, SpacemiT) has a kernel."""
_GAIN = 1.05
"""Speed-up that repacking must bring: it costs time at each start, and memory that processes could have shared."""
_DOUBTS = 2
"""Tests in a row that may be in doubt: the last of them holds all the same, as each takes time at a start."""
_CALM = 0.25
"""Processors that other work may take while a test that does not end is still to blame for that."""
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
    local time. ``lasting``: whether another test would find the same. ``doubts``: how many tests in a row may have
    found what other work on this machine brought about; 0 where this one was in no doubt. ``remedy``: what to do about
    a llama.cpp that cannot evaluate the weights at all; empty where there is nothing to do. ``read``: bytes of what was
    tested that a token reads; 0 where that was not noted."""

    repacked: bool
    found: str
    stored_ms: dict[str, float] = field(default_factory=dict)
    repacked_ms: dict[str, float] = field(default_factory=dict)
    tested: str = ""
    lasting: bool = True
    doubts: int = 0
    remedy: str = ""
    read: int = 0

    @property
    def rate(self) -> float:
        """Bytes of weights read in a second by a forward over one token; 0 where that is not known."""
        ms = (self.repacked_ms if self.repacked else self.stored_ms).get("1", 0.0)
        return 1000 * self.read / ms if ms > 0 else 0.0


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
    where its record cannot be read or is in doubt."""
    verdict = _recorded(_circumstances(weights, threads))
    return verdict if verdict and verdict.lasting else None


def _recorded(now: dict[str, str]) -> Verdict | None:
    """What was found in such circumstances, in doubt or not."""
    entry = _FINDINGS.read().get(key_of(now))
    try:
        verdict = Verdict(**entry["verdict"]) if entry else None
    except (TypeError, KeyError):
        return None
    sound = verdict and isinstance(verdict.repacked, bool) and isinstance(verdict.doubts, int)
    return verdict if sound else None


def known(threads: int) -> Iterator[Verdict]:
    """What the self-test found of any weights with this llama.cpp on this processor, with so many threads."""
    now = {"llama.cpp": llama_build(), "processor": processor(), "threads": str(threads)}
    for entry in _FINDINGS.read().values():
        if all(entry.get(name) == value for name, value in now.items()):
            with contextlib.suppress(TypeError, KeyError):
                if (verdict := Verdict(**entry["verdict"])).lasting:
                    yield verdict


def self_test(path: Path, weights: Collection[Weight], threads: int) -> Verdict:
    """Run the self-test on the GGUF file ``path`` and remember a verdict that is lasting, or the last of several in
    doubt. Ends within a time limit that grows with the file; raises nothing."""
    now = _circumstances(weights, threads)
    _log.info("testing whether llama.cpp may repack %s of %s here: %s", now["types"], path, _reason(now))
    verdict = dataclasses.replace(_tried(path, threads), tested=datetime.now().isoformat(" ", "minutes"))
    _log.info("weights are %s: %s", "repacked" if verdict.repacked else "left as stored", verdict.found)
    if verdict.doubts:
        before = _recorded(now)
        doubts = verdict.doubts + (before.doubts if before else 0)
        verdict = dataclasses.replace(verdict, doubts=doubts, lasting=doubts >= _DOUBTS)
    if verdict.lasting or verdict.doubts:
        _FINDINGS.write({**now, "verdict": dataclasses.asdict(verdict)})
    return verdict


# --- the child -------------------------------------------------------------------------------------------------------


def _tried(path: Path, threads: int) -> Verdict:
    """The verdict on the file, or, if it is large, on an excerpt with as few layers as hold every type and shape: the
    same kernels in a fraction of the time. On all of it where the excerpt cannot be written, or where llama.cpp refuses
    it, as it does for networks whose layers depend on their number."""
    with contextlib.suppress(OSError):
        if _size(path) > _SMALL:
            cache_folder().mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=cache_folder(), prefix=".excerpt") as folder:
                part = Path(folder) / "excerpt.gguf"
                if write_excerpt(path, part) and _says(verdict := _weighed(part, threads)):
                    return verdict
    return _weighed(path, threads)


def _says(verdict: Verdict) -> bool:
    """Whether it is about the weights at all, be it in doubt."""
    return verdict.lasting or verdict.doubts > 0


def _weighed(path: Path, threads: int) -> Verdict:
    """The verdict on the file, with what a token reads of it."""
    verdict = _run(path, threads)
    with contextlib.suppress(PredtuiError):
        return dataclasses.replace(verdict, read=sum(network_of(read_header(path)).reads(0)))
    return verdict


def _size(path: Path) -> int:
    """Bytes of the file, and of the others that its model is split into."""
    with contextlib.suppress(PredtuiError):
        return read_header(path).size
    return path.stat().st_size


def _run(path: Path, threads: int) -> Verdict:
    """Run the child on ``path``. It ends when this process does: it reads from a pipe that nobody writes to."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(str(Path(entry).absolute()) for entry in sys.path)}
    watched, held = os.pipe()
    others = Others()
    try:
        limit = _PATIENCE_S + _size(path) / _READ_BYTES_S
        done = subprocess.run(
            [sys.executable, "-P", "-c", _CHILD, str(path), str(threads)],
            stdin=watched,
            capture_output=True,
            env=environment,
            timeout=limit,
            process_group=0,
        )
    except subprocess.TimeoutExpired as error:
        verdict = _judge(_lines(error.stdout or b""), f"did not end within {limit:.0f} s", lasting=True)
        return verdict if others.processors() <= _CALM else dataclasses.replace(verdict, lasting=False, doubts=1)
    except OSError as error:
        return Verdict(False, f"the self-test cannot be run: {error}", lasting=False)
    finally:
        os.close(held)
        os.close(watched)
    told = _lines(done.stdout)
    if done.returncode == 0 and told.keys() >= {STORED, REPACKED}:
        return _compare(told[STORED]["ms"], **told[REPACKED])
    said = done.stderr.decode("utf-8", errors="replace").strip().splitlines()
    why = f"{ending(done.returncode)} ({said[-1]})" if done.returncode > 0 and said else ending(done.returncode)
    verdict = _judge(told, why, lasting=signal_name(done.returncode) in FAULTS)
    foreign = signal_name(done.returncode) == FOREIGN and STORED not in told
    return dataclasses.replace(verdict, remedy=build.RECOMPILE) if foreign else verdict


def _judge(told: dict[str, Any], end: str, lasting: bool) -> Verdict:
    """The verdict on a child that did not finish: ``told`` is what it had reported, ``end`` how it ended."""
    which = "repacked weights" if STORED in told else "the weights as stored"
    return Verdict(False, f"the self-test {end}, with {which}", told.get(STORED, {}).get("ms", {}), lasting=lasting)


def _compare(stored: dict[str, float], ms: dict[str, float], wrong: str, gains: dict[str, list[float]]) -> Verdict:
    """Of the median milliseconds of both, of what is wrong with repacked weights, and of how many times as fast they
    were in each pair of forwards, by the number of their tokens."""
    if wrong:
        return Verdict(False, f"repacked weights compute something else: {wrong}", stored, ms)
    low, gain, high = (statistics.geometric_mean(each) for each in zip(*map(_spread, gains.values()), strict=True))
    found = f"repacked weights compute the same, {gain:.2f} times as fast as stored ones ({low:.2f} to {high:.2f})"
    clear = low >= _GAIN or high < _GAIN
    return Verdict(gain >= _GAIN, found, stored, ms, lasting=clear, doubts=0 if clear else 1)


def _spread(gains: list[float]) -> tuple[float, float, float]:
    """Between what the median lies, most likely, and itself: of five or more, one at either end does not count."""
    ordered = [max(gain, 1e-6) for gain in sorted(gains)]
    end = 1 if len(ordered) >= 5 else 0
    return ordered[end], statistics.median(ordered), ordered[-1 - end]


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
            asked = "again, as asked or in doubt"
            return f"again, for another {' and '.join(changed)}" if changed else asked
    return "such weights were not tested before"
