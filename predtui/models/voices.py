"""Which files of a repository make a voice in ONNX: networks, what describes them, and the voices they speak in.

Knows layouts alone, of Kokoro, Supertonic and Piper. Must not know what runs them.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from predtui.models.names import Name

ONNX = ".onnx"
_NETWORK = re.compile(r"onnx/[\w-]+\.onnx")
_VOICE = re.compile(r"(voices/[\w-]+\.bin|voice_styles/[\w-]+\.json)")
_BESIDE = re.compile(r"onnx/[\w-]+\.json|config\.json|tokenizer\.json|tokenizer_config\.json")
VOICES = "voices"
"""The folder of Kokoro's: a file of bare numbers each, no pickles."""


def files_of(files: Collection[str], name: Name) -> tuple[str, ...]:
    """Those of a repository's ``files`` that ``name`` means; none where it holds no voice. Of several sizes of one
    network, model.onnx and model_SIZE.onnx, that which ``name`` tells."""
    if name.file:
        return (name.file, f"{name.file}.json") if name.file.endswith(ONNX) else ()
    voices = [file for file in files if _VOICE.fullmatch(file)]
    networks = [file for file in files if _NETWORK.fullmatch(file)]
    if not voices or not networks:
        return ()
    if name.quantisation or "onnx/model.onnx" in networks:
        networks = [f"onnx/model_{name.quantisation}.onnx" if name.quantisation else "onnx/model.onnx"]
    return tuple(sorted((*networks, *voices, *(file for file in files if _BESIDE.fullmatch(file)))))
