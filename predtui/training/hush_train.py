"""From a Whisper folder and sounds to its hush word and the card of it: what ``predtui train hush`` runs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from safetensors.numpy import save_file
from tokenizers import Tokenizer

from predtui.asr.whisper_files import FAST, HUSH
from predtui.asr.whisper_model import RATE, WhisperModel
from predtui.errors import PredtuiError
from predtui.training import manifest
from predtui.training.asr.batches import said
from predtui.training.asr.corpus import manner, spoken_together
from predtui.training.asr.evaluate import clips
from predtui.training.asr.export import load_whisper
from predtui.training.asr.sentences import sentences
from predtui.training.asr.sound import recorded
from predtui.training.asr.voices import TRAINED
from predtui.training.hush import Epoch, HushOptions, HushRun
from predtui.training.hush_card import Variant, measured, write_card
from predtui.training.manifest import Utterance
from predtui.training.pocket.report import bar

POCKET = "pocket"
WORK = Path("build/hush")
HELD_OUT = 80
JUDGED = 100
"""Held-out sentences that the card's figures are of."""
ABLATIONS: tuple[dict[str, Any], ...] = ({"seconds": 0.25}, {"seconds": 1.0}, {"level": "mel"}, {"position": "start"})
"""What the paper's section 4.1.2 tried as well."""
TOGETHER = 3
"""Sentences in one pocket utterance, at most: a stream's buffer holds several."""
WHOLE = 0.3
"""Of the pocket utterances; the others break off somewhere, as a stream's do."""


def pocket_utterances(count: int, seed: int) -> Iterator[Utterance]:
    """Training sentences by the trained voices, most of them broken off, with what is heard of them."""
    rng, texts = np.random.default_rng([seed, 11]), sentences(seed)
    for _ in range(count):
        together = list(islice(texts, int(rng.integers(1, TOGETHER + 1))))
        samples, words = spoken_together(together, manner(TRAINED, rng), rng)
        samples = recorded(samples, rng)
        if rng.random() > WHOLE:
            samples = samples[: int(rng.uniform(0.2, 1.0) * len(samples))]
        yield Utterance(samples, said(words, 0.0, len(samples) / RATE)[0])


def train_hush(
    model: Path,
    source: str,
    options: HushOptions,
    limit: int,
    command: str,
    resume: bool,
    ablations: bool = False,
    work: Path = WORK,
) -> None:
    """Learn the hush word of the Hugging Face folder ``model`` from at most ``limit`` utterances of ``source``: of the
    name "pocket" or of a manifest. A word for use goes into the folder with its card, another into ``work``.
    ``ablations``: learn words of other lengths, levels and positions as well, for the card alone.

    Raises PredtuiError where model or manifest is not what it should be.
    """
    found = pocket_utterances(limit, options.seed) if source == POCKET else manifest.read(Path(source))
    utterances = list(islice(found, limit))
    kept = min(HELD_OUT, len(utterances) // 5)
    held_out, train = utterances[:kept], utterances[kept:]
    if not held_out:
        raise PredtuiError(f"{source} has {len(utterances)} utterances.", "A hush word needs five at least.")
    try:
        whisper = load_whisper(model)
        tokenizer = Tokenizer.from_file(str(model / "tokenizer.json"))
    except Exception as error:  # tokenizers raises a bare Exception
        raise PredtuiError(f"{model} is no Whisper in Hugging Face's form: {error}.", "Choose another.") from error

    def learn(wanted: HushOptions, folder: Path) -> Variant:
        with bar("hush word", Console(), describe) as report:
            run = HushRun(whisper, tokenizer, opening(tokenizer), wanted, folder)
            return wanted, run(train, held_out, resume, report).numpy()

    first = learn(options, work / model.name)
    usable = options.level == "raw" and options.position == "end"
    save_file(
        {"hush": first[1]},
        str((model if usable else work / model.name) / HUSH),
        metadata={"options": json.dumps(asdict(options))},
    )
    changed = [replace(options, **change) for change in ABLATIONS] if ablations else []
    variants = [first, *(learn(one, work / model.name / f"ablation-{index}") for index, one in enumerate(changed))]
    if (model / FAST / "model.bin").is_file():
        judged = list(_judged(options.seed)) if source == POCKET else held_out
        facts = {"model": model.name, "utterances": len(train), "manifest": source, "command": command}
        rows = measured(WhisperModel(model / FAST, device="cpu"), judged, variants)
        folder = model if usable else work / model.name
        write_card(folder, rows, asdict(options), {**facts, "count": len(judged)})


def _judged(seed: int) -> Iterator[Utterance]:
    """Whole sentences that neither the model nor its hush word was trained on."""
    return (Utterance(clip.samples, clip.text) for clip in clips(TRAINED, JUDGED, seed + 1))


def opening(tokenizer: Tokenizer) -> list[int]:
    """The decoder's first tokens: with language and task where the model is multilingual."""
    names = ["<|startoftranscript|>", "<|notimestamps|>"]
    if tokenizer.get_vocab_size() >= 51_865:
        names[1:1] = ["<|en|>", "<|transcribe|>"]
    vocabulary = tokenizer.get_vocab()
    return [vocabulary[name] for name in names]


def describe(epoch: Epoch) -> str:
    """One line with units."""
    return f"epoch {epoch.number}  loss {epoch.loss:.3f}  held out {epoch.held_out:.3f} nats"
