"""The frozen options of the pocket Whisper: its shape and the training recipe. Imports nothing heavy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

SAMPLE_RATE = 16_000
FRAMES_A_SECOND = 100
"""Log-mel frames; the encoder halves them to positions."""


@dataclass(frozen=True, slots=True)
class Shape:
    """The dimensions of a model of the Whisper architecture, under the names of Hugging Face's ``config.json``."""

    d_model: int = 192
    encoder_layers: int = 4
    decoder_layers: int = 2
    heads: int = 3
    ffn: int = 768
    vocab: int = 1110
    mels: int = 80
    source_positions: int = 600
    target_positions: int = 192

    @property
    def window(self) -> int:
        """Log-mel frames of the fixed window that training pads to."""
        return 2 * self.source_positions

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Shape:
        """Of a Hugging Face Whisper folder's ``config.json``. Raises KeyError where it is of another kind."""
        return cls(
            d_model=config["d_model"],
            encoder_layers=config["encoder_layers"],
            decoder_layers=config["decoder_layers"],
            heads=config["encoder_attention_heads"],
            ffn=config["encoder_ffn_dim"],
            vocab=config["vocab_size"],
            mels=config["num_mel_bins"],
            source_positions=config["max_source_positions"],
            target_positions=config["max_target_positions"],
        )


@dataclass(frozen=True, slots=True)
class Recipe:
    """How to train. First the encoder alone, by CTC on crops of one length each, which is twice as fast a step as the
    second part: encoder and decoder together, padded to the full window, as Whisper's decoder only ever saw it.
    """

    batch: int = 32
    muon_rate: float = 0.015
    adam_rate: float = 1.5e-3
    warmup_steps: int = 200
    hold: float = 0.3
    encoder_share: float = 0.52
    """Of the budget, what the CTC part takes."""
    ctc_weight: float = 0.5
    smoothing: float = 0.05
    clip: float = 1.0
    checkpoint_seconds: float = 120.0

    def factor(self, step: int, progress: float) -> float:
        """On the learning rate: linear warm-up, constant until ``hold`` of the budget, then linear to 0."""
        warm = min(1.0, (step + 1) / self.warmup_steps)
        return warm * max(0.0, min(1.0, (1.0 - progress) / (1.0 - self.hold)))


ONWARDS = Recipe(batch=16, muon_rate=0.0075, adam_rate=7.5e-4, warmup_steps=100, hold=0.2, encoder_share=0.0)
"""For a model that can write already: no part for the encoder alone, half the rates, and twice the steps."""


@dataclass(frozen=True, slots=True)
class Crops:
    """What a training example is of an utterance: all of it, or a part that begins with a word and ends anywhere."""

    whole: float = 0.6
    prompted: float = 0.5
    """Of the parts that begin later than the utterance, how many are given the words before as a prompt."""
    shared: float = 0.85
    """How many padded windows hold a second example, and so many of those a third, and so on while one fits."""
    padding: int = 100
    """Frames of padding at the end of a padded window, at least: no decoder ever sees a sound that just ends."""
    warp: float = 0.12
    """Vocal-tract-length perturbation: the mel axis is stretched by up to this much, for voices unheard (Jaitly and
    Hinton, 2013)."""
    tilt: float = 0.25
    """Greatest change of level along the mel axis, in log-mel units of 40 dB."""
