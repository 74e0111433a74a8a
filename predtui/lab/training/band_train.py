"""``predtui train band``: sounds, training, card. Must not know the network."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from predtui.asr.whisperflow.files import find_model
from predtui.asr.whisperflow.guards import believed
from predtui.asr.whisperflow.load import load
from predtui.asr.whisperflow.model import WhisperModel
from predtui.lab.bench.asr_sounds import TUNING_SEED, Recording, pocket
from predtui.lab.training.band import BandOptions, Line, examples, learn, mu_law, narrowed, write
from predtui.lab.wer import word_error_rate
from predtui.models.shipped import POCKET
from predtui.settings import AsrSettings
from predtui.system.threads import limit

TRAINING_SEED = 4242
HELD_OUT = 60
LINES: dict[str, Line] = {
    "16 kHz": lambda samples: samples,
    "8 kHz": narrowed,
    "8 kHz, µ-law": lambda samples: narrowed(samples, mu_law),
}


@dataclass(frozen=True, slots=True)
class BandTraining:
    """``limit``: utterances; ``command``: what stands in the card."""

    out: Path
    limit: int
    options: BandOptions
    threads: int
    command: str


def train_band(training: BandTraining) -> None:
    """Train, write, and measure the pocket Whisper with and without on utterances that it was not trained on."""
    settings = AsrSettings(engine="whisperflow", model=POCKET, threads=training.threads)
    mels = WhisperModel(find_model(settings), training.threads).mels
    limit(training.threads)
    given, wanted = examples(pocket(training.limit, 0, TRAINING_SEED), mels)
    net = learn(given, wanted, training.options, lambda epoch, error: print(f"epoch {epoch}: {error:.4f}", flush=True))
    before = rates(settings, widened=False)
    print(write(net, training.out))
    after = rates(settings, widened=True)
    rows = [f"| {name} | {before[name]:.1f} % | {after[name]:.1f} % |" for name in LINES]
    card = CARD.format(limit=training.limit, options=training.options, command=training.command, rows="\n".join(rows))
    (training.out / "band.md").write_text(card, encoding="utf-8")
    print("\n".join(rows))


def rates(settings: AsrSettings, widened: bool) -> dict[str, float]:
    """Words wrong, in per cent, by what the sounds have come through."""
    model, options = load(settings)
    model.widens = widened
    sounds = [sound for sound in pocket(HELD_OUT, 0, TUNING_SEED) if sound.seconds < model.seconds - 1]

    def said(sound: Recording, line: Line) -> tuple[str, str]:
        encoded = model.encode(line(sound.samples), options.tail, options.padding(ended=True))
        heard = believed(model.decode(encoded, "", (), options.beam))
        return sound.text, " ".join(one.word.text for one in heard.words)

    return {name: 100 * word_error_rate([said(sound, line) for sound in sounds]) for name, line in LINES.items()}


CARD = """# Upper bands

The pocket Whisper has never heard a telephone. This network of one hidden layer guesses, from 13 frames of what is
below 3.7 kHz, what a sound of 8000 samples a second lacks above. Trained on {limit} utterances of the pocket domain,
every third through µ-law: {options.hidden} hidden units, {options.epochs} passes, seed {options.seed}.

    {command}

| held-out utterances through | words wrong without | with |
|---|---|---|
{rows}
"""
