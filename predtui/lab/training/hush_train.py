"""From a Whisper folder and sounds to its hush word and the card of it: what ``predtui train hush`` runs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from rich.progress import track
from safetensors.numpy import save_file
from tokenizers import Tokenizer

from predtui.asr.whisperflow import ct2_weights
from predtui.asr.whisperflow.files import FINGERPRINT, HUSH, fast_form
from predtui.asr.whisperflow.model import RATE, WhisperModel
from predtui.commands.console import console
from predtui.errors import PredtuiError
from predtui.lab.training import manifest
from predtui.lab.training.asr.batches import said
from predtui.lab.training.asr.corpus import manner, spoken_together
from predtui.lab.training.asr.evaluate import clips, hear
from predtui.lab.training.asr.export import load_whisper
from predtui.lab.training.asr.model import Whisper
from predtui.lab.training.asr.sentences import sentences
from predtui.lab.training.asr.sound import recorded
from predtui.lab.training.asr.voices import TRAINED
from predtui.lab.training.hush import Epoch, HushOptions, HushRun
from predtui.lab.training.hush_card import Variant, measured, write_card
from predtui.lab.training.manifest import Utterance
from predtui.lab.training.pocket.report import bar

Target = Literal["said", "written"]

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


@dataclass(frozen=True, slots=True)
class HushTraining:
    """Whose word is learned from what. ``model``: a Whisper's folder in Hugging Face's or CTranslate2's form;
    ``source``: "pocket" or a manifest, of which at most ``limit`` utterances are taken; ``target``: what is to be
    written, which is what was said or what the model itself writes of the padded sound; ``out``: where the word and its
    card go, the model's folder where there is none; ``command``: for the card."""

    model: Path
    source: str = POCKET
    limit: int = 600
    target: Target = "said"
    out: Path | None = None
    command: str = ""
    threads: int = 0
    work: Path = WORK

    @property
    def fast(self) -> Path:
        """The CTranslate2 form."""
        return fast_form(self.model)

    @property
    def name(self) -> str:
        return (self.out or self.model).name


def train_hush(job: HushTraining, options: HushOptions, resume: bool, ablations: bool = False) -> None:
    """Learn the hush word of ``job``. A word for use goes where the job wants it, with its card, another into the work
    folder. ``ablations``: learn words of other lengths, levels and positions as well, for the card alone.

    Raises PredtuiError where model or manifest is not what it should be.
    """
    if job.threads:
        torch.set_num_threads(job.threads)
    utterances = _utterances(job, options.seed)
    kept = min(HELD_OUT, len(utterances) // 5)
    held_out, train = utterances[:kept], utterances[kept:]
    whisper, tokenizer = _opened(job)
    if job.target == "written":
        held_out, train = (_written(job, part) for part in (held_out, train))

    def learn(wanted: HushOptions, folder: Path) -> Variant:
        with bar("hush word", console(), describe) as report:
            run = HushRun(whisper, tokenizer, opening(tokenizer), wanted, folder)
            return wanted, run(train, held_out, resume, report).numpy()

    work = job.work / job.name
    first = learn(options, work)
    usable = options.level == "raw" and options.position == "end"
    folder = (job.out or job.model) if usable else work
    folder.mkdir(parents=True, exist_ok=True)
    converted = (job.fast / "model.bin").is_file()
    facts = {"options": json.dumps(asdict(options))}
    facts |= {FINGERPRINT: ct2_weights.fingerprint(job.fast)} if converted else {}
    save_file({"hush": first[1]}, str(folder / HUSH), metadata=facts)
    changed = [replace(options, **change) for change in ABLATIONS] if ablations else []
    variants = [first, *(learn(one, work / f"ablation-{index}") for index, one in enumerate(changed))]
    if converted:
        judged = list(_judged(options.seed)) if job.source == POCKET else utterances[:kept]
        rows = measured(WhisperModel(job.fast, device="cpu"), judged, variants)
        told = {"model": job.name, "utterances": len(train), "manifest": job.source, "command": job.command}
        write_card(folder, rows, asdict(options), {**told, "count": len(judged)})


def _utterances(job: HushTraining, seed: int) -> list[Utterance]:
    found = pocket_utterances(job.limit, seed) if job.source == POCKET else manifest.read(Path(job.source))
    utterances = list(islice(found, job.limit))
    if len(utterances) < 5:
        raise PredtuiError(f"{job.source} has {len(utterances)} utterances.", "A hush word needs five at least.")
    return utterances


def _opened(job: HushTraining) -> tuple[Whisper, Tokenizer]:
    """The frozen model, in either form."""
    try:
        return load_whisper(job.model), Tokenizer.from_file(str(job.fast / "tokenizer.json"))
    except Exception as error:  # tokenizers raises a bare Exception
        raise PredtuiError(f"{job.model} is no Whisper: {error}.", "Choose another.") from error


def _written(job: HushTraining, utterances: list[Utterance]) -> list[Utterance]:
    """The sounds of ``utterances`` with what the model writes of them where they are padded to its window, as it was
    trained: all that is then left to learn is to do without the padding."""
    heard = hear(job.fast, [one.samples for one in utterances], max(1, job.threads))
    texts = track(heard, "what it writes", len(utterances))
    return [Utterance(one.samples, text) for one, text in zip(utterances, texts, strict=True)]


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
