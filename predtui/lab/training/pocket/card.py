"""Model cards, made from the files beside them: ``training.json`` of each model and ``bench.json`` of the pair.

No figure is typed here, so a card cannot disagree with what was measured.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

ROLES = {
    "target": "the model that answers",
    "draft": "the small model that proposes tokens to the target in speculative decoding",
}

COLUMNS = ("measure", "split", "group", "value", "unit", "of")
HEAD = """---
license: mit
language: en
pipeline_tag: text-generation
---

# predtui pocket {name}

A Llama-architecture language model of {parameters:,} parameters: {role} when predtui runs on nothing but itself.
Target and draft share their tokenizer, their chat format and their corpus.

- **Files**: `model.gguf` (BF16), which every engine of predtui reads, and the hub's configuration and tokenizer.
- **Shape**: hidden size {hidden_size}, {num_hidden_layers} layers, {num_attention_heads} heads,
  feed-forward size {intermediate_size}, vocabulary {vocab_size} (byte-level BPE, digits single),
  context {max_position_embeddings}, tied embeddings.
- **Chat format**: `<|user|>TEXT<|end|><|assistant|>REPLY<|end|>`, nothing between the turns; system messages are
  dropped.
- **Corpus**: written for predtui and generated without end from a seed (`predtui.lab.training.corpus`): fact tables,
  worked arithmetic, how-to answers and small talk, asked in composed paraphrases, as typed and as a recogniser
  writes them, in conversations of up to some twenty turns; prompts cut short, and yes/no
  judgements whether a partial answer fits a partial question. Replies are learned, and lightly what the user says last.
- **Limits**: English; it knows what its corpus holds and says so when asked anything else. It is a demonstration,
  not a source of facts to rely on.
"""

TRAINING = """
## Training

`{command}`

{steps:,} steps, {tokens:,} tokens (padding included), {minutes:.1f} minutes on {device} with {threads} threads,
seed {seed}; final loss {loss:.3f} nats a reply token. Muon on the matrices, with weight decay, AdamW on embedding and
norms; the rate is constant, then falls to 0.
`--target-steps`, `--judge-steps` and `--draft-steps` in place of minutes make a run reproducible.
"""

JUDGING = """
That is the model below its upper layers. These were added then and trained alone, by AdamW, mostly on judgements, the
first of them on how unlikely each token was to the layers below too: {steps:,} steps, {tokens:,} tokens,
{minutes:.1f} minutes. So that there is something to compare, the layers below name the present token beside the next.
"""

TAUGHT = """
It learned the probabilities that the {teacher} gives each token, in place of the tokens themselves.
"""

FIGURES = """
## Figures

`{command}` on {machine}.
Greedy decoding of the GGUF files by llama.cpp; a reply is right if the corpus's oracle says so.
*slots*: known wordings with unseen contents; *frames*: whole wordings that training never showed; *in a
conversation*: known wordings, after so many turns of other matters.

"""


def write_cards(out: Path) -> None:
    """Write ``README.md`` into each model folder under ``out`` that holds a model."""
    bench = _read(out / "bench.json")
    for name in ROLES:
        folder = out / name
        if (folder / "config.json").exists():
            (folder / "README.md").write_text(card(name, folder, bench), encoding="utf-8")


def card(name: str, folder: Path, bench: Mapping[str, Any] | None) -> str:
    """The card of one model in Markdown; without ``bench`` it says that nothing was measured."""
    config, training = _read(folder / "config.json"), _read(folder / "training.json")
    if config is None or training is None:
        raise FileNotFoundError(f"{folder} holds no trained model")
    text = HEAD.format(name=name, role=ROLES[name], parameters=training["parameters"], **config)
    text += TRAINING.format(minutes=training["seconds"] / 60, **training)
    if "judging" in training:
        judging = training["judging"]
        text += JUDGING.format(minutes=judging["seconds"] / 60, **judging)
    if "teacher" in training:
        text += TAUGHT.format(**training)
    if "note" in training:
        text += f"\n{training['note']}\n"
    if bench is None:
        return text + "\n## Figures\n\nNot measured yet: `python -m predtui.lab.bench.pocket --save`.\n"
    return text + FIGURES.format(command=bench["command"], machine=bench["machine"]) + table(COLUMNS, bench["rows"])


def table(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    """The named columns of a benchmark's rows, in Markdown."""
    lines = [columns, ("---",) * len(columns), *(tuple(str(row[column]) for column in columns) for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def _read(path: Path) -> dict[str, Any] | None:
    if not path.exists():
        return None
    data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return data
