"""Where the files of a Whisper checkpoint are: its CTranslate2 form, made where it is missing, and its hush word.
Loads no model.
"""

from __future__ import annotations

import importlib.util
import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np

from predtui.asr.faster_whisper import find_checkpoint
from predtui.asr.whisperflow import ct2_weights
from predtui.asr.whisperflow.mel import Samples
from predtui.errors import PredtuiError
from predtui.files import read_json
from predtui.models.published import whisper
from predtui.models.shipped import POCKET, asset
from predtui.settings import AsrSettings, state_folder

FAST = "ctranslate2"
"""Folder inside a model's that holds its CTranslate2 form."""
HUSH = "hush.safetensors"
FINGERPRINT = "fingerprint"
"""In a hush word's metadata: whose it is."""
_BESIDE = ("tokenizer.json", "preprocessor_config.json")


def find_model(options: AsrSettings) -> Path:
    """The CTranslate2 folder of ``options.model``: of the pocket Whisper, of a folder in either form, or of a name in
    the local cache. A checkpoint in Hugging Face's form is converted once, into the state folder.

    Raises PredtuiError, with what to do, where there is none.
    """
    name = whisper(options.model, options.engine)
    folder = asset("whisper") if name == POCKET else find_checkpoint(replace(options, model=name))
    fast = fast_form(folder)
    if (fast / "model.bin").is_file():
        return fast
    if not (folder / "model.safetensors").is_file():
        raise PredtuiError(f"{folder} holds no Whisper model.", "It wants a model.bin or a model.safetensors.")
    return _converted(folder)


def fast_form(folder: Path) -> Path:
    """The folder of a model's CTranslate2 form: inside ``folder``, or ``folder`` itself, where it need not be."""
    return folder / FAST if (folder / FAST / "model.bin").is_file() else folder


def find_hush(folder: Path) -> Samples | None:
    """The hush word of the model in the CTranslate2 folder ``folder``: there, in the folder around it, or among those
    that ship for models that do not. Raises PredtuiError where it cannot be read."""
    for path in (folder / HUSH, folder.parent / HUSH):
        if path.is_file():
            return read_hush(path)
    shipped = {_meant(path): path for path in asset("hush").glob(f"*/{HUSH}")}
    own = shipped.get(ct2_weights.fingerprint(folder)) if shipped else None
    return read_hush(own) if own else None


def _meant(path: Path) -> str:
    """The fingerprint of the model that the hush word in ``path`` is of; "" where it does not say."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(str(path), framework="np") as file:
            return str((file.metadata() or {}).get(FINGERPRINT, ""))
    except (OSError, SafetensorError):
        return ""


def read_hush(path: Path) -> Samples:
    """The samples at 16 kHz in ``path``. Raises PredtuiError where it holds no hush word."""
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        samples = load_file(str(path))["hush"]
    except (OSError, KeyError, SafetensorError) as error:
        raise PredtuiError(f"{path} is no hush word: {error}.", "Make one: predtui train hush") from error
    if samples.ndim != 1 or not np.isfinite(samples).all():
        raise PredtuiError(f"{path} is no hush word: it is no row of numbers.", "Make one: predtui train hush")
    return samples.astype(np.float32)


def convert(folder: Path, out: Path, quantization: str = "int8_float32") -> None:
    """The CTranslate2 form of the Hugging Face folder ``folder``, with what faster-whisper wants beside it."""
    from ctranslate2.converters import TransformersConverter

    TransformersConverter(str(folder)).convert(str(out), quantization=quantization, force=True)
    for name in _BESIDE:
        if (folder / name).exists():
            shutil.copyfile(folder / name, out / name)


def _converted(folder: Path) -> Path:
    out = state_folder() / FAST / folder.resolve().name
    source = out / "source.json"
    facts = {"folder": str(folder.resolve()), "modified": (folder / "model.safetensors").stat().st_mtime}
    if source.is_file() and read_json(source) == facts:
        return out
    if importlib.util.find_spec("torch") is None or importlib.util.find_spec("transformers") is None:
        raise PredtuiError(
            f"{folder} is in Hugging Face's form, and converting it needs PyTorch.",
            "Install it: pip install 'predtui[torch]', or give a CTranslate2 folder.",
        )
    try:
        convert(folder, out)
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        raise PredtuiError(f"{folder} cannot be converted: {error}.", "Is it a Whisper model?") from error
    source.write_text(json.dumps(facts) + "\n", encoding="utf-8")
    return out
