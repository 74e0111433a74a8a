"""The card of a judge, made of the files beside it: ``training.json``, and ``bench.json`` if it was measured.

    python -m predtui.lab.training.judge.card assets/heads/judge

No figure is typed here. Imports nothing heavy.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from predtui.lab.training.heads.card import benched

CARD = """# A judge of drafts for {model}

Logistic regression on its hidden state behind a drafted token, in {bytes:,} bytes: is the token right, though it is not
the one that {model} would have said? Lossy: a reply is not always the one of plain decoding (`--decoder judge`).

    {command}

Learned from {cases:,} tokens that {draft} would have said in right replies to prompts of {prompts} (of {asked:,}
prompts, seed {seed}): each was put in the place of {model}'s own, {right:,} left the reply right. That took {minutes:g}
minutes, threads: {threads}.

## Figures

On {held_out:,} cases that were not learned from, and that chose the threshold of {threshold:.4f}:
{right_accepted:.1%} of the right ones are accepted, {wrong_accepted:.1%} of the wrong ones; balanced accuracy at a
threshold of 0.5: {balanced_accuracy:.1%}.
"""
COLUMNS = ("method", "tokens_per_forward", "acceptance_rate", "speedup", "identical_share", "right_share", "n")


def write_card(folder: Path) -> None:
    """Write ``README.md`` into the folder of a judge. Raises FileNotFoundError where ``training.json`` is missing."""
    training: dict[str, Any] = json.loads((folder / "training.json").read_text(encoding="utf-8"))
    text = CARD.format(**training) + benched(folder, COLUMNS)
    (folder / "README.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write_card(Path(sys.argv[1]))
