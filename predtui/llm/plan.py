"""Whether a model fits, and where: memory for its weights, its cache and its buffers against what is free in RAM and on
each GPU.

Weights that are mapped from a file need no free RAM, since the system can take them back and read them again; only more
than there is in all cannot work. Must not know of files, of engines, or of how a model is loaded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from predtui.llm.memory import GB, MB, Memory, told
from predtui.llm.placement import LEAST_BATCH
from predtui.llm.sizes.network import Network, layer_cache

MARGIN = 512 * MB
"""Left free on each GPU, for its driver and the screen ..."""
_SYSTEM = GB
"""... and of RAM, by weights that are mapped, for all other programs."""
LEAST_CONTEXT = 512
_QUANTISED = (
    ("Q8_0", 8.5), ("Q6_K", 6.6), ("Q5_K_M", 5.7), ("Q4_K_M", 4.9), ("Q3_K_M", 3.9), ("Q2_K", 3.2), ("IQ2_XS", 2.4),
)  # fmt: skip
"""Usual ways to quantise a file, with bits of a weight."""


@dataclass(frozen=True, slots=True)
class Ask:
    """How a model is to be held. ``context`` in tokens, and ``cells`` of the cache for them; ``kv``: type of the
    cache's numbers; ``batch``: tokens of the largest forward; ``flash``: whether attention is computed piece by piece;
    ``mapped``: whether the system may take weights in RAM back; ``beyond``, ``states``: as of ``Network.cache``;
    ``gpu_layers``: how many layers go to the GPUs, the output counting as one, None for as many as fit; ``caches``: how
    many caches are open at once over the same weights, each with buffers of its own."""

    context: int
    cells: int
    kv: str = "f16"
    batch: int = 256
    flash: bool = True
    mapped: bool = True
    beyond: int | None = None
    states: int = 1
    gpu_layers: int | None = None
    caches: int = 1


@dataclass(frozen=True)
class Plan:
    """``layers``: how many go to each of the ``gpus``, the first ones of the network staying in RAM."""

    network: Network
    ask: Ask
    ram: Memory
    gpus: tuple[Memory, ...]
    layers: tuple[int, ...]

    @cached_property
    def cache(self) -> int:
        """Bytes of all caches."""
        ask = self.ask
        return ask.caches * self.network.cache(ask.cells, ask.kv, ask.beyond, ask.states, ask.flash)

    @cached_property
    def buffers(self) -> int:
        """Bytes, about, of all of them."""
        return _buffers(self.network, self.ask)

    @cached_property
    def on_gpus(self) -> tuple[int, ...]:
        """Bytes on each."""
        pieces = _pieces(self.network, self.ask)
        first = len(pieces) - sum(self.layers)
        sums = []
        for count in self.layers:
            sums.append(sum(pieces[first : first + count]) + (self.buffers if count else 0))
            first += count
        return tuple(sums)

    @cached_property
    def held(self) -> int:
        """Bytes of RAM that must be free: cache, buffers, and weights that are not mapped."""
        caches = _piece_caches(self.network, self.ask)
        cached = sum(caches[: len(caches) - self._away])
        return cached + self.buffers + (0 if self.ask.mapped else self.in_ram)

    @cached_property
    def in_ram(self) -> int:
        """Bytes of weights in RAM."""
        weights = _piece_weights(self.network)
        kept = sum(weights[: len(weights) - self._away])
        return kept + self.network.inputs - (0 if self._away else self.network.shared)

    @property
    def _away(self) -> int:
        return sum(self.layers)

    @property
    def fits(self) -> bool:
        """Whether it can work at all."""
        there = self.held <= self.ram.free and self.held + self._mapped <= max(self.ram.total - _SYSTEM, self.ram.free)
        return there and all(need <= gpu.free for need, gpu in zip(self.on_gpus, self.gpus, strict=True))

    @property
    def crowded(self) -> bool:
        """Whether weights have to be read from the disk over and over while other programs hold the memory."""
        return self.fits and self.held + self._mapped > self.ram.free

    @property
    def _mapped(self) -> int:
        return self.in_ram if self.ask.mapped else 0

    @property
    def needed(self) -> int:
        """Bytes in all, wherever they are."""
        return self.held + self._mapped + sum(self.on_gpus)

    @property
    def left(self) -> tuple[Memory, tuple[Memory, ...]]:
        """RAM, and each GPU, with what is free there once it is loaded; mapped weights count as there in ``total``."""
        rest = replace(
            self.ram, total=max(0, self.ram.total - self.held - self._mapped), free=max(0, self.ram.free - self.held)
        )
        pairs = zip(self.gpus, self.on_gpus, strict=True)
        return rest, tuple(replace(gpu, free=max(0, gpu.free - need)) for gpu, need in pairs)

    @property
    def seconds(self) -> float | None:
        """Of one token after a context half full, by what is read for it; None where a memory's rate is not known."""
        reads = self.network.reads(self.ask.context // 2, self.ask.kv)
        first = len(reads) - self._away
        shares = [(sum(reads[:first]), self.ram)]
        for count, gpu in zip(self.layers, self.gpus, strict=True):
            shares.append((sum(reads[first : first + count]), gpu))
            first += count
        asked = [(size, memory.rate) for size, memory in shares if size]
        return sum(size / rate for size, rate in asked) if all(rate for _, rate in asked) else None

    @property
    def line(self) -> str:
        """What loading it takes, in a line."""
        free = f"{told(self.ram.free)} free"
        if self._away:
            free = f"{told(self.ram.free)} of RAM and {told(sum(gpu.free for gpu in self.gpus))} of GPUs free"
        return f"{told(self.network.weights)} of weights, {told(self.cache)} of cache, {free}"


def plan(network: Network, ask: Ask, ram: Memory, gpus: Sequence[Memory] = ()) -> Plan:
    """Where ``network`` goes. With ``ask.gpu_layers`` None, as many of its layers go to the ``gpus`` as have room,
    the last ones first."""
    pieces = _pieces(network, ask)
    room = [gpu.free - MARGIN - _buffers(network, ask) for gpu in gpus]
    most = len(pieces) if ask.gpu_layers is None else min(ask.gpu_layers, len(pieces))
    for away in range(most if gpus else 0, 0, -1):
        counts, left = _dealt(pieces[len(pieces) - away :], room)
        if left and ask.gpu_layers is not None:
            counts[-1], left = counts[-1] + left, 0
        if not left:
            return Plan(network, ask, ram, tuple(gpus), tuple(counts))
    return Plan(network, ask, ram, tuple(gpus), (0,) * len(gpus))


def advice(tried: Plan, settings: bool = True) -> str:
    """What to choose instead of a plan that does not fit; empty where nothing but another model would. ``settings``:
    whether the engine heeds those of ``Placement``."""
    choices = []
    if context := _largest_context(tried):
        choices.append(f"--llm-context {context}")
    if settings:
        choices += _settings(tried)
    if smaller := _quantised(tried):
        choices.append(smaller)
    return " or ".join(choices)


def _settings(tried: Plan) -> Iterator[str]:
    """Choices of how it is held with which it fits."""
    if tried.ask.kv == "f16" and tried.ask.flash and _again(tried, kv="q8_0").fits:
        yield "--llm-kv-type q8_0"
    if tried.ask.batch > LEAST_BATCH and _again(tried, batch=LEAST_BATCH).fits:
        yield f"--llm-batch {LEAST_BATCH}"
    if tried.ask.gpu_layers is not None and _again(tried, gpu_layers=None).fits:
        yield "--llm-gpu-layers auto"
    if not tried.ask.mapped and _again(tried, mapped=True).fits:
        yield "--llm-mmap"


def _again(tried: Plan, **changes: object) -> Plan:
    return plan(tried.network, replace(tried.ask, **changes), tried.ram, tried.gpus)  # type: ignore[arg-type]


def _largest_context(tried: Plan) -> int:
    """Half the context, or half of that and so on, as far as it is of use; 0 where none fits."""
    ask, context = tried.ask, tried.ask.context // 2
    while context >= LEAST_CONTEXT:
        if _again(tried, context=context, cells=max(1, ask.cells * context // ask.context)).fits:
            return context
        context //= 2
    return 0


def _quantised(tried: Plan) -> str:
    """A way to quantise the same model so that it fits, in words; empty where none does, or where it is so already."""
    network = tried.network
    for name, bits in _QUANTISED:
        share = bits / network.bits
        if share < 0.95 and _again_smaller(tried, share).fits:
            return f"the same model quantised to about {told(network.weights * share)} ({name})"
    return ""


def _again_smaller(tried: Plan, share: float) -> Plan:
    network = tried.network
    layers = tuple(
        replace(layer, weights=int(layer.weights * share), read=int(layer.read * share)) for layer in network.layers
    )
    inputs, shared, rest = (int(size * share) for size in (network.inputs, network.shared, network.rest))
    smaller = replace(network, layers=layers, inputs=inputs, shared=shared, rest=rest)
    return plan(smaller, tried.ask, tried.ram, tried.gpus)


def _piece_weights(network: Network) -> list[int]:
    """Bytes of each layer's weights, then of the output's."""
    return [*(layer.weights for layer in network.layers), network.output]


def _piece_caches(network: Network, ask: Ask) -> list[int]:
    """Bytes of the caches of each, of which the output has none."""
    widest = 0 if ask.flash else max((layer.values for layer in network.layers), default=0)
    sizes = (layer_cache(layer, ask.cells, ask.kv, ask.beyond, ask.states, widest) for layer in network.layers)
    return [*(ask.caches * size for size in sizes), 0]


def _buffers(network: Network, ask: Ask) -> int:
    """Bytes, about, of the buffers of all caches."""
    return ask.caches * network.buffers(ask.cells, ask.batch, ask.flash, rows=ask.batch)


def _pieces(network: Network, ask: Ask) -> list[int]:
    """Bytes that each layer, and the output, takes on a GPU."""
    return [held + cached for held, cached in zip(_piece_weights(network), _piece_caches(network, ask), strict=True)]


def _dealt(pieces: Sequence[int], room: Sequence[int]) -> tuple[list[int], int]:
    """How many of ``pieces`` go to each GPU, one GPU filled after the other, and how many have no room."""
    counts, at = [], 0
    for left in room:
        begun = at
        while at < len(pieces) and pieces[at] <= left:
            left -= pieces[at]
            at += 1
        counts.append(at - begun)
    return counts, len(pieces) - at
