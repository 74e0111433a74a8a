"""What is no language model to talk with, told in words: other formats, parts of models, models of other kinds.

Knows how such files begin, and what GGUF files call themselves. Must not know of engines.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from predtui.errors import PredtuiError

BEGINNING = 64
"""Bytes of a file that tell what it is."""
_CHOOSE = "Choose a .gguf file with --model."
_PICKLE = "a pickle, which can run any code when it is opened, and is not"
_BEGINNINGS = (
    (b"PK\x03\x04", _PICKLE),
    (b"\x80\x02", _PICKLE),
    (b"\x80\x03", _PICKLE),
    (b"\x80\x04", _PICKLE),
    (b"\x80\x05", _PICKLE),
    (b"lmgg", "a model in a form that llama.cpp has given up (GGML)"),
    (b"fmgg", "a model in a form that llama.cpp has given up (GGMF)"),
    (b"tjgg", "a model in a form that llama.cpp has given up (GGJT)"),
    (b"version https://git-lfs", "what Git LFS leaves in place of a file that it has not fetched"),
    (b"<!", "a web page, not the file that it offers"),
    (b"<html", "a web page, not the file that it offers"),
)
_FORMS = {
    "adapter": ("a LoRA adapter, which changes a model and is none", "Choose a file of the whole model."),
    "mmproj": ("a vision projector, the part of a model that sees", "Choose the language model that it came with."),
    "vocab": ("a vocabulary without a model", "Choose a file of the whole model."),
    "imatrix": ("a record of how much weights matter, made to quantise a model", "Choose the model itself."),
    "controlvector": ("a control vector, which steers a model and is none", "Choose a file of the whole model."),
}
_TALKS = "Choose a model that answers: one whose name has instruct or chat in it, say."
_ENCODERS = {
    "bert", "modern-bert", "neo-bert", "eurobert", "nomic-bert", "nomic-bert-moe", "jina-bert-v2", "jina-bert-v3",
    "gemma-embedding", "llama-embed", "t5encoder",
}  # fmt: skip
_RANKS = 4
"""llama.cpp's number for what a model that ranks texts makes of them."""


def foreign(path: Path, beginning: bytes) -> PredtuiError:
    """What to say of a file that is no GGUF, by its first bytes."""
    if beginning[8:9] == b"{" and int.from_bytes(beginning[:8], "little") < 1 << 30:
        remedy = "The torch engine reads the folder that it is in: --engine torch --model FOLDER"
        return PredtuiError(f"{path} is a safetensors file, not a GGUF model file.", remedy)
    what = next((name for start, name in _BEGINNINGS if beginning.lower().startswith(start.lower())), "")
    return PredtuiError(f"{path} is {what or 'not a GGUF model file'}.", _CHOOSE)


def numberless() -> PredtuiError:
    """What to say of a model whose logits are none."""
    return PredtuiError("The model computes no numbers: its weights are damaged.", "Fetch it again.")


def refuse_unfit(path: Path, metadata: Mapping[str, object]) -> None:
    """Raises PredtuiError where the GGUF file whose ``metadata`` these are holds no model that can answer."""
    architecture, form = str(metadata.get("general.architecture", "")), str(metadata.get("general.type", "model"))
    if architecture == "clip":
        form = "mmproj"
    if form in _FORMS:
        what, remedy = _FORMS[form]
        raise PredtuiError(f"{path} is {what}.", remedy)
    if architecture == "t5":
        raise PredtuiError(f"{path} is a model that encodes all of a text before it answers (T5).", _TALKS)
    pooling = metadata.get(f"{architecture}.pooling_type", 0)
    if pooling == _RANKS:
        raise PredtuiError(f"{path} is a model that ranks texts, and cannot answer.", _TALKS)
    if architecture in _ENCODERS or pooling or metadata.get(f"{architecture}.attention.causal") is False:
        raise PredtuiError(f"{path} is a model that makes embeddings of texts, and cannot answer.", _TALKS)
