"""Whether weights are repacked: crashes simulated by children that end themselves, and real quantised files."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import llama_cpp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui.errors import PredtuiError
from predtui.llm.base import ModelRequest
from predtui.llm.gguf import read_header
from predtui.llm.llamacpp import repacking
from predtui.llm.llamacpp.engine import file_of, prepare
from predtui.llm.llamacpp.opening import open_model
from predtui.llm.llamacpp.selftest import difference
from predtui.llm.load import load
from predtui.predgen.options import SpeculationOptions
from predtui.predgen.stage import create
from predtui.settings import LlmSettings
from tests.tiny_gguf import quantise, write

LIMIT_S = 300
BLOCK = {"Q8_0": 32, "Q4_0": 32, "Q4_K": 256, "Q6_K": 256}
STORED = '{"stored": {"ms": {"1": 2.0, "64": 8.0}}}'


def compared(*gains: float, wrong: str = "") -> str:
    """The child's line on repacked weights that were so many times as fast, pair by pair."""
    return json.dumps({"repacked": {"ms": {"1": 1.0, "64": 4.0}, "wrong": wrong, "gains": dict.fromkeys("12", gains)}})


FASTER, SLOWER = compared(2.0, 2.0, 2.0), compared(1.0, 0.98, 1.01)
WRONG = compared(2.0, 2.0, 2.0, wrong="another token")
BUSY, IDLE = 1.5, 0.0
"""Processors that other work takes."""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("PREDTUI_CACHE_DIR", str(folder))
    return folder


