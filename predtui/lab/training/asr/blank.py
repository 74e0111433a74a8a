"""A Whisper of random weights in the exact layout of a published one, to measure speed where none can be fetched:

    python -m predtui.lab.training.asr.blank base FOLDER

It writes nonsense, as fast as the real one writes words.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

from predtui.lab.training.asr.config import Shape
from predtui.lab.training.asr.export import export
from predtui.lab.training.asr.model import Whisper

TEXT_TOKENS = 50_257
LANGUAGES = 99
STAMPS = 1501
SIZES = {"tiny": (384, 4, 6), "base": (512, 6, 8), "small": (768, 12, 12), "medium": (1024, 24, 16)}
"""Width, layers of encoder and of decoder, heads (Radford et al., 2022, table 1)."""


def shape(size: str) -> Shape:
    """The shape of openai/whisper-``size``. Raises KeyError for an unknown one."""
    width, layers, heads = SIZES[size]
    return Shape(width, layers, layers, heads, 4 * width, 51_865, 80, 1500, 448)


def tokenizer() -> Tokenizer:
    """As many tokens as Whisper's multilingual one has, special ones at their places; of the text, bytes alone."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    names = [*alphabet, *(f"Ġ{index}" for index in range(TEXT_TOKENS - len(alphabet)))]
    made = Tokenizer(models.BPE(vocab={name: index for index, name in enumerate(names)}, merges=[]))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    languages = ["<|en|>", *(f"<|language{index}|>" for index in range(1, LANGUAGES))]
    special = ["<|endoftext|>", "<|startoftranscript|>", *languages, "<|translate|>", "<|transcribe|>"]
    special += ["<|startoflm|>", "<|startofprev|>", "<|nospeech|>", "<|notimestamps|>"]
    made.add_special_tokens([AddedToken(name, special=True) for name in special])
    made.add_tokens([AddedToken(f"<|{0.02 * step:.2f}|>", special=False) for step in range(STAMPS)])
    return made


def main() -> None:
    """Writes both forms."""
    parser = argparse.ArgumentParser(prog="python -m predtui.lab.training.asr.blank", description=__doc__)
    parser.add_argument("size", choices=SIZES)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    torch.manual_seed(chosen.seed)
    export(Whisper(shape(chosen.size)), tokenizer(), chosen.folder)


if __name__ == "__main__":
    main()
