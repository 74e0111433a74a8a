"""The card of the pocket Whisper: what it is, how it was made, how well it hears. Measured by whoever calls."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from predtui.lab.training.asr.config import FRAMES_A_SECOND, Shape
from predtui.lab.training.asr.evaluate import BEAMS, GROUPS, Rates
from predtui.lab.training.asr.loop import Counters
from predtui.lab.training.asr.model import Whisper
from predtui.lab.training.asr.voices import TRAINED, UNHEARD

CARD = """# Pocket Whisper

A speech recogniser of the Whisper architecture, trained from scratch: {parameters:.1f}M parameters, a window of
{seconds} s that its decoder always saw padded, {vocab} tokens. It writes lower-case words, numbers in words. **It knows
synthetic voices (eSpeak NG) and the pocket domain only; of people it understands next to nothing.** It exists so that
the whole way of a streaming Whisper runs and is measured anywhere.

- `ctranslate2/`: the weights as 8-bit integers, for CTranslate2 and faster-whisper, English only; training goes on from
  them, too. `predtui train asr` leaves the float16 form (`WhisperForConditionalGeneration`) in its work folder.
- `hush.safetensors`, where it is there: its hush word, the short sound that stands for the missing padding
- `band.safetensors`, where it is there: what it hears above 4 kHz of a telephone's sound ([card](band.md))

## How it was made

{commands}

{utterances:,} utterances ({hours:.1f} h) of the pocket domain's sentences by {voices} eSpeak NG voices, seed {seed},
with noise, echoes, levels and a warped mel axis; {steps:,} batches in {minutes:.0f} minutes on {threads} CPU
thread(s){last}. First CTC on the encoder alone, then CTC and cross-entropy together.

## How well it hears

Word error rate on {count} held-out sentences a group, 8-bit weights, padded to the window; a voice of the held-out ones
said about one in ten of them.

| voices | greedy | {beam} beams |
|---|---|---|
{rows}
"""


def write_card(
    out: Path, shape: Shape, counters: Counters, facts: Mapping[str, object], rates: Mapping[str, Rates]
) -> None:
    """``README.md`` and ``training.json`` of a model of ``shape`` into ``out``. ``facts``: command, hours, utterances,
    threads, count; ``before``, of a run that went on from another's model, the facts of that one."""
    known = {
        **asdict(counters),
        **facts,
        "wer": {name: [round(rate, 4) for rate in both] for name, both in rates.items()},
    }
    (out / "training.json").write_text(json.dumps(known, indent=2) + "\n", encoding="utf-8")
    commands = _commands(known)
    names = [*GROUPS, *UNHEARD]
    rows = "\n".join(f"| {name} | {100 * rates[name][0]:.1f} % | {100 * rates[name][1]:.1f} % |" for name in names)
    text = CARD.format(
        parameters=parameters(shape) / 1e6,
        seconds=shape.window // FRAMES_A_SECOND,
        vocab=shape.vocab,
        voices=len(TRAINED),
        seed=counters.seed,
        steps=counters.step,
        minutes=counters.seconds / 60,
        beam=BEAMS[1],
        commands="\n".join(f"    {command}" for command in commands),
        last=", in the last run" if len(commands) > 1 else "",
        rows=rows,
        **facts,
    )
    (out / "README.md").write_text(text, encoding="utf-8")


def parameters(shape: Shape) -> int:
    """How many weights a Whisper of ``shape`` has."""
    with torch.device("meta"):
        return sum(weight.numel() for weight in Whisper(shape).state_dict().values())


def _commands(facts: Mapping[str, Any]) -> list[str]:
    """Those of the runs that made the model, the first one first."""
    return [*(_commands(facts["before"]) if facts.get("before") else ()), facts["command"]]
