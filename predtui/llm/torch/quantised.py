"""Whether transformers can load weights that are quantised, found out before any is read: by its own checks of packages
and GPUs. Must not know of networks, or of what quantised numbers mean.
"""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

from transformers import AutoConfig
from transformers.quantizers.auto import AutoHfQuantizer

from predtui.errors import PredtuiError
from predtui.llm.sizes.of_folder import configuration
from predtui.llm.sizes.quantised import Quantised, quantised

_OTHERWISE = "choose the model in plain safetensors, or as a GGUF file with --engine llamacpp."


def arguments(folder: Path, device: str) -> dict[str, Any]:
    """What ``from_pretrained`` has to be told of weights that are quantised, to put them on ``device``; nothing for
    plain ones. Raises PredtuiError where a package is missing, or a GPU."""
    config = configuration(folder)
    how = quantised(config)
    if how is None:
        return {}
    _refuse(folder, how, _unpacking(how, config["quantization_config"]), device)
    if not how.unpacked:
        return {"dtype": "auto", "device_map": device}
    whole: Any = AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    for part in (whole, whole.get_text_config()):
        if settings := getattr(part, "quantization_config", None):
            part.quantization_config = _unpacking(how, settings)
    return {"config": whole}


def _unpacking(how: Quantised, settings: dict[str, Any]) -> dict[str, Any]:
    return {**settings, "dequantize": True} if how.unpacked else dict(settings)


def _refuse(folder: Path, how: Quantised, settings: dict[str, Any], device: str) -> None:
    try:
        quantiser: Any = AutoHfQuantizer.from_config(deepcopy(settings), pre_quantized=True)
        quantiser.validate_environment(device_map=device, weights_only=True)
    except Exception as error:
        line = (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".:")
        lacks, remedy = "cannot be loaded by transformers", "Update transformers, or"
        if isinstance(error, ImportError):
            lacks, remedy = "needs a package that is not there", "Install it, or"
        if "GPU" in line:
            lacks, remedy = "needs a GPU", "Use a machine with one, or"
        raise PredtuiError(
            f"{folder} is quantised ({how.method}) and {lacks}: {line}.", f"{remedy} {_OTHERWISE}"
        ) from error
