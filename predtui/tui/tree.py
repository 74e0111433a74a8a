"""The draft that was verified last, drawn as a tree: what was accepted, and below it where each other branch left it.

Must not know how drafts are made.
"""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content

from predtui.state.events import Branch, Decoding
from predtui.tui.gate import assemble

LEFT = 2 / 3
"""A branch begins no further to the right than at this share of the width."""


def tree(decoding: Decoding, width: int) -> list[Content]:
    """The accepted path with the model's own choice behind it, then a line for each other branch, the one that left it
    last first; nothing where there was no draft. ``width`` in cells."""
    branches = decoding.tree
    if not branches:
        return []
    source = branches[0].source
    trunk = [at for at, branch in enumerate(branches) if branch.accepted]
    parts: list[str | tuple[str, str]] = [(f"{source}: " if source else "", ".dim"), ("✓ ", ".dim")]
    columns = {-1: _cells(parts)}
    for at in trunk:
        parts += [(_words(branches[at].text), ".kept"), *_from(branches[at], source), " "]
        columns[at] = _cells(parts)
    if not trunk:
        parts[1:] = []
        columns[-1] = _cells(parts)
    parts += [("→ ", ".dim"), (_words(decoding.chosen), ".new") if decoding.chosen else ("(end)", ".dim")]
    lines = [assemble(*parts)]
    for at in [*reversed(trunk), -1]:
        lines += _rejected(branches, at, min(columns[at], int(LEFT * width)), source)
    return [line.truncate(width, ellipsis=True) for line in lines]


def _rejected(branches: Sequence[Branch], above: int, column: int, source: str) -> list[Content]:
    """What was drafted behind ``above`` and not accepted: each branch on a line, what branches off it further below."""
    lines = []
    for at, branch in enumerate(branches):
        if branch.parent == above and not branch.accepted:
            words = _words(branch.text)
            lines.append(assemble(" " * column, ("└ ✗ ", ".dim"), (words, ".rejected"), *_from(branch, source)))
            lines += _rejected(branches, at, column + 2, source)
    return lines


def _from(branch: Branch, source: str) -> list[tuple[str, str]]:
    """Whose it is, where that is not the one whose the first is."""
    return [(f" ({branch.source})", ".dim")] if branch.source != source else []


def _words(text: str) -> str:
    return " ".join(text.split()) or "␣" * bool(text)


def _cells(parts: Sequence[str | tuple[str, str]]) -> int:
    return assemble(*parts).cell_length
