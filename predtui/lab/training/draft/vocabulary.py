"""A model's tokenizer as metadata of a GGUF file: that of the file that it is, or that is in its folder, or made of
``tokenizer.json`` where that is byte-level BPE, as of GPT-2, Llama 3, Qwen and SmolLM. Must not know of weights.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import gguf

from predtui.lab.training.pocket.gguf import Vocabulary
from predtui.llm.torch.planning import is_gguf
from predtui.llm.weights import GGUF

_PRE = {"\\p{N}{1,3}": "llama-bpe", "|\\p{N}|": "qwen2"}
"""What a tokenizer's splitting pattern holds: llama.cpp's name of it."""


def vocabulary_of(folder: Path, size: int, special: dict[str, int]) -> Vocabulary | None:
    """For a network of ``size`` tokens; ``special``: kinds of token, ``bos``, ``eos`` and ``pad``, that there are.
    None for a tokenizer that a GGUF file cannot be given."""
    file = folder if is_gguf(folder) else folder / GGUF
    if file.is_file():
        return _of_gguf(file, size)
    if not (folder / "tokenizer.json").is_file():
        return None
    told = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    bytewise = "ByteLevel" in json.dumps([told.get("pre_tokenizer"), told.get("decoder")])
    if told["model"].get("type") != "BPE" or not bytewise or told["model"].get("byte_fallback"):
        return None
    return lambda writer: _describe(writer, told, size, special)


def _of_gguf(path: Path, size: int) -> Vocabulary | None:
    fields = {name: field for name, field in gguf.GGUFReader(path).fields.items() if name.startswith("tokenizer.")}
    tokens = fields.get("tokenizer.ggml.tokens")
    if tokens is None or len(tokens.data) != size:
        return None

    def describe(writer: gguf.GGUFWriter) -> None:
        for name, field in fields.items():
            inner = field.types[-1] if field.types[0] == gguf.GGUFValueType.ARRAY else None
            writer.add_key_value(name, field.contents(), field.types[0], inner)

    return describe


def _describe(writer: gguf.GGUFWriter, told: dict[str, Any], size: int, special: dict[str, int]) -> None:
    added = {item["id"]: item for item in told["added_tokens"]}
    spelled = {number: token for token, number in told["model"]["vocab"].items()}
    spelled |= {number: item["content"] for number, item in added.items()}
    marks = {number for number, item in added.items() if item["special"]}
    kinds = gguf.TokenType
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(pre_tokenizer(told["pre_tokenizer"]))
    writer.add_token_list([spelled.get(number, f"[PAD{number}]") for number in range(size)])
    writer.add_token_types(
        [
            kinds.UNUSED
            if number not in spelled
            else kinds.CONTROL
            if number in marks
            else kinds.USER_DEFINED
            if number in added
            else kinds.NORMAL
            for number in range(size)
        ]
    )
    merges = told["model"]["merges"]
    writer.add_token_merges([merge if isinstance(merge, str) else " ".join(merge) for merge in merges])
    for kind, number in special.items():
        {"bos": writer.add_bos_token_id, "eos": writer.add_eos_token_id, "pad": writer.add_pad_token_id}[kind](number)
    writer.add_add_bos_token(False)


def pre_tokenizer(told: dict[str, Any] | None) -> str:
    """llama.cpp's name of how text is split; GPT-2's for one that is not known: a draft is given tokens, not text."""
    text = json.dumps(told, ensure_ascii=False).replace("\\\\", "\\")
    digits = "smollm" if '"Digits"' in text else "gpt-2"
    return next((name for pattern, name in _PRE.items() if pattern in text), digits)
