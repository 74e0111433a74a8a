"""The card of trained heads, made of the files beside it: ``training.json``, and ``bench.json`` if it was measured.

    python -m predtui.lab.training.heads.card assets/heads/eagle

No figure is typed here. Imports nothing heavy.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from predtui.lab.training.pocket.card import table
from predtui.registry import DRAFTERS

CARD = """# {title} heads for {model}

{parameters:,} parameters that draft for {model} {how}.
What is drafted is verified: a reply is the one of plain decoding.

    {command}

Learned from {learned:,} of the model's own greedy replies to prompts of {prompts},
{whole:.0%} of them whole and the others broken off: {steps:,} steps of {batch} {examples} in {minutes:g} minutes,
threads: {threads}, seed {seed}; {loss:.3f} nats a token at the end.

## Figures

{tokens_per_forward} tokens a forward of the target, on the prompts of {measured_on} replies that were not learned from,
where drafts cost nothing. Share of the drafts of which so many tokens were accepted:

"""
STATES = """from its hidden states, in {bytes:,} bytes with the target's own rows
for the {vocabulary:,} tokens that they speak"""
NEEDS_CONTEXTS = {"soft", "layers"}
"""Of a drafter: its heads learn from whole contexts, where others learn from single places in replies."""
SOFT = "as soft tokens beside its own, in {bytes:,} bytes"
COLUMNS = ("method", "tokens_per_forward", "acceptance_rate", "speedup", "identical_share", "n")


def write_card(folder: Path) -> None:
    """Write ``README.md`` into a folder of heads. Raises FileNotFoundError where ``training.json`` is missing."""
    training: dict[str, Any] = json.loads((folder / "training.json").read_text(encoding="utf-8"))
    facts = {**training["recipe"], **training, "title": training["method"].capitalize()}
    needs = DRAFTERS[training["method"]].needs
    how = (SOFT if "soft" in needs else STATES).format(**facts)
    examples = "contexts" if needs & NEEDS_CONTEXTS else "places"
    text = CARD.format(**facts, how=how, examples=examples, learned=facts["replies"] - facts["measured_on"])
    text += by_depth(training) + benched(folder, COLUMNS)
    (folder / "README.md").write_text(text, encoding="utf-8")


def by_depth(training: Mapping[str, Any]) -> str:
    """The share of drafts that were accepted to each depth, as a table."""
    depths = {str(depth): share for depth, share in enumerate(training["accepted_by_depth"], 1)}
    return table(tuple(depths), [depths])


def benched(folder: Path, columns: Sequence[str]) -> str:
    """The rows of ``bench.json`` with its command; nothing where it was not measured."""
    measured = folder / "bench.json"
    if not measured.exists():
        return ""
    bench = json.loads(measured.read_text(encoding="utf-8"))
    return f"\n`{bench['command']}` on {bench['machine']}:\n\n" + table(columns, bench["rows"])


if __name__ == "__main__":
    write_card(Path(sys.argv[1]))
