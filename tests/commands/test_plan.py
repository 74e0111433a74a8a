"""``predtui models plan`` tells sizes before anything is loaded, and fails where a model does not fit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file
from typer.testing import CliRunner

from predtui.commands.cli import app
from predtui.errors import PredtuiError
from predtui.llm.memory import Memory
from tests.tiny_gguf import LAYERS, write


@pytest.fixture(autouse=True)
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PREDTUI_CACHE_DIR", str(tmp_path / "cache"))
    has(monkeypatch, 8 << 30)


def has(monkeypatch: pytest.MonkeyPatch, free: int) -> None:
    """Have this machine so many bytes of free memory."""
    for module in ("predtui.llm.llamacpp.planning", "predtui.llm.torch.planning"):
        monkeypatch.setattr(f"{module}.ram", lambda: Memory("RAM", 16 << 30, free))


def planned(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["models", "plan", *words])
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.output


def test_it_tells_weights_cache_buffers_and_what_a_token_takes(tmp_path: Path) -> None:
    status, said = planned(str(write(tmp_path / "tiny.gguf")))
    assert status == 0
    assert all(word in said for word in ("weights", "cache", "buffers", "RAM", "8.0 GB free", " ms ", "✓ It fits."))


def test_what_does_not_fit_is_status_1_and_says_what_to_choose(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    has(monkeypatch, 1 << 20)
    status, said = planned(str(write(tmp_path / "tiny.gguf")))
    assert status == 1
    assert "✗ It does not fit. Choose " in said


def test_json_has_the_figures_of_a_model_in_several_files(tmp_path: Path) -> None:
    first = str(write(tmp_path / "tiny.gguf", split=5))
    status, said = planned(first, "--json", "--llm-context", "500")
    found: dict[str, Any] = json.loads(said)
    assert (status, found["fits"], found["context"], found["layers"]) == (0, True, 500, LAYERS + 1)
    assert found["files"] > 1
    assert found["bytes"]["cache"] == 768 * LAYERS * 2 * 32 * 2
    status, said = planned(first, "--json", "--llm-context", "500", "--llm-kv-type", "q8_0")
    assert json.loads(said)["bytes"]["cache"] == 768 * LAYERS * 2 * 34


def write_folder(tmp_path: Path, **more: Any) -> None:
    """A small network of 22,848 numbers, whose cache has 256 a token."""
    config = {"model_type": "qwen3", "num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 4,
              "num_key_value_heads": 2, "head_dim": 32, "vocab_size": 100, "max_position_embeddings": 512,
              "intermediate_size": 128, "tie_word_embeddings": True, **more}  # fmt: skip
    (tmp_path / "config.json").write_text(json.dumps(config))
    weights = {"model.embed_tokens.weight": (100, 64), "model.norm.weight": (64,)}
    weights |= {f"model.layers.{n}.self_attn.q_proj.weight": (128, 64) for n in range(2)}
    save_file({name: np.zeros(shape, np.float16) for name, shape in weights.items()}, tmp_path / "model.safetensors")


def test_a_folder_is_planned_by_its_configuration(tmp_path: Path) -> None:
    write_folder(tmp_path)
    status, said = planned(str(tmp_path), "--json")
    found = json.loads(said)
    assert (status, found["engine"], found["parameters"]) == (0, "torch", 6400 + 64 + 2 * 8192)
    assert found["bytes"]["weights"] == 4 * found["parameters"]
    assert found["bytes"]["cache"] == 512 * 2 * 2 * 64 * 4


def test_a_folder_is_planned_as_the_torch_engine_would_hold_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A context of 4096 where none is asked for, whole windows, 16 bits where 32 have no room, and no settings of
    llama.cpp for advice."""
    write_folder(tmp_path, max_position_embeddings=131072, sliding_window=64)
    found = json.loads(planned(str(tmp_path), "--json")[1])
    assert (found["context"], found["kv_type"]) == (4096, "f32")
    assert found["bytes"]["cache"] == 4096 * 256 * 4
    has(monkeypatch, found["ram"]["needed"] - 1)
    found = json.loads(planned(str(tmp_path), "--json")[1])
    assert (found["fits"], found["kv_type"]) == (True, "f16")
    assert found["bytes"]["weights"] == 2 * found["parameters"]
    has(monkeypatch, found["ram"]["needed"] - 1)
    status, said = planned(str(tmp_path))
    assert status == 1
    assert "--llm-context 2048" in said
    assert "--llm-batch" not in said
    assert "--llm-mmap" not in said
    gpu = Memory("a GPU", 4 << 30, 3 << 30)
    monkeypatch.setattr("predtui.llm.torch.planning.nvidia", lambda: (gpu,))
    assert json.loads(planned(str(tmp_path), "--json")[1])["gpus"][0]["layers"] == 3
    assert not json.loads(planned(str(tmp_path), "--json", "--llm-device", "cpu")[1])["gpus"]


