"""What a Whisper in CTranslate2 form hears of synthetic speech that training never made: the figures of its card.

Held-out sentences by trained and by held-out voices, recorded as in training, padded to the full window.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from predtui.asr.whisperflow import ct2_weights
from predtui.asr.whisperflow.mel import Samples, log_mel, padded
from predtui.lab.training.asr.corpus import Times, manner, spoken_together
from predtui.lab.training.asr.sentences import heldout
from predtui.lab.training.asr.sound import recorded
from predtui.lab.training.asr.speech import Manner
from predtui.lab.training.asr.tokenizer import START, UNTIMED
from predtui.lab.training.asr.voices import TRAINED, UNHEARD
from predtui.lab.wer import word_error_rate

BEAMS = (1, 5)
POSITIONS = "encoder/position_encodings/encodings"
GROUPS = {"trained voices": TRAINED, "held-out voices": UNHEARD}


@dataclass(frozen=True, slots=True)
class Clip:
    """One held-out utterance at 16 kHz; ``words`` with begin and end in seconds."""

    samples: Samples
    words: Times
    manner: Manner

    @property
    def text(self) -> str:
        return " ".join(word for word, _, _ in self.words)


def clips(voices: Sequence[str], count: int, seed: int, longest: float = 11.0) -> Iterator[Clip]:
    """``count`` different held-out sentences of at most ``longest`` seconds, each said by one of ``voices``."""
    rng = np.random.default_rng([seed, 7])
    made = 0
    for text in heldout(3 * count, seed):
        how = manner(tuple(voices), rng)
        samples, words = spoken_together([text], how, rng)
        if made < count and len(samples) <= longest * 16_000:
            made += 1
            yield Clip(recorded(samples, rng), words, how)


def hear(model: Path, sounds: Iterable[Samples], threads: int = 1, beam: int = 1) -> Iterator[str]:
    """What the English CTranslate2 model in the folder ``model`` takes each sound for, padded to its window."""
    import ctranslate2
    from tokenizers import Tokenizer

    whisper = ctranslate2.models.Whisper(str(model), device="cpu", compute_type="int8_float32", intra_threads=threads)
    tokenizer = Tokenizer.from_file(str(model / "tokenizer.json"))
    window = 2 * len(ct2_weights.read(model, POSITIONS)[POSITIONS])
    prompt = [tokenizer.token_to_id(START), tokenizer.token_to_id(UNTIMED)]
    for samples in sounds:
        mel = padded(log_mel(samples), window)[None, :, :window]
        view = ctranslate2.StorageView.from_array(np.ascontiguousarray(mel))
        result = whisper.generate(view, [prompt], beam_size=beam, max_length=100)[0]
        yield str(tokenizer.decode(result.sequences_ids[0])).strip()


Rates = tuple[float, float]
"""Word error rates of greedy decoding and of the full beam."""


def quality(model: Path, count: int, seed: int, threads: int = 1) -> dict[str, Rates]:
    """Word error rates by group of voices, and of each held-out voice."""
    rates: dict[str, Rates] = {}
    for name, voices in GROUPS.items():
        sounds = list(clips(voices, count, seed))
        heard = [clip.samples for clip in sounds]
        said = [list(hear(model, heard, threads, beam)) for beam in BEAMS]
        rates[name] = _rates(sounds, said)
        if voices is UNHEARD:
            for voice in voices:
                own = [index for index, clip in enumerate(sounds) if clip.manner.voice == voice]
                rates[voice] = _rates([sounds[i] for i in own], [[texts[i] for i in own] for texts in said])
    return rates


def _rates(sounds: Sequence[Clip], said: Sequence[Sequence[str]]) -> Rates:
    greedy, full = (
        word_error_rate([(clip.text, text) for clip, text in zip(sounds, texts, strict=True)]) for texts in said
    )
    return greedy, full
