"""A trained draft as a folder that every engine loads: Hugging Face's files with the target's tokenizer, and a GGUF
file for llama.cpp where the tokenizer can be written in one. Must not know of training.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from safetensors.torch import save_file

from predtui.lab.training.cllm.export import copy_tokenizer
from predtui.lab.training.draft.vocabulary import vocabulary_of
from predtui.lab.training.pocket.export import llama_config, rounded
from predtui.lab.training.pocket.gguf import write_gguf
from predtui.lab.training.pocket.model import PocketModel
from predtui.lab.training.staged import staged
from predtui.llm.weights import GGUF, SAFETENSORS

_KINDS = ("bos", "eos", "pad")


def export(network: PocketModel, target: Any, source: Path, folder: Path, name: str) -> bool:
    """Write ``network`` into ``folder``, as a whole or not at all; ``target`` is the network in the folder ``source``.
    Whether there is a GGUF file. Raises PredtuiError where it cannot be written."""
    whole = target.config.get_text_config()
    ids = {f"{kind}_token_id": getattr(whole, f"{kind}_token_id", None) for kind in _KINDS}
    special = {kind: _first(told) for kind in _KINDS if (told := ids[f"{kind}_token_id"]) is not None}
    vocabulary = vocabulary_of(source, network.shape.vocab, special)
    weights = {key: rounded(tensor.detach().cpu()) for key, tensor in network.state_dict().items()}
    with staged(folder) as fresh:
        copy_tokenizer(source, fresh)
        if (source / "generation_config.json").is_file():
            shutil.copy(source / "generation_config.json", fresh)
        config = json.dumps(llama_config(network.shape) | ids, indent=2)
        (fresh / "config.json").write_text(config + "\n", encoding="utf-8")
        save_file(weights, str(fresh / SAFETENSORS), metadata={"format": "pt"})
        if vocabulary:
            write_gguf(weights, vocabulary, network.shape, fresh / GGUF, name)
    return vocabulary is not None


def _first(tokens: int | list[int]) -> int:
    return tokens[0] if isinstance(tokens, list) else tokens
