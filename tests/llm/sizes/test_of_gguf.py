"""What a network takes, by llama.cpp's own figures for files of random weights, and by what is published of models."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from pathlib import Path

import llama_cpp
import pytest

from predtui.llm.gguf import GgufHeader, GgufTensor, read_header
from predtui.llm.llamacpp.batch import CHUNK, open_context
from predtui.llm.llamacpp.log import initialise
from predtui.llm.sizes.network import Network
from predtui.llm.sizes.of_gguf import network_of
from tests.tiny_gguf import write

MB = 2**20
FILES = {
    "plain": {},
    "grouped": {"kv_heads": 1, "hidden": 64},
    "own width": {"width": 64, "kv_heads": 1},
    "wide": {"hidden": 512, "feed_forward": 4096},
}


def told(context: int, model: int) -> dict[str, float]:
    """Bytes of each buffer by the words that llama.cpp logs before "buffer size"."""
    lines: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: lines.append(record.getMessage())  # type: ignore[method-assign]
    log = logging.getLogger("predtui.llamacpp")
    level = log.level
    log.addHandler(handler)
    log.setLevel(logging.DEBUG)
    try:
        opened = open_context(model, context, 1, 18)
        llama_cpp.llama_free(opened)
    finally:
        log.removeHandler(handler)
        log.setLevel(level)
    found = re.findall(r"(\w+) buffer size = +([\d.]+) MiB", "\n".join(lines))
    return {name: MB * sum(float(size) for other, size in found if other == name) for name, _ in found}


@pytest.fixture(params=FILES)
def file(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Network, int]]:
    initialise()
    path = write(tmp_path / "tiny.gguf", **FILES[request.param])
    model = llama_cpp.llama_model_load_from_file(str(path).encode(), llama_cpp.llama_model_default_params())
    yield network_of(read_header(path)), model
    llama_cpp.llama_model_free(model)


@pytest.mark.parametrize("context", [1000, 4080])
def test_sizes_are_those_that_llama_cpp_tells(context: int, file: tuple[Network, int]) -> None:
    network, model = file
    cells = -(-(context + 16) // 256) * 256
    said = told(context, model)
    assert network.weights == llama_cpp.llama_model_size(model)
    assert network.parameters == llama_cpp.llama_model_n_params(model)
    assert network.cache(cells) == pytest.approx(said["KV"], abs=0.01 * MB)
    assert network.buffers(cells, CHUNK) == pytest.approx(said["compute"], rel=0.25, abs=MB / 2)


def header(architecture: str, arrays: dict[str, tuple[int, ...]] | None = None, **facts: int) -> GgufHeader:
    """A file without weights; a dot in a key is written as two underscores."""
    named = {f"{architecture}.{key.replace('__', '.')}": value for key, value in facts.items()}
    lists = {f"{architecture}.{key}": value for key, value in (arrays or {}).items()}
    return GgufHeader({"general.architecture": architecture, **named}, {}, 0, frozenset(), 0, (), lists)


def test_a_head_with_a_width_of_its_own_counts() -> None:
    """Qwen3-0.6B: 448 MB at 4096 tokens, where the width that its embeddings have for a head gives half."""
    qwen = network_of(
        header(
            "qwen3",
            block_count=28,
            embedding_length=1024,
            attention__head_count=16,
            attention__head_count_kv=8,
            attention__key_length=128,
            attention__value_length=128,
        )
    )
    assert qwen.cache(4096) == 448 * MB
    assert qwen.cache(4096, "q8_0") == 238 * MB
    assert qwen.cache(4096, "q4_0") == 126 * MB


def test_published_figures() -> None:
    """Llama 3.1 8B: 128 KB a token; DeepSeek-V3: 576 numbers a token and layer; Gemma 3 4B: 5 of 6 layers see 1024."""
    llama = header("llama", block_count=32, embedding_length=4096, attention__head_count=32, attention__head_count_kv=8)
    assert network_of(llama).cache(1) == 128 * 1024
    deepseek = header(
        "deepseek2",
        block_count=61,
        embedding_length=7168,
        attention__head_count=128,
        attention__head_count_kv=1,
        attention__key_length=576,
        attention__value_length=512,
        attention__key_length_mla=192,
        attention__value_length_mla=128,
    )
    assert network_of(deepseek).cache(1) == 61 * 576 * 2
    gemma = header(
        "gemma3",
        block_count=34,
        embedding_length=2560,
        attention__head_count=8,
        attention__head_count_kv=4,
        attention__key_length=256,
        attention__value_length=256,
        attention__sliding_window=1024,
    )
    layer = 2 * 4 * 256 * 2
    assert [sees.window for sees in network_of(gemma).layers[:7]] == [1024] * 5 + [0, 1024]
    assert network_of(gemma).cache(8192) == 34 * 8192 * layer
    assert network_of(gemma).cache(8192, beyond=256) == (5 * 8192 + 29 * 1280) * layer


def test_layers_that_keep_a_state_do_not_grow_with_the_context() -> None:
    """Mamba has no keys at all, LFM2 where an array says so, Qwen3.5 in three layers of four, Falcon-H1 has both."""
    mamba = network_of(
        header("mamba", block_count=4, embedding_length=64, ssm__conv_kernel=4, ssm__inner_size=128, ssm__state_size=16)
    )
    assert mamba.cache(64) == mamba.cache(65536) == 4 * 4 * (3 * 128 + 128 * 16)
    assert mamba.cache(64, states=3) == 3 * mamba.cache(64)
    lfm = network_of(
        header(
            "lfm2",
            {"attention.head_count_kv": (0, 2, 0, 2)},
            block_count=4,
            embedding_length=64,
            attention__head_count=4,
            shortconv__l_cache=3,
        )
    )
    assert [bool(layer.keys) for layer in lfm.layers] == [False, True, False, True]
    assert [layer.state for layer in lfm.layers] == [128, 0, 128, 0]
    both = {
        "block_count": 4,
        "embedding_length": 64,
        "attention__head_count": 4,
        "ssm__inner_size": 8,
        "ssm__state_size": 4,
    }
    qwen = network_of(header("qwen35", **both))
    assert [(bool(layer.keys), bool(layer.state)) for layer in qwen.layers] == [(False, True)] * 3 + [(True, False)]
    assert all(layer.keys and layer.state for layer in network_of(header("falcon-h1", **both)).layers)


def test_layers_that_share_a_cache_count_once() -> None:
    facts = {"block_count": 30, "embedding_length": 64, "attention__head_count": 4, "attention__shared_kv_layers": 10}
    assert sum(bool(layer.keys) for layer in network_of(header("gemma4", **facts)).layers) == 20


def test_of_experts_a_token_reads_those_that_are_chosen() -> None:
    facts = {
        "block_count": 2,
        "embedding_length": 64,
        "attention__head_count": 4,
        "expert_count": 8,
        "expert_used_count": 2,
    }
    plain, mixed = GgufTensor("F16", (8,), 0, 100), GgufTensor("F16", (8,), 0, 800)
    tensors = {f"blk.{n}.{name}": one for n in range(2) for name, one in (("a", plain), ("ffn_up_exps.weight", mixed))}
    outside = {"token_embd.weight": GgufTensor("F16", (64, 10), 0, 1280)}
    base = header("qwen3moe", **facts)
    network = network_of(GgufHeader(base.metadata, {**tensors, **outside}, 0, frozenset(), 0, ()))
    assert network.weights == 2 * 900 + 1280
    assert network.reads(0) == [300, 300, 1280]


@pytest.mark.parametrize("value", [-5, 2**62, "many", 1.5, True])
def test_nonsense_in_a_file_counts_as_nothing(value: object) -> None:
    base = header("llama", block_count=2, embedding_length=64, attention__head_count=4)
    for key in list(base.metadata):
        if key != "general.architecture":
            network_of(GgufHeader({**base.metadata, key: value}, {}, 0, frozenset(), 0, ())).cache(4096)  # type: ignore[dict-item]
