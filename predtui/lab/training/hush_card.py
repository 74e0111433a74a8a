"""What a hush word is worth: word error rate and encoder work beside padding, silence and noise (WhisperFlow, Table 1
and Figure 11), and beside words learned otherwise (section 4.1.2). Writes the card. Trains nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from predtui.asr.whisperflow.mel import Mel, Samples, log_mel, padded
from predtui.asr.whisperflow.model import RATE, WhisperModel
from predtui.lab.training.asr.sound import noise
from predtui.lab.training.hush import HushOptions
from predtui.lab.training.manifest import Utterance
from predtui.lab.wer import word_error_rate

Variant = tuple[HushOptions, Samples]
"""How a word was learned, and the word: samples [n], or log-mel frames [mels, frames]."""
Transcription = Callable[[Samples], Mel]
"""From a sound to what the encoder is given of it."""

CARD = """# Hush word

{seconds} s of sound that {model} wants at the end of an unpadded one: its parameters frozen, {epochs} epochs over
{utterances} utterances ({manifest}), the mean of the best {best}; level {level}, position {position}, seed {seed}.

    {command}

| appended to the sound | WER of {count} held-out utterances | encoder GFLOP a second of sound |
|---|---|---|
{rows}
"""


def placed(samples: Samples, variant: Variant) -> Mel:
    """The log-mel frames [mels, frames] of ``samples`` with the word at its place, as the trainer has it."""
    options, word = variant
    sound = samples if options.level == "raw" else log_mel(samples)
    added = word if options.level == "raw" else sound.max() - 2.0 + word
    joined = np.concatenate([sound, added] if options.position == "end" else [added, sound], axis=-1)
    return log_mel(joined) if options.level == "raw" else joined


def named(variant: Variant) -> str:
    """One row's name."""
    options = variant[0]
    kind = "hush word" if options.level == "raw" else "hush word of log-mel frames"
    return f"{kind} {options.seconds:g} s" + (", before the sound" if options.position == "start" else "")


def additions(window: int, variants: Sequence[Variant], seed: int = 0) -> dict[str, Transcription]:
    """What is compared, by name: padding to ``window`` frames, nothing, silence, noise, and the learned words."""
    rng = np.random.default_rng(seed)
    found: dict[str, Transcription] = {
        "padding to the window": lambda sound: padded(log_mel(sound), window),
        "nothing": log_mel,
    }
    for seconds in (0.5, 1.0, 2.0, 5.0):
        found[f"silence {seconds:g} s"] = _after(np.zeros(int(seconds * RATE), np.float32))
        found[f"noise {seconds:g} s"] = _after(0.01 * noise(int(seconds * RATE), rng))
    return found | {named(variant): _with(variant) for variant in variants}


def measured(
    model: WhisperModel, utterances: Sequence[Utterance], variants: Sequence[Variant], beam: int = 1
) -> dict[str, tuple[float, float]]:
    """By what is appended: word error rate, and encoder GFLOP a second of sound. What goes beyond the window is cut."""
    rows = {}
    seconds = sum(len(one.samples) for one in utterances) / RATE
    for name, heard in additions(model.window, variants).items():
        pairs, gflops = [], 0.0
        for one in utterances:
            encoded = model.encode_mel(heard(one.samples), model.window // 2)
            heard_in = model.decode(encoded, "", (), beam)
            pairs.append((one.text, " ".join(spoken.word.text for spoken in heard_in.words)))
            gflops += encoded.gflops
        rows[name] = (word_error_rate(pairs), gflops / seconds)
    return rows


def write_card(
    folder: Path, rows: Mapping[str, tuple[float, float]], options: Mapping[str, object], facts: Mapping[str, object]
) -> None:
    """``hush.md`` into ``folder``. ``facts``: model, utterances, manifest, command, count."""
    lines = [f"| {name} | {100 * wer:.1f} % | {gflops:.2f} |" for name, (wer, gflops) in rows.items()]
    (folder / "hush.md").write_text(CARD.format(rows="\n".join(lines), **options, **facts), encoding="utf-8")


def _after(tail: Samples) -> Transcription:
    return lambda sound: log_mel(np.concatenate([sound, tail]))


def _with(variant: Variant) -> Transcription:
    return lambda sound: placed(sound, variant)
