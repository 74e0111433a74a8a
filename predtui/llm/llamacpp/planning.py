"""Whether a GGUF file fits with what is chosen, as llama.cpp would hold it here. Must not know of tokens, or of how a
model is loaded. llama.cpp is imported only to ask it for its GPUs.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from predtui.errors import PredtuiError
from predtui.llm.base import ModelRequest
from predtui.llm.gguf import GgufHeader
from predtui.llm.llamacpp import compile as build
from predtui.llm.llamacpp.repacking import REPACKED, SAFEST, remembered
from predtui.llm.memory import Memory, nvidia, ram, told
from predtui.llm.pace import MOST
from predtui.llm.placement import ALL, AUTO
from predtui.llm.plan import Ask, Plan, advice, plan
from predtui.llm.sizes.network import Network
from predtui.llm.sizes.of_gguf import network_of
from predtui.llm.threads import default_threads

DEFAULT_CONTEXT = 4096
_PADDING = 16
"""Cells beside those of the context, as ``batch`` has them."""
_CELLS = 256
"""llama.cpp has as many cells in its cache, or a multiple."""
_COPIES = 8
"""Of a recurrent state, beside the one that is computed with."""


def planned(
    header: GgufHeader, request: ModelRequest, repacked: bool | None = None, beside: Plan | None = None
) -> Plan:
    """What the file would take. ``repacked``: whether its weights are to be repacked; None: as the self-test found, if
    it was run. ``beside``: what is loaded before it. Raises PredtuiError for choices that do not go together."""
    request.placement.check()
    network = network_of(header)
    threads = threads_of(request, header.parameters)
    if repacked is None:
        verdict = remembered(header.weights, threads) if request.weights in ("", AUTO) else None
        repacked = verdict.repacked if verdict else request.weights == REPACKED
    memory, gpus = (ram(), _gpus(request)) if beside is None else beside.left
    return plan(network, _ask(network, request, repacked, bool(gpus)), memory, gpus)


def refuse(path: Path, tried: Plan, room: int | None = None) -> None:
    """Raises PredtuiError, with what to choose instead, where the model does not fit, or takes more than ``room``."""
    narrow = room is not None and tried.needed > room
    if tried.fits and not narrow:
        return
    network, ask = tried.network, tried.ask
    parts = (
        f"{told(network.weights)} of weights, {told(tried.cache)} of {caches_of(ask)} for {ask.context} tokens, "
        f"{told(tried.buffers)} of buffers"
    )
    if room is not None and tried.fits:
        raise PredtuiError(f"{path} needs {told(tried.needed)} ({parts}); {told(room)} is left for it.")
    needed = tried.held if tried.held > tried.ram.free else tried.held + tried.in_ram
    crowded = [gpu for gpu, need in zip(tried.gpus, tried.on_gpus, strict=True) if need > gpu.free]
    where = f"{told(crowded[0].free)} of {crowded[0].name}" if crowded else f"{told(tried.ram.free)} of memory"
    total = told(sum(tried.on_gpus) if crowded else needed)
    instead = advice(tried)
    remedy = f"Choose {instead}." if instead else "Choose a smaller model, or free some memory."
    raise PredtuiError(f"{path} needs {total} ({parts}), and {where} are free.", remedy)


def caches_of(ask: Ask) -> str:
    """One cache or several, in words."""
    return "cache" if ask.caches == 1 else f"{ask.caches} caches"


def threads_of(request: ModelRequest, parameters: int) -> int:
    """How many a forward takes at most."""
    if request.weights == SAFEST:
        return 1
    if request.threads or not build.available():
        return request.threads or default_threads(parameters)
    from predtui.llm.llamacpp.threads import llama_threads

    return llama_threads(parameters)


def _ask(network: Network, request: ModelRequest, repacked: bool, offloads: bool) -> Ask:
    placement = request.placement
    context = min(request.context or DEFAULT_CONTEXT, network.context or 1 << 32)
    latent = any(layer.keys and not layer.values for layer in network.layers)
    layers = None if placement.gpu_layers == AUTO else len(network.layers) + 1
    return Ask(
        context,
        -(-(context + _PADDING) // _CELLS) * _CELLS,
        placement.kv,
        placement.batch or MOST,
        placement.flash != "off" and (offloads or not latent),
        placement.mapped and not repacked and request.weights != SAFEST,
        states=1 + _COPIES,
        gpu_layers=layers if placement.gpu_layers in (AUTO, ALL) else int(placement.gpu_layers),
        caches=1 if any(layer.state for layer in network.layers) else request.caches,
    )


def _gpus(request: ModelRequest) -> tuple[Memory, ...]:
    """Those that llama.cpp is to use; where it is not there yet, those that it might."""
    if not build.available():
        return nvidia()
    from predtui.llm.llamacpp.devices import chosen, devices

    return tuple(one.memory for one in chosen(request.placement.devices(), devices()))


def rated(tried: Plan, rate: float) -> Plan:
    """The same plan, with what is known of how fast RAM is read."""
    return replace(tried, ram=replace(tried.ram, rate=rate))
