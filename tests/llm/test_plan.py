"""Where a model goes: no piece is lost or counted twice, none goes where there is no room, and advice helps."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui.llm.memory import GB, MB, Memory
from predtui.llm.plan import MARGIN, Ask, Plan, advice, plan
from predtui.llm.sizes.network import Layer, Network

LAYERS = 24
NETWORK = Network(
    "llama", 2_000_000_000, 32768, 2048, 8192, 16, 32000,
    tuple(Layer(80 * MB, 80 * MB, 1024, 1024) for _ in range(LAYERS)), 130 * MB, 130 * MB, 8192,
)  # fmt: skip
ASK = Ask(4096, 4352)


def machine(free: float, total: float = 64.0) -> Memory:
    """RAM, in GB."""
    return Memory("RAM", int(total * GB), int(free * GB), 20 * GB)


def gpu(free: float) -> Memory:
    return Memory("CUDA0", int(2 * free * GB), int(free * GB), 200 * GB)


GPUS = st.lists(st.floats(0, 4), max_size=3).map(lambda sizes: tuple(map(gpu, sizes)))
ASKS = st.builds(
    Ask,
    st.just(4096),
    st.just(4352),
    st.sampled_from(["f16", "q8_0"]),
    mapped=st.booleans(),
    gpu_layers=st.none() | st.integers(0, 40),
)


@given(GPUS, ASKS, st.floats(0, 64))
def test_every_byte_is_somewhere_and_once(gpus: tuple[Memory, ...], ask: Ask, free: float) -> None:
    made = plan(NETWORK, ask, machine(free), gpus)
    shared = NETWORK.shared if sum(made.layers) else 0
    """llama.cpp copies embeddings that are the last matrix, too, to the GPU that holds it."""
    buffers = made.buffers * (1 + sum(map(bool, made.layers)))
    everything = made.held + sum(made.on_gpus) - buffers + (made.in_ram if ask.mapped else 0)
    assert everything == NETWORK.weights + shared + made.cache
    assert len(made.layers) == len(gpus)


@given(GPUS, ASKS, st.floats(0, 64))
def test_what_fits_by_itself_leaves_room_and_no_layer_more_would_fit(
    gpus: tuple[Memory, ...], ask: Ask, free: float
) -> None:
    made = plan(NETWORK, replace(ask, gpu_layers=None), machine(free), gpus)
    assert all(need <= gpu.free - MARGIN or not need for need, gpu in zip(made.on_gpus, gpus, strict=True))
    if sum(made.layers) <= LAYERS and gpus:
        more = plan(NETWORK, replace(ask, gpu_layers=sum(made.layers) + 1), machine(free), gpus)
        assert any(need > gpu.free - MARGIN for need, gpu in zip(more.on_gpus, gpus, strict=True))


def test_weights_that_are_mapped_need_no_free_memory_but_no_more_than_there_is() -> None:
    """The file is larger than what is free, and smaller than the machine: other programs' caches give way."""
    assert NETWORK.weights > 1.5 * GB
    mapped = plan(NETWORK, ASK, machine(free=1.5))
    assert (mapped.fits, mapped.crowded) == (True, True)
    assert not plan(NETWORK, replace(ASK, mapped=False), machine(free=1.5)).fits
    assert not plan(NETWORK, ASK, machine(free=1.5, total=2)).fits
    roomy = plan(NETWORK, ASK, machine(free=8))
    assert (roomy.fits, roomy.crowded) == (True, False)


def test_layers_on_a_gpu_need_no_ram() -> None:
    made = plan(NETWORK, replace(ASK, mapped=False), machine(free=1), (gpu(40),))
    assert made.layers == (LAYERS + 1,)
    assert made.in_ram == NETWORK.inputs
    assert made.fits
    assert plan(NETWORK, replace(ASK, gpu_layers=0), machine(8), (gpu(40),)).layers == (0,)


def followed(tried: Plan, choice: str) -> Plan:
    """The plan that a choice of the advice leads to."""
    if context := re.fullmatch(r"--llm-context (\d+)", choice):
        asked = replace(
            tried.ask, context=int(context[1]), cells=tried.ask.cells * int(context[1]) // tried.ask.context
        )
    elif choice == "--llm-kv-type q8_0":
        asked = replace(tried.ask, kv="q8_0")
    elif choice == "--llm-batch 32":
        asked = replace(tried.ask, batch=32)
    elif choice == "--llm-gpu-layers auto":
        asked = replace(tried.ask, gpu_layers=None)
    else:
        assert choice == "--llm-mmap"
        asked = replace(tried.ask, mapped=True)
    return plan(tried.network, asked, tried.ram, tried.gpus)


@given(GPUS, ASKS, st.floats(0, 4))
def test_whoever_follows_the_advice_has_a_model_that_fits(gpus: tuple[Memory, ...], ask: Ask, free: float) -> None:
    tried = plan(NETWORK, ask, machine(free), gpus)
    for choice in advice(tried).split(" or ") if not tried.fits else []:
        if choice and "quantised" not in choice:
            assert followed(tried, choice).fits, choice


def test_advice_names_a_quantisation_where_weights_are_what_is_too_large() -> None:
    tried = plan(NETWORK, replace(ASK, mapped=False), machine(free=2))
    assert not tried.fits
    assert "quantised to about" in advice(tried)
    assert "--llm-mmap" in advice(tried)
    assert advice(plan(NETWORK, ASK, machine(free=0, total=0.1))) == ""


def test_a_token_takes_as_long_as_what_it_reads() -> None:
    alone = plan(NETWORK, ASK, machine(8))
    assert alone.seconds == pytest.approx(sum(NETWORK.reads(2048)) / (20 * GB))
    away = plan(NETWORK, ASK, machine(8), (gpu(40),))
    assert away.seconds == pytest.approx(sum(NETWORK.reads(2048)) / (200 * GB))
    assert plan(NETWORK, ASK, replace(machine(8), rate=0.0)).seconds is None


def test_the_line_tells_weights_cache_and_what_is_free() -> None:
    assert re.fullmatch(r"2\.0 GB of weights, 408 MB of cache, 8\.0 GB free", plan(NETWORK, ASK, machine(8)).line)


@given(GPUS, ASKS, st.floats(0, 8), st.integers(1, 3))
def test_each_further_cache_takes_as_much_as_the_first(
    gpus: tuple[Memory, ...], ask: Ask, free: float, caches: int
) -> None:
    one, several = (
        plan(NETWORK, replace(ask, caches=count, gpu_layers=0), machine(free), gpus) for count in (1, caches)
    )
    assert several.cache + several.buffers == caches * (one.cache + one.buffers)
    assert several.held - one.held == (caches - 1) * (one.cache + one.buffers)
    assert one.fits or not several.fits


@given(GPUS, ASKS, st.floats(0, 16))
def test_what_one_model_leaves_is_what_it_does_not_take(gpus: tuple[Memory, ...], ask: Ask, free: float) -> None:
    made = plan(NETWORK, ask, machine(free), gpus)
    rest, away = made.left
    assert rest.free == max(0, made.ram.free - made.held)
    assert [gpu.free for gpu in away] == [max(0, gpu.free - need) for gpu, need in zip(gpus, made.on_gpus, strict=True)]
