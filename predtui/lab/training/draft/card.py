"""The card of a trained draft, made of the ``training.json`` beside it. Imports nothing heavy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from predtui.lab.training.heads.card import by_depth

CARD = """# A draft for {model}

A Llama network of {parameters:,} parameters, {layers} layers of width {hidden}, with the tokens of {model}. What it
drafts is verified: a reply is the one of plain decoding.

    {command}

Learned from {learned:,} of the model's own replies to prompts of {prompts}, {sampled:.0%} of them sampled: their next
tokens for {pretraining:.0%} of {steps:,} steps of {batch} replies in {minutes:g} minutes, then the model's
distributions ({loss}); threads: {threads}, seed {seed}; {nats:.3f} nats a token at the end.

## Figures

{tokens_per_forward} tokens a forward of the target, on the prompts of {measured_on} replies that were not learned from,
where drafts cost nothing. Share of the drafts of which so many tokens were accepted:

"""


def write_card(folder: Path) -> None:
    """Write ``README.md`` into a draft's folder. Raises FileNotFoundError where ``training.json`` is missing."""
    training: dict[str, Any] = json.loads((folder / "training.json").read_text(encoding="utf-8"))
    facts = {**training["recipe"], **training["shape"], **training}
    text = CARD.format(**facts, learned=facts["replies"] - facts["measured_on"])
    (folder / "README.md").write_text(text + by_depth(training), encoding="utf-8")
