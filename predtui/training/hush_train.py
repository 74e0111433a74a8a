"""From a Whisper folder and sounds to its hush word and the card of it: what ``predtui train hush`` runs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import islice
from pathlib import Path

import numpy as np
from rich.console import Console
from safetensors.numpy import save_file
from tokenizers import Tokenizer

from predtui.asr.mel import Samples
from predtui.asr.wer import word_error_rate
from predtui.asr.whisper_files import FAST, HUSH
from predtui.asr.whisper_model import RATE, WhisperModel
from predtui.errors import PredtuiError
from predtui.training import manifest
from predtui.training.asr.batches import said
from predtui.training.asr.corpus import manner, spoken_together
from predtui.training.asr.export import load_whisper
from predtui.training.asr.sentences import sentences
from predtui.training.asr.sound import noise, recorded
from predtui.training.asr.voices import TRAINED
from predtui.training.hush import Epoch, HushOptions, HushRun
from predtui.training.manifest import Utterance
from predtui.training.pocket.report import bar

POCKET = "pocket"
WORK = Path("build/hush")
HELD_OUT = 80
WHOLE = 0.5
"""Of the pocket utterances; the others break off somewhere, as a stream's do."""

CARD = """# Hush word

{seconds} s of sound that {model} wants at the end of an unpadded one: its parameters frozen, {epochs} epochs over
{utterances} utterances ({manifest}), the mean of the best {best}; level {level}, position {position}, seed {seed}.

    {command}

| appended to the sound | WER of {count} held-out utterances | encoder GFLOP a second of sound |
|---|---|---|
{rows}
"""


def pocket_utterances(count: int, seed: int) -> Iterator[Utterance]:
    """Training sentences by the trained voices, half of them broken off, with what is heard of them."""
    rng = np.random.default_rng([seed, 11])
    for text in islice(sentences(seed), count):
        samples, words = spoken_together([text], manner(TRAINED, rng), rng)
        samples = recorded(samples, rng)
        if rng.random() > WHOLE:
            samples = samples[: int(rng.uniform(0.2, 1.0) * len(samples))]
        yield Utterance(samples, said(words, 0.0, len(samples) / RATE)[0])


def train_hush(
    model: Path, source: str, options: HushOptions, limit: int, command: str, resume: bool, work: Path = WORK
) -> None:
    """Learn the hush word of the Hugging Face folder ``model`` from at most ``limit`` utterances of ``source``: of the
    name "pocket" or of a manifest. A word for use goes into the folder, an ablation's into ``work``.

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
    with bar("hush word", Console(), describe) as report:
        run = HushRun(whisper, tokenizer, opening(tokenizer), options, work / model.name)
        word = run(train, held_out, resume, report).numpy()
    usable = options.level == "raw" and options.position == "end"
    folder = model if usable else work / model.name
    save_file({"hush": word}, str(folder / HUSH), metadata={"options": json.dumps(asdict(options))})
    if usable:
        facts = {"model": model.name, "utterances": len(train), "manifest": source, "command": command}
        write_card(model, word, held_out, {**asdict(options), **facts})


def opening(tokenizer: Tokenizer) -> list[int]:
    """The decoder's first tokens: with language and task where the model is multilingual."""
    names = ["<|startoftranscript|>", "<|notimestamps|>"]
    if tokenizer.get_vocab_size() >= 51_865:
        names[1:1] = ["<|en|>", "<|transcribe|>"]
    vocabulary = tokenizer.get_vocab()
    return [vocabulary[name] for name in names]


def tails(word: Samples, seed: int = 0) -> dict[str, tuple[Samples, bool]]:
    """What the paper's Table 1 appends, as (samples, whether to pad to the window), by name."""
    rng = np.random.default_rng(seed)

    found = {"padding to the window": (_silence(0.0), True), "nothing": (_silence(0.0), False)}
    for seconds in (0.5, 1.0, 2.0):
        found[f"silence {seconds} s"] = (_silence(seconds), False)
        found[f"noise {seconds} s"] = (_silence(seconds) + 0.01 * noise(int(seconds * RATE), rng), False)
    return {**found, f"hush word {len(word) / RATE:g} s": (word, False)}


def measured(
    model: WhisperModel, utterances: Sequence[Utterance], word: Samples, beam: int = 1
) -> dict[str, tuple[float, float]]:
    """By what is appended: word error rate, and encoder GFLOP a second of sound."""
    rows = {}
    for name, (tail, whole) in tails(word).items():
        pairs, gflops = [], 0.0
        for one in utterances:
            encoded = model.encode(one.samples, tail, model.window if whole else 0)
            heard = model.write(encoded, "", (), beam)
            pairs.append((one.text, " ".join(spoken.word.text for spoken in heard.spoken)))
            gflops += encoded.gflops
        seconds = sum(len(one.samples) for one in utterances) / RATE
        rows[name] = (word_error_rate(pairs), gflops / seconds)
    return rows


def write_card(model: Path, word: Samples, held_out: Sequence[Utterance], facts: dict[str, object]) -> None:
    """``hush.md`` beside the word. A model without its CTranslate2 form is not measured."""
    if not (model / FAST / "model.bin").is_file():
        return
    rows = measured(WhisperModel(model / FAST), held_out, word)
    lines = [f"| {name} | {100 * wer:.1f} % | {gflops:.2f} |" for name, (wer, gflops) in rows.items()]
    text = CARD.format(rows="\n".join(lines), count=len(held_out), **facts)
    (model / "hush.md").write_text(text, encoding="utf-8")


def describe(epoch: Epoch) -> str:
    """One line with units."""
    return f"epoch {epoch.number}  loss {epoch.loss:.3f}  held out {epoch.held_out:.3f} nats"


def _silence(seconds: float) -> Samples:
    return np.zeros(int(seconds * RATE), np.float32)