@pytest.fixture
def child(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Callable[[], int]]:
    """Has the self-test say these lines, then end so; returns how often it was run."""

    def play(*lines: str, then: str = "") -> Callable[[], int]:
        runs = tmp_path / "runs"
        text = "\n".join(lines)
        code = f"import os, signal, sys, time\nopen({str(runs)!r}, 'a').write('.')\nprint({text!r}, flush=True)\n{then}"
        monkeypatch.setattr(repacking, "_CHILD", code)
        return lambda: len(runs.read_text()) if runs.exists() else 0

    return play


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its types are those of a quantised model; nothing here gives it to llama.cpp as repacked weights."""
    folder = tmp_path_factory.mktemp("quantised")
    return quantise(write(folder / "plain.gguf", hidden=256, feed_forward=512), folder / "q8.gguf", "Q8_0")


def decide(file: Path, threads: int = 1) -> bool:
    return repacking.may_repack(file, read_header(file).weights, threads)


def found(file: Path) -> repacking.Verdict | None:
    return repacking.remembered(read_header(file).weights, 1)


KILL = "os.kill(os.getpid(), signal.{})"


@pytest.mark.parametrize(
    ("lines", "then", "repacked", "why"),
    [
        ((STORED,), KILL.format("SIGSEGV"), False, "killed by SIGSEGV, with repacked weights"),
        ((STORED,), KILL.format("SIGILL"), False, "killed by SIGILL, with repacked weights"),
        ((), KILL.format("SIGABRT"), False, "killed by SIGABRT, with the weights as stored"),
        ((STORED, FASTER), KILL.format("SIGSEGV"), False, "killed by SIGSEGV"),
        ((STORED, FASTER), "", True, "2.00 times as fast"),
        (("not JSON", STORED, "[1]", FASTER), "", True, "2.00 times as fast"),
        ((STORED, SLOWER), "", False, "times as fast"),
        ((STORED, WRONG), "", False, "compute something else: another token"),
    ],
)
def test_what_the_child_finds_is_kept_and_not_asked_again(
    child: Any, file: Path, lines: tuple[str, ...], then: str, repacked: bool, why: str
) -> None:
    runs = child(*lines, then=then)
    assert decide(file) is repacked
    verdict = found(file)
    assert verdict is not None
    assert why in verdict.found
    assert verdict.tested
    assert decide(file) is repacked
    assert runs() == 1


@pytest.mark.parametrize("then", [KILL.format("SIGKILL"), "sys.exit('no memory is left')"])
def test_what_says_nothing_of_the_weights_is_not_remembered(child: Any, file: Path, then: str) -> None:
    runs = child(STORED, then=then)
    assert not decide(file)
    assert found(file) is None
    assert not decide(file)
    assert runs() == 2


def others(monkeypatch: pytest.MonkeyPatch, taken: float) -> None:
    monkeypatch.setattr("predtui.system.others.Others.processors", lambda _: taken)


def test_a_child_that_hangs_is_ended(child: Any, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repacking, "_PATIENCE_S", 1.0)
    others(monkeypatch, IDLE)
    runs = child(STORED, then="time.sleep(1000)")
    assert not decide(file)
    assert not decide(file)
    assert runs() == 1
    verdict = found(file)
    assert verdict is not None
    assert "did not end within" in verdict.found
    assert verdict.stored_ms == {"1": 2.0, "64": 8.0}


def test_a_child_that_hangs_on_a_busy_machine_is_tried_once_more(
    child: Any, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(repacking, "_PATIENCE_S", 0.5)
    others(monkeypatch, BUSY)
    runs = child(STORED, then="time.sleep(1000)")
    assert not decide(file)
    assert found(file) is None
    for _ in range(3):
        assert not decide(file)
    assert found(file) is not None
    assert runs() == 2


def test_a_gain_in_doubt_is_used_now_and_tested_again(child: Any, file: Path) -> None:
    child(STORED, compared(0.7, 0.9, 1.02, 1.3, 1.6))
    assert not decide(file)
    assert found(file) is None
    assert list(repacking.known(1)) == []
    child(STORED, FASTER)
    assert decide(file)
    assert found(file) is not None


def test_a_gain_that_stays_in_doubt_does_not_cost_every_start(child: Any, file: Path) -> None:
    runs = child(STORED, compared(0.9, 1.1, 1.2))
    assert [decide(file) for _ in range(5)] == [True] * 5
    assert runs() == 2


@given(st.lists(st.floats(0.2, 5.0), min_size=3, max_size=7), st.lists(st.floats(0.2, 5.0), min_size=3, max_size=7))
def test_only_gains_on_one_side_of_the_bound_are_lasting(one: list[float], other: list[float]) -> None:
    verdict = repacking._compare({"1": 1.0}, ms={"1": 1.0}, wrong="", gains={"1": one, "2": other})
    assert verdict.lasting is (verdict.doubts == 0)
    if min(*one, *other) >= repacking._GAIN + 1e-9:
        assert verdict.lasting
        assert verdict.repacked
    if max(*one, *other) < repacking._GAIN - 1e-9:
        assert verdict.lasting
        assert not verdict.repacked
    low, high = (part(sorted(each)[place] for each in (one, other)) for part, place in ((max, 1), (min, -2)))
    if low < repacking._GAIN - 1e-9 and high > repacking._GAIN + 1e-9:
        assert not verdict.lasting


@pytest.mark.parametrize("what", ["llama_build", "processor"])
def test_another_build_or_processor_is_tested_again_and_the_log_says_so(
    child: Any, file: Path, what: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    runs = child(STORED, FASTER)
    caplog.set_level(logging.INFO, "predtui.selftest")
    assert decide(file)
    assert "not tested before" in caplog.text
    monkeypatch.setattr(repacking, what, lambda: "another")
    assert decide(file)
    assert f"again, for another {'llama.cpp' if what == 'llama_build' else 'processor'}" in caplog.text
    assert decide(file, threads=2)
    assert "again, for another threads" in caplog.text
    assert runs() == 3


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"\xff\xfe",
        b"null",
        b'{"a": 1}',
        b'{"a": {"weights": "b"}}',
        b'{"KEY": {}}',
        b'{"KEY": {"verdict": "yes"}}',
        b'{"KEY": {"verdict": {"odd": 1}}}',
        b'{"KEY": {"verdict": {"repacked": "yes", "found": ""}}}',
    ],
)
def test_a_damaged_memory_is_harmless(child: Any, file: Path, cache: Path, content: bytes) -> None:
    runs = child(STORED, FASTER)
    key = repacking.key_of(repacking._circumstances(read_header(file).weights, 1))
    cache.mkdir()
    (cache / "repacking.json").write_bytes(content.replace(b"KEY", key.encode()))
    assert decide(file)
    assert decide(file)
    assert runs() == 1


def test_a_memory_that_cannot_be_written_is_harmless(child: Any, file: Path, cache: Path) -> None:
    runs = child(STORED, FASTER)
    cache.write_text("a file, where a folder should be")
    assert decide(file)
    assert decide(file)
    assert runs() == 2


def test_the_memory_stays_small(child: Any, file: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(120):
        repacking._FINDINGS.write({"weights": str(number), "verdict": {}})
    child(STORED, FASTER)
    assert decide(file)
    assert len(json.loads((cache / "repacking.json").read_text())) <= 100
    assert found(file) is not None
    assert [path.name for path in cache.iterdir()] == ["repacking.json"]


@pytest.mark.parametrize("name", ["pocket", "pocket-draft"])
def test_the_pocket_models_need_no_test(name: str, child: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    if not file_of(name).is_file():
        pytest.skip("the pocket model is not there")
    runs = child(STORED, FASTER)
    ((line, progress),) = prepare(ModelRequest(name))
    assert line.startswith(f"loading {name}: ")
    assert (progress, "of weights" in line) == (-1.0, True)
    load(name, threads=1).model.close()
    assert runs() == 0


def test_who_waits_for_the_test_is_told(child: Any, file: Path) -> None:
    child(STORED, SLOWER)
    assert "testing" in next(prepare(ModelRequest(str(file), 1)))[0]
    decide(file)
    for weights in ("auto", "safest"):
        assert next(prepare(ModelRequest(str(file), 1, weights=weights)))[0].startswith(f"loading {file}: ")


# --- what is told to llama.cpp ---------------------------------------------------------------------------------------


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, bool, bool]]:
    """File, repacked, mapped of each model that llama.cpp is asked for; it is given as stored."""
    asked: list[tuple[str, bool, bool]] = []
    real = llama_cpp.llama_model_load_from_file

    def spy(path: bytes, params: Any) -> Any:
        asked.append((Path(path.decode()).name, params.use_extra_bufts, params.load_mode != 0))
        params.use_extra_bufts = False
        return real(path, params)

    monkeypatch.setattr(llama_cpp, "llama_model_load_from_file", spy)
    monkeypatch.setattr(repacking, "_has_tiles", lambda: False)  # PyTorch may be loaded in this process
    return asked


@pytest.mark.parametrize(
    ("weights", "lines", "expected"),
    [
        ("auto", (STORED, FASTER), (True, True)),
        ("auto", (STORED, SLOWER), (False, True)),
        ("repacked", (), (True, True)),
        ("stored", (STORED, FASTER), (False, True)),
        ("safest", (STORED, FASTER), (False, False)),
    ],
)
def test_weights_are_held_as_decided(
    child: Any, file: Path, told: list[Any], weights: str, lines: tuple[str, ...], expected: tuple[bool, bool]
) -> None:
    child(*lines)
    model = open_model(file, threads=2, weights=weights)
    assert told == [("q8.gguf", *expected)]
    assert model._threads == (1 if weights == "safest" else 2)
    model.close()


def test_the_stage_holds_model_and_draft_as_its_settings_say(file: Path, told: list[Any]) -> None:
    if not file_of("pocket").is_file():
        pytest.skip("the pocket model is not there")
    settings = LlmSettings(model=str(file), draft=str(file), decoder="speculative", weights="safest")
    stage = create(SpeculationOptions.of(settings))
    loaded = stage._sources.load(settings.model, "llamacpp", None, 0, lambda: False)
    draft = stage._sources.load_draft(settings.draft, "llamacpp", None, 0, lambda: False, 1)
    assert told == [("q8.gguf", False, False)] * 2
    for each in (loaded, draft):
        each.model.close()


# --- the self-test itself --------------------------------------------------------------------------------------------


@given(st.integers(0, 2**32 - 1), st.floats(0.0, 0.05))
def test_the_same_choices_pass_and_others_do_not(seed: int, noise: float) -> None:
    rng = np.random.default_rng(seed)
    rows = {size: rng.normal(size=(size, 50)).astype(np.float32) for size in (1, 8)}
    near = {size: each + noise * rng.uniform(-1, 1, each.shape).astype(np.float32) for size, each in rows.items()}
    assert difference(rows, near) == ""
    off = {size: each.copy() for size, each in rows.items()}
    row = rng.integers(8)
    off[8][row] = -off[8][row]
    assert "8 tokens" in difference(rows, off)
    off[8][row] = np.nan
    assert "finite" in difference(rows, off)


def test_the_child_ends_with_its_parent(file: Path) -> None:
    line = [sys.executable, "-c", repacking._CHILD, str(file), "1"]
    with subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(LIMIT_S) == 1


def test_a_file_that_cannot_be_loaded_says_so(tmp_path: Path) -> None:
    path = write(tmp_path / "odd.gguf", arch="nonesuch")
    verdict = repacking.self_test(path, read_header(path).weights, 1)
    assert not verdict.repacked
    assert "nonesuch" in verdict.found
    with pytest.raises(PredtuiError, match="nonesuch"):
        load(str(path), threads=1)


@pytest.mark.parametrize(
    ("kind", "width"),
    [
        (kind, width)
        for kind in ("Q8_0", "Q4_0", "Q4_K", "Q6_K")
        for width in (96, 256, 768)
        if width % BLOCK[kind] == 0
    ],
)
def test_a_quantised_file_computes_at_once_what_it_computes_token_by_token(
    kind: str, width: int, tmp_path: Path
) -> None:
    """Loaded as the app loads it, so on any processor: what its self-test has survived, or the weights as stored."""
    line = [sys.executable, "-m", "tests.llm.one_by_one", str(tmp_path), kind, str(width)]
    done = subprocess.run(line, capture_output=True, text=True, timeout=LIMIT_S)
    assert done.returncode == 0, f"{kind} of width {width} ended with {done.returncode}: {done.stderr[-2000:]}"
    assert json.loads(done.stdout.splitlines()[-1]) == 0


@pytest.mark.parametrize(("tiles", "torch", "ours"), [(False, True, True), (True, True, False), (True, False, True)])
def test_the_tiles_of_a_processor_are_used_by_one_library_in_a_process(
    monkeypatch: pytest.MonkeyPatch, tiles: bool, torch: bool, ours: bool
) -> None:
    monkeypatch.setattr(repacking, "_has_tiles", lambda: tiles)
    monkeypatch.setenv("ONEDNN_MAX_CPU_ISA", "")  # so that it is put back as it was
    monkeypatch.delenv("ONEDNN_MAX_CPU_ISA")
    if torch:
        monkeypatch.setitem(sys.modules, "torch", object())
    else:
        monkeypatch.delitem(sys.modules, "torch", raising=False)
    assert repacking.tiles_are_ours() == ours
    assert ("ONEDNN_MAX_CPU_ISA" in os.environ) == (tiles and ours)


SHARING = """
import sys
from pathlib import Path
from predtui.llm.llamacpp.opening import open_model
from predtui.models.shipped import asset
def forward():
    model.forget()
    return model.forward(list(range(5, 69))).logits.argmax()
if sys.argv[1] == "first":
    import torch
model = open_model(asset("cllm", "model.gguf"), 1)
before = forward()
import torch
with torch.no_grad():
    torch.nn.Linear(512, 512).bfloat16()(torch.randn(512, 512, dtype=torch.bfloat16))
assert forward() == before
print("survived")
"""


@pytest.mark.parametrize("torch", ["first", "later"])
def test_a_quantised_model_and_pytorch_live_in_one_process(torch: str) -> None:
    done = subprocess.run([sys.executable, "-c", SHARING, torch], capture_output=True, text=True, timeout=200)
    assert done.stdout.strip() == "survived", done.stderr[-400:]
