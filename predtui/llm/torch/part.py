"""Some layers of a transformers network as a network of their own, over the same weights.

Modules that know their place among the layers are copied, without what they hold, and the configuration with them: keys
and values are kept by that place. Must not know of caches, or of which layers are left out.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from copy import copy, deepcopy
from typing import Any

import torch

from predtui.llm.layers import check_layers

PLACE = "layer_idx"
_LINKED = ("num_kv_shared_layers", "hidden_size_per_layer_input", "use_cross_layer_attention")
"""Of a configuration whose layers have to do with each other, beside that one follows another."""


def layers_of(network: Any) -> int:
    """How many layers a network has that can be left out; 0 where they are not plain ones in a list, each with one
    attention that knows its place, or where they were moved to several devices."""
    config = network.config.get_text_config()
    decoder = getattr(network, network.base_model_prefix, None)
    layers = getattr(decoder, "layers", None)
    if config is not network.config or not isinstance(layers, torch.nn.ModuleList):
        return 0
    if any(getattr(config, name, None) for name in _LINKED) or any(hasattr(m, "_hf_hook") for m in network.modules()):
        return 0
    counted = len(layers) == getattr(config, "num_hidden_layers", 0)
    return len(layers) if counted and all(_places(layer) == ["self_attn"] for layer in layers) else 0


def part_of(network: Any, layers: Sequence[int]) -> Any:
    """The network of these layers alone. Raises ValueError for layers that it has not, or not in this order."""
    check_layers(layers, layers_of(network))
    config = deepcopy(network.config)
    config.num_hidden_layers = len(layers)
    if kinds := getattr(config, "layer_types", None):
        config.layer_types = [kinds[layer] for layer in layers]
    name = network.base_model_prefix
    part, decoder = _copied(network), _copied(getattr(network, name))
    decoder.layers = torch.nn.ModuleList(
        _placed(layer, place) for place, layer in enumerate(decoder.layers[number] for number in layers)
    )
    part.config = decoder.config = config
    setattr(part, name, decoder)
    return part


def _places(layer: Any) -> list[str]:
    """What beneath a layer knows its place."""
    return [name for name, module in layer.named_modules() if name and hasattr(module, PLACE)]


def _placed(layer: Any, place: int) -> Any:
    layer = _copied(layer)
    layer.self_attn = _copied(layer.self_attn)
    for module in (layer, layer.self_attn):
        if hasattr(module, PLACE):
            setattr(module, PLACE, place)
    return layer


def _copied(module: Any) -> Any:
    """Another module over the same weights, whose children can be others; nobody waits for its forwards."""
    made = copy(module)
    made._modules = dict(module._modules)
    made._forward_pre_hooks, made._forward_hooks = OrderedDict(), OrderedDict()
    return made
