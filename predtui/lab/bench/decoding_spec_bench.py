"""The decoding bench as the field prints it: Spec-Bench's table (Xia et al. 2024), for a terminal and as Markdown.

A row a method; its speed-up over plain decoding on each task and on all together (all tokens over all seconds), and its
mean accepted tokens: those of a reply for each forward of the target, its own token counted, as Spec-Bench does. Must
not know how the figures came.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.table import Table

from predtui.lab.bench.decoding_methods import BUDGETS, STATIC
from predtui.lab.bench.report import drawn, in_markdown

TASKS = {
    "mt_bench": "multi-turn",
    "translation": "translation",
    "summarization": "summaries",
    "qa": "questions",
    "math_reasoning": "mathematics",
    "rag": "retrieval",
    "humaneval": "code",
}
"""Spec-Bench's six by the stems of their files, in its order, and HumanEval's; any other goes by its own name."""
MEAN, OVERALL, SAME = "mean accepted", "overall", "identical"


def table(found: Mapping[str, Any]) -> Table:
    return drawn(cells(found), "Spec-Bench: speed-up over plain decoding", _told(found))


def markdown(found: Mapping[str, Any]) -> str:
    """The same, the best method of each column bold, with the command that measured it."""
    head, *rows = cells(found)
    best = [max((row[column] for row in rows), key=_figure, default="") for column in range(len(head))]
    bold = {head.index(name) for name in head[1:] if name not in (MEAN, SAME)}
    lines = [[f"**{cell}**" if n in bold and cell == best[n] else cell for n, cell in enumerate(row)] for row in rows]
    return f"{in_markdown([head, *lines])}\n\n{_told(found)}: `{found['command']}`\n"


def cells(found: Mapping[str, Any]) -> list[list[str]]:
    """The head, and a row a method."""
    rows = [row for row in (*found["rows"], *found["overall"]) if row["method"] not in {**STATIC, **BUDGETS}]
    tasks = _in_order(list(dict.fromkeys(row["task"] for row in found["rows"])))
    by = {(row["method"], row["task"]): row for row in rows}
    made = [["method", *(TASKS.get(task, task) for task in tasks), MEAN, OVERALL, SAME]]
    for method in dict.fromkeys(row["method"] for row in rows):
        overall = by[method, OVERALL]
        speeds = [f"{by[method, task]['speedup']:.2f}x" for task in (*tasks, OVERALL)]
        accepted = "–" if overall["tokens_per_forward"] is None else f"{overall['tokens_per_forward']:.2f}"
        made.append([method, *speeds[:-1], accepted, speeds[-1], f"{overall['identical_share']:.1%}"])
    return made


def _in_order(tasks: Sequence[str]) -> list[str]:
    """Spec-Bench's first, in its order."""
    order = [*TASKS]
    return sorted(tasks, key=lambda task: order.index(task) if task in TASKS else len(order))


def _figure(cell: str) -> float:
    try:
        return float(cell.rstrip("x%"))
    except ValueError:
        return 0.0


def _told(found: Mapping[str, Any]) -> str:
    return f"{'; '.join(found['models'])}; {found['machine']}"
