"""A Zonos checkpoint out of a folder or the local hub cache: every tensor by name and shape, or an error that names it.

Reads safetensors only and downloads nothing. Must not know what the network does.
"""

from __future__ import annotations

import logging
from math import prod
from pathlib import Path

import psutil
import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor, nn

from predtui.errors import PredtuiError
from predtui.files import resolve
from predtui.models.places import pulled
from predtui.tts.zonos.config import FOLDER_HINT, read_config
from predtui.tts.zonos.model import ZonosModel

USUAL = "Zyphra/Zonos-v0.1-transformer"
WEIGHTS = "model.safetensors"
_FETCH = "Fetch or copy the file again."
_NAMED = 3
"""Tensors named in an error; more are counted."""

Shapes = dict[str, tuple[int, ...]]


def find(name: str, *files: str, hint: str = FOLDER_HINT) -> Path:
    """The folder ``name``, or that of the hub repository ``name``, pulled or in the local cache, which holds
    all of ``files``. Raises PredtuiError with ``hint``."""
    folder = resolve(name)
    if not folder.is_dir():
        folder = pulled(name) or _cached(name, hint)
    for file in files:
        if not (folder / file).is_file():
            pickled = any(folder.glob("*.pt")) or any(folder.glob("*.pth")) or any(folder.glob("*.bin"))
            why = ", only pickles, which can run any code and are not opened" if pickled else ""
            raise PredtuiError(f"The folder {folder} holds no {file}{why}.", hint)
    return folder


def load_model(folder: Path, device: str, dtype: torch.dtype) -> ZonosModel:
    """The network of a folder, in evaluation mode. Raises PredtuiError where the configuration cannot be run, and as
    ``fill`` does."""
    with torch.device("meta"):
        model = ZonosModel(read_config(folder / "config.json"))
    fill(model, folder / WEIGHTS, device, dtype)
    return model


def fill(network: nn.Module, path: Path, device: str, dtype: torch.dtype) -> None:
    """Give ``network`` the tensors of the safetensors file ``path``, each of which it must have, and no other, in its
    shape; in evaluation mode. Raises PredtuiError with the names of those that do not fit, and where the file is
    damaged or memory does not suffice."""
    wanted = {name: tuple(tensor.shape) for name, tensor in network.state_dict().items()}
    _check(path, wanted, shapes(path))
    check_memory(path, sum(map(prod, wanted.values())) * dtype.itemsize, device)
    network.load_state_dict(read(path, device, dtype), strict=True, assign=True)
    network.eval().requires_grad_(False)


def shapes(path: Path) -> Shapes:
    """The shape of every tensor in ``path``. Raises PredtuiError for a file that is missing, damaged or cut short."""
    try:
        with safe_open(str(path), framework="pt") as file:
            return {name: tuple(file.get_slice(name).get_shape()) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError) as error:
        raise PredtuiError(f"{path} is damaged or cut short ({_first_line(error)}).", _FETCH) from error


def read(path: Path, device: str, dtype: torch.dtype) -> dict[str, Tensor]:
    """Every tensor in ``path`` on ``device``, fractions as ``dtype``. Raises PredtuiError as ``shapes`` does."""
    try:
        with safe_open(str(path), framework="pt", device=device) as file:
            return {name: _as(file.get_tensor(name), dtype) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError) as error:
        raise PredtuiError(f"{path} is damaged or cut short ({_first_line(error)}).", _FETCH) from error


def _as(tensor: Tensor, dtype: torch.dtype) -> Tensor:
    return tensor.to(dtype) if tensor.is_floating_point() else tensor


def check_memory(path: Path, needed: int, device: str) -> None:
    """Raises PredtuiError where fewer than ``needed`` bytes are free."""
    free = torch.cuda.mem_get_info()[0] if device == "cuda" else psutil.virtual_memory().available
    if needed > free:
        raise PredtuiError(
            f"{path} needs {needed / 2**20:,.0f} MB of memory and {free / 2**20:,.0f} MB are free.",
            "Choose --tts espeak, or close other programs.",
        )


def _check(path: Path, wanted: Shapes, found: Shapes) -> None:
    missing, extra = sorted(wanted.keys() - found.keys()), sorted(found.keys() - wanted.keys())
    misshapen = sorted(name for name in wanted.keys() & found.keys() if wanted[name] != found[name])
    faults = [
        *([f"lacks {_listed(missing)}"] if missing else []),
        *([f"has {_listed(extra)}, which the network does not know"] if extra else []),
        *(f"has {name} in the shape {list(found[name])} for {list(wanted[name])}" for name in misshapen[:_NAMED]),
    ]
    if faults:
        raise PredtuiError(f"{path} does not fit its network: it {'; it '.join(faults)}.", FOLDER_HINT)


def _listed(names: list[str]) -> str:
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def _cached(name: str, hint: str) -> Path:
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(name, local_files_only=True))
    except Exception as error:
        logging.getLogger(__name__).debug("%s is not in the cache: %s", name, error)
        raise PredtuiError(f"There is no folder {name}, nor is there such a name in the local cache.", hint) from None


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0].rstrip(".:")
