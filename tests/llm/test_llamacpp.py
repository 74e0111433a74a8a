"""Laws of ``LanguageModel`` on llama.cpp with a tiny random-weight GGUF."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from predtui.errors import PredtuiError
from predtui.llm.base import ContextOverflow, LoadedModel, Preempted
from predtui.llm.llamacpp import CHUNK, LlamaCppModel, default_threads
from predtui.llm.load import inspect, load
from tests.tiny_gguf import write


def tokens(count: int, seed: int = 0) -> list[int]:
    return random.Random(seed).choices(range(256), k=count)


def test_any_order_of_calls_gives_the_logits_of_a_fresh_model(tiny: LoadedModel) -> None:
    rng = random.Random(1)
    base = tokens(60)
    for trial in range(40):
        asked = base[: rng.randint(1, 60)] + tokens(rng.randint(0, 20), trial)
        last = rng.randint(1, len(asked))
        reused = tiny.model.logits(asked, last)
        tiny.model.forget()
        fresh = tiny.model.logits(asked, last)
        assert reused.shape == (last, tiny.model.vocab_size)
        np.testing.assert_allclose(reused, fresh, atol=5e-2)


def test_rows_of_one_call_are_those_of_single_calls(tiny: LoadedModel) -> None:
    asked = tokens(12)
    together = tiny.model.logits(asked, 12)
    alone = np.stack([tiny.model.logits(asked[: i + 1])[0] for i in range(12)])
    np.testing.assert_allclose(together, alone, atol=5e-2)


def test_pays_only_for_what_differs(tiny: LoadedModel) -> None:
    model = tiny.model
    model.forget()

    def cost(asked: list[int], last: int = 1) -> tuple[int, int]:
        before = (model.counters.forwards, model.counters.tokens)
        model.logits(asked, last)
        return model.counters.forwards - before[0], model.counters.tokens - before[1]

    base = tokens(50)
    assert cost(base) == (1, 50)
    assert cost([*base, 7]) == (1, 1)
    assert cost([*base[:40], 3, 4]) == (1, 2)
    assert cost([*base[:40], 3, 4], last=2) == (1, 2)
    assert cost(base[:30]) == (1, 1)
    model.forget(10)
    assert cost(base) == (1, 40)


def test_a_long_prefill_is_one_forward_with_all_its_rows(tiny: LoadedModel) -> None:
    asked = tokens(2 * CHUNK + 40)
    tiny.model.forget()
    before = tiny.model.counters.forwards
    rows = tiny.model.logits(asked, last=CHUNK + 100)
    assert tiny.model.counters.forwards == before + 1
    np.testing.assert_allclose(rows[-1], tiny.model.logits(asked)[0], atol=5e-2)
    np.testing.assert_allclose(rows[0], tiny.model.logits(asked[: -(CHUNK + 99)])[0], atol=5e-2)


def test_branches_have_the_logits_of_their_own_sequences(tiny: LoadedModel) -> None:
    model = tiny.model
    assert isinstance(model, LlamaCppModel)
    for prefix in (tokens(1), tokens(30), tokens(CHUNK + 9)):
        branches = [[1, 2, 3], [1, 9], [], [200]]
        before = model.counters.forwards
        rows = model.branch_logits(prefix, branches)
        assert model.counters.forwards - before <= 2
        for branch, got in zip(branches, rows, strict=True):
            np.testing.assert_allclose(got, model.logits([*prefix, *branch], len(branch) + 1), atol=5e-2)
    with pytest.raises(ValueError, match="branches"):
        model.branch_logits(tokens(3), [])


def test_refuses_what_makes_no_sense(tiny: LoadedModel) -> None:
    for asked, last in (([], 1), ([1], 2), ([1], 0), ([-1], 1), ([1, 10**6], 1)):
        with pytest.raises(ValueError, match=r"last=|not within"):
            tiny.model.logits(asked, last)
    with pytest.raises(ContextOverflow):
        tiny.model.logits([1] * (tiny.model.context_size + 1))
    assert np.isfinite(tiny.model.logits([1] * tiny.model.context_size)).all()


def test_a_stale_prefill_stops_between_chunks_and_keeps_what_it_has(tiny_path: Path) -> None:
    asks = iter([False, True])
    model = LlamaCppModel(tiny_path, 1, stale=lambda: next(asks, False))
    asked = tokens(4 * CHUNK - 5)
    with pytest.raises(Preempted):
        model.logits(asked)
    assert model.counters.tokens == 2 * CHUNK
    model.logits(asked)
    assert model.counters.tokens == len(asked)
    model.close()


def test_closing_twice_is_harmless(tiny_path: Path) -> None:
    model = LlamaCppModel(tiny_path, 1)
    model.close()
    model.close()


def test_a_larger_context_than_the_model_has_is_cut_to_it(tiny_path: Path) -> None:
    model = LlamaCppModel(tiny_path, 1, context=10**9)
    assert model.context_size == 1024
    model.close()


def test_nothing_reaches_stderr(tiny_path: Path) -> None:
    code = (
        "import sys; from predtui.llm.load import load; from predtui.errors import PredtuiError\n"
        "load(sys.argv[1], threads=1).model.logits([1, 2, 3])\n"
        "try: load(sys.argv[2])\nexcept PredtuiError: print('refused')"
    )
    other = write(tiny_path.with_name("other.gguf"), arch="nonesuch")
    done = subprocess.run(
        [sys.executable, "-c", code, str(tiny_path), str(other)], capture_output=True, text=True, check=True
    )
    assert (done.stdout.strip(), done.stderr) == ("refused", "")


@pytest.mark.parametrize("content", [b"", b"GG", b"hello, I am not a model", b"GGUF", b"GGUF" + b"\xff" * 400])
def test_what_is_no_gguf_is_named(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "odd.gguf"
    path.write_bytes(content)
    with pytest.raises(PredtuiError, match=r"odd\.gguf") as caught:
        load(str(path))
    assert caught.value.remedy


def test_a_missing_file_and_a_folder_are_named(tmp_path: Path) -> None:
    for path in (tmp_path / "gone.gguf", tmp_path):
        with pytest.raises(PredtuiError, match=path.name):
            load(str(path))


def test_an_unknown_architecture_is_named(tmp_path: Path) -> None:
    with pytest.raises(PredtuiError, match="nonesuch") as caught:
        load(str(write(tmp_path / "odd.gguf", arch="nonesuch")))
    assert caught.value.remedy


def test_a_file_cut_short_anywhere_is_refused(tiny_path: Path, tmp_path: Path) -> None:
    whole = tiny_path.read_bytes()
    path = tmp_path / "cut.gguf"
    points = {0, 4, 8, 23, 24, 100, len(whole) - 1, *random.Random(0).sample(range(len(whole)), 60)}
    for point in sorted(points):
        path.write_bytes(whole[:point])
        with pytest.raises(PredtuiError, match=r"cut\.gguf"):
            load(str(path))


def test_a_model_larger_than_memory_is_refused(tiny_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Little:
        available = 1000

    monkeypatch.setattr("psutil.virtual_memory", lambda: Little)
    with pytest.raises(PredtuiError, match="memory"):
        load(str(tiny_path))


def test_inspect_reads_a_header(tiny_path: Path) -> None:
    assert "llama" in inspect(str(tiny_path))
    assert str(tiny_path) in inspect(str(tiny_path))


def test_an_unknown_engine_is_named() -> None:
    with pytest.raises(PredtuiError, match="steam"):
        load("pocket", engine="steam")


def test_small_models_take_few_threads() -> None:
    assert default_threads(1_000_000) == 1
    assert default_threads(10_000_000) == 1
    assert default_threads(7_000_000_000) <= 4
