"""A tuned model as a folder in the Hugging Face layout; the pocket's as a GGUF file too. Must not know of training."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

from predtui.lab.training.pocket.export import export as export_pocket
from predtui.lab.training.pocket.export import load_exported
from predtui.lab.training.pocket.tokenizer import SPECIAL_TOKENS, load_tokenizer
from predtui.lab.training.staged import staged
from predtui.llm.torch.folder import tokenizer_of
from predtui.llm.torch.planning import is_gguf

_TEXTS = ("tokenizer*", "vocab*", "merges.txt", "special_tokens_map.json", "added_tokens.json", "chat_template*")


def export(network: Any, source: Path, folder: Path, name: str) -> None:
    """Write the network's weights and configuration, and the tokenizer of ``source``, into ``folder``: all of it or
    nothing. Raises PredtuiError where that fails."""
    if is_gguf(source):  # unpacked, and tuned: its weights are numbers like any others
        network.hf_quantizer = None
        vars(network.config).pop("quantization_config", None)
    with staged(folder) as fresh:
        network.save_pretrained(fresh, safe_serialization=True)
        copy_tokenizer(source, fresh)
        if tokenizer := pocket_tokenizer(fresh):
            export_pocket(load_exported(fresh), tokenizer, fresh, name, small=True)


def copy_tokenizer(source: Path, folder: Path) -> None:
    """Of a folder or a GGUF file, into ``folder``."""
    if is_gguf(source):
        tokenizer_of(source).save_pretrained(folder)
        return
    for pattern in _TEXTS:
        for path in source.glob(pattern):
            shutil.copy(path, folder / path.name)


def pocket_tokenizer(folder: Path) -> Tokenizer | None:
    """The tokenizer of a folder that holds a model of the pocket's make; None for another."""
    if is_gguf(folder):
        return None
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    if config["model_type"] != "llama" or not (folder / "tokenizer.json").is_file():
        return None
    tokenizer = load_tokenizer(folder)
    ours = [tokenizer.token_to_id(token) for token in SPECIAL_TOKENS] == list(range(len(SPECIAL_TOKENS)))
    return tokenizer if ours else None
