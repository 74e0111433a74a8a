"""The card of a tuned model, made of the files beside it: ``training.json``, and ``bench.json`` if it was measured.

    python -m predtui.lab.training.cllm.card assets/cllm

No figure is typed here. Imports nothing heavy.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from predtui.lab.training.pocket.card import table

CARD = """# {model}, tuned for Jacobi decoding

A consistency language model (CLLM) of {parameters:,} parameters: {how} tuned on its own greedy replies, so that it
finds several of their tokens in one forward. What Jacobi decoding with it says is what it says token by token; that is
no longer in every case what {model} says.

    {command}

{replies:,} replies of its own, {step:,} steps, {tokens:,} tokens (guesses and repeated corpus included),
{minutes:.0f} minutes with {threads} threads, seed {seed}; losses at the end: {consistency:.2f} nats a guessed token,
{autoregressive:.3f} nats a token of a reply. Blocks of {block} tokens, rates {muon_lr:g} (matrices) and {adam_lr:g}.
{note}
## Figures

"""
UNMEASURED = "Not measured yet: `predtui bench jacobi --json bench.json`.\n"
COLUMNS = ("model", "decoder", "tokens_per_forward", "identical_share", "right_share", "ms_per_token", "n")


def write_card(folder: Path) -> None:
    """Write ``README.md`` into a tuned model's folder. Raises FileNotFoundError where ``training.json`` is missing."""
    training: dict[str, Any] = json.loads((folder / "training.json").read_text(encoding="utf-8"))
    facts = {**training["recipe"], **training, "minutes": training["seconds"] / 60}
    facts["how"] = "all of them" if training["full"] else "low-rank adapters on them"
    facts["note"] = f"\n{training['note']}\n" if "note" in training else ""
    text = CARD.format(**facts)
    measured = folder / "bench.json"
    if measured.exists():
        bench = json.loads(measured.read_text(encoding="utf-8"))
        text += f"`{bench['command']}` on {bench['machine']}: held-out prompts in known wordings.\n\n"
        text += table(COLUMNS, bench["rows"])
    else:
        text += UNMEASURED
    (folder / "README.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write_card(Path(sys.argv[1]))
