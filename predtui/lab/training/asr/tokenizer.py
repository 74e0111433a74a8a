"""The byte-level BPE tokenizer of the pocket Whisper, with the special tokens of an English-only Whisper behind it.

Must not know of sound or models.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers

TEXT_TOKENS = 500
END, START, PREVIOUS, SILENCE, UNTIMED = (
    "<|endoftext|>", "<|startoftranscript|>", "<|startofprev|>", "<|nospeech|>", "<|notimestamps|>",
)  # fmt: skip
SPECIAL = (END, START, "<|en|>", "<|translate|>", "<|transcribe|>", "<|startoflm|>", PREVIOUS, SILENCE, UNTIMED)
"""In the order that Whisper has them; timestamps of 20 ms follow."""


def train_tokenizer(texts: Iterable[str], window_seconds: float, text_tokens: int = TEXT_TOKENS) -> Tokenizer:
    """Learn ``text_tokens`` tokens from ``texts``; special tokens and the timestamps of the window come after them."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    trainer = trainers.BpeTrainer(
        vocab_size=text_tokens, min_frequency=2, initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator((f" {text}" for text in texts), trainer)
    tokenizer.add_special_tokens([AddedToken(token, special=True) for token in SPECIAL])
    add_timestamps(tokenizer, window_seconds)
    return tokenizer


def add_timestamps(tokenizer: Tokenizer, window_seconds: float) -> None:
    """Those up to ``window_seconds``, as far as ``tokenizer`` has them not."""
    stamps = (f"<|{0.02 * step:.2f}|>" for step in range(round(window_seconds / 0.02) + 1))
    tokenizer.add_tokens([AddedToken(stamp, special=False) for stamp in stamps])


def save_tokenizer(tokenizer: Tokenizer, folder: Path) -> None:
    """``tokenizer.json``, ``tokenizer_config.json`` and the files that a converter reads beside them."""
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    config = {"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": END, "eos_token": END, "unk_token": END}
    (folder / "tokenizer_config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
