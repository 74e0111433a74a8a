"""A random Whisper of a few thousand weights in CTranslate2 form: it hears nothing right, but by the same laws."""

from pathlib import Path

import torch

from predtui.asr.whisperflow.files import FAST
from predtui.lab.training.asr.config import Shape
from predtui.lab.training.asr.export import export
from predtui.lab.training.asr.model import Whisper
from predtui.lab.training.asr.tokenizer import train_tokenizer

TEXTS = ["what is the capital of france", "how many days are in a week", "tell me a joke"]
SHAPE = Shape(
    d_model=32, encoder_layers=1, decoder_layers=2, heads=2, ffn=64, vocab=405, source_positions=100,
    target_positions=64,
)  # fmt: skip


def make(folder: Path, seed: int = 0) -> Path:
    """The CTranslate2 folder of a fresh model below ``folder``. Weights are large, so that attention has opinions."""
    torch.manual_seed(seed)
    model = Whisper(SHAPE)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if weight.ndim == 2 and "embed_positions" not in name:
                weight.mul_(3.0)
    export(model, train_tokenizer(TEXTS * 5, window_seconds=2.0, text_tokens=295), folder)
    return folder / FAST
