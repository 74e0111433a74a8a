"""What a folder takes of memory, as the torch engine holds it here. Imports no PyTorch: it is asked before a load. Must
not know of tokens, or of how a model is loaded.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from predtui.errors import PredtuiError
from predtui.files import only_files
from predtui.llm.base import ModelRequest
from predtui.llm.gguf import read_header
from predtui.llm.memory import nvidia, ram
from predtui.llm.pace import MOST
from predtui.llm.plan import Ask, Plan, plan
from predtui.llm.sizes import of_folder, of_gguf
from predtui.llm.sizes.network import Network
from predtui.llm.torch import DEFAULT_CONTEXT
from predtui.llm.weights import GGUF
from predtui.models.places import find as find_model
from predtui.models.published import SMOLLM2
from predtui.models.published import needed as real
from predtui.models.shipped import MODELS
from predtui.models.shipped import place as shipped

_CHOOSE = "Choose a folder with config.json, tokenizer.json and *.safetensors, or a GGUF file, with --model."


def find(model: str) -> Path:
    """The folder, or the GGUF file, of a shipped model, of a path, or of any other name of one that is here. Raises
    PredtuiError."""
    if model == SMOLLM2.name:
        return real(SMOLLM2)
    folder = shipped(model) if model in MODELS else find_model(model, "folder")
    if is_gguf(folder):
        return folder
    if not folder.is_dir():
        raise PredtuiError(f"{folder} is neither a folder nor a GGUF file.", _CHOOSE)
    if not (folder / "config.json").is_file():
        raise PredtuiError(f"The folder {folder} holds no config.json.", _CHOOSE)
    return only_files(folder)


def is_gguf(model: Path) -> bool:
    """Whether it is a GGUF file alone, which transformers unpacks."""
    return model.suffix.lower() == ".gguf" and model.is_file()


def network_of(folder: Path, width: int) -> Network:
    """The network in the folder, as ``of_folder`` tells of safetensors; weights of a GGUF file take ``width`` bytes
    each, too. Raises PredtuiError for one that is no model, or damaged."""
    file = folder if is_gguf(folder) else folder / GGUF
    if not is_gguf(folder) and (any(folder.glob("*.safetensors")) or not file.is_file()):
        return of_folder.network_of(folder, width)
    network = of_gguf.network_of(read_header(file))
    layers = tuple(replace(layer, weights=0, read=0) for layer in network.layers)
    return replace(network, layers=layers, inputs=0, shared=0, rest=width * network.parameters)


def needed(folder: Path, context: int, width: int) -> int:
    """Bytes of weights and cache, in numbers of ``width`` bytes. Raises PredtuiError as ``network_of``."""
    network = network_of(folder, width)
    return network.weights + network.cache(_cells(network, context), _type(width))


def planned(folder: Path, request: ModelRequest) -> Plan:
    """Where and in which numbers it goes: 16 bits on one GPU, or on several; where there is none, 32 bits in RAM, or 16
    where only those fit. Raises PredtuiError as ``network_of``."""
    gpus = () if "cpu" in request.placement.devices() else nvidia()
    choices = ((2, gpus[:1]), (2, gpus)) if gpus else ((4, ()), (2, ()))
    tried = []
    for width, chosen in choices:
        network = network_of(folder, width)
        cells = _cells(network, request.context)
        ask = Ask(cells, cells, _type(width), MOST, mapped=False, gpu_layers=len(network.layers) + 1)
        tried.append(plan(network, ask, ram(), chosen))
    return next((one for one in tried if one.fits), tried[-1])


def _cells(network: Network, context: int) -> int:
    return min(context or DEFAULT_CONTEXT, network.context or 1 << 32)


def _type(width: int) -> str:
    return "f32" if width == 4 else "f16"