def test_a_folder_that_no_gpu_holds_alone_is_planned_on_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache of 2 GB in two layers, buffers of as much, and 4 GB free on each."""
    write_folder(tmp_path, max_position_embeddings=1 << 23)
    gpu = Memory("a GPU", 4 << 30, 4 << 30)
    monkeypatch.setattr("predtui.llm.torch.planning.nvidia", lambda: (gpu, gpu))
    found = json.loads(planned(str(tmp_path), "--json", "--llm-context", str(1 << 22))[1])
    assert (found["fits"], [gpu["layers"] for gpu in found["gpus"]]) == (True, [1, 2])
    found = json.loads(planned(str(tmp_path), "--json")[1])
    assert [gpu["layers"] for gpu in found["gpus"]] == [3]


def test_a_folder_of_pickles_or_of_nothing_is_refused_in_a_line(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(PredtuiError, match="holds no safetensors"):
        planned(str(tmp_path))
    (tmp_path / "pytorch_model.bin").write_bytes(b"PK\3\4")
    with pytest.raises(PredtuiError, match="a pickle, which can run any code"):
        planned(str(tmp_path))


@pytest.mark.parametrize(
    ("flag", "value", "words"),
    [
        ("--llm-tensor-split", "x,1", "share of each GPU"),
        ("--llm-batch", "5", "32 to 256"),
        ("--llm-device", "CUDA7", "none that llama.cpp has"),
        ("--llm-gpu-layers", "many", "is not one of auto"),
    ],
)
def test_a_choice_that_is_none_is_told_in_a_line(flag: str, value: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(PredtuiError, match=words) as refused:
        planned(str(write(tmp_path / "tiny.gguf")), flag, value)
    assert len(str(refused.value).splitlines()) == 1


def drafted(model: Path, decoder: str, *words: str) -> tuple[int, dict[str, Any]]:
    status, said = planned(str(model), "--json", "--decoder", decoder, "--drafter", "model", "--draft", *words)
    return status, json.loads(said)


def test_a_draft_is_planned_beside_its_model_with_every_cache_that_it_opens(tmp_path: Path) -> None:
    model = write(tmp_path / "tiny.gguf")
    plain = json.loads(planned(str(model), "--json")[1])
    assert plain["draft"] is None
    (_, one), (_, two) = (drafted(model, decoder, str(model)) for decoder in ("speculative", "duo"))
    assert (one["draft"]["caches"], two["draft"]["caches"]) == (1, 2), "DuoDecoding drafts in a cache of its own"
    assert one["draft"]["bytes"]["cache"] == plain["bytes"]["cache"] == one["bytes"]["cache"]
    assert two["draft"]["bytes"]["cache"] == 2 * plain["bytes"]["cache"]
    assert two["draft"]["bytes"]["buffers"] == 2 * plain["bytes"]["buffers"]
    said = planned(str(model), "--decoder", "duo", "--draft", str(model))[1]
    assert "more for tiny: " in said
    assert "2 caches" in said
    assert "more for" not in planned(str(model), "--decoder", "speculative", "--drafter", "suffix")[1]


def test_a_draft_that_has_no_room_is_told_with_what_to_choose(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = write(tmp_path / "tiny.gguf")
    alone = json.loads(planned(str(model), "--json")[1])
    both = alone["ram"]["needed"] + alone["bytes"]["cache"] + alone["bytes"]["buffers"]
    has(monkeypatch, both)
    assert drafted(model, "speculative", str(model))[1]["fits"]
    status, found = drafted(model, "duo", str(model))
    assert (status, found["fits"], found["instead"]) == (
        1,
        False,
        "a smaller draft with --draft, or another --decoder",
    )
    assert "does not fit beside its draft" in planned(str(model), "--decoder", "duo", "--draft", str(model))[1]
