"""What the decoding bench shows: DuoDecoding's Tables 1 to 4 for the terminal, its Figures 1, 3, 4 and 5 for a file.

Must not know how the figures came.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.table import Table

from predtui.lab.bench.decoding_methods import BUDGETS, DUO, STATIC, VANILLA
from predtui.lab.bench.plots import Chart

Found = Mapping[str, Any]
_COLUMNS = {
    "tokens_per_s": ("tokens/s", "{:.1f}"),
    "speedup": ("speed-up", "{:.2f}x"),
    "decode_speedup": ("after the prompt", "{:.2f}x"),
    "ttft_ms": ("TTFT, ms", "{:.1f}"),
    "relative_ttft": ("rel.", "{:.2f}x"),
    "acceptance_rate": ("accepted", "{:.0%}"),
    "tokens_per_forward": ("a forward", "{:.2f}"),
    "identical_share": ("identical", "{:.1%}"),
    "right_share": ("right", "{:.1%}"),
}


def tables(found: Found) -> list[Table]:
    """Table 1; and of Duo, where it ran, Tables 2 to 4 and how an iteration's parts overlap."""
    shown = [_table_1(found)]
    if any(row["method"] in STATIC for row in found["rows"]):
        shown.append(_speeds(found, "Table 2: tokens/s by number of sequences", [*STATIC, DUO]))
    if any(row["method"] in BUDGETS for row in found["rows"]):
        shown.append(_speeds(found, f"Table 3: tokens/s by budget, c = {found['c']}", [*BUDGETS]))
    if found["iterations"]:
        shown += [_table_4(found), _overlap(found)]
    return shown


def charts(found: Found) -> list[Chart]:
    """Figures 1 (drafting against verifying), 3 (relative time to first token), 4 (time and tokens of an iteration)
    and 5 (number of sequences)."""
    main = [row for row in found["rows"] if row["method"] not in STATIC and row["method"] not in BUDGETS]
    told = [row for row in main if row["ms_per_iteration"]]
    drawn = [
        Chart("Figure 1: ms by tokens of context", found["figure_1"]),
        Chart("Table 1: tokens/s over vanilla's", _by_task(main, "speedup")),
        Chart("Figure 3: time to first token over vanilla's", _by_task(main, "relative_ttft")),
        Chart("Figure 4: ms an iteration", _by_task(told, "ms_per_iteration")),
        Chart("Figure 4: tokens an iteration", _by_task(told, "tokens_per_forward")),
    ]
    histogram = {
        row["task"]: {str(count): 100 * n / row["n"] for count, n in row["sequences"].items()}
        for row in found["iterations"]
        if row["method"] == DUO
    }
    return [*drawn, Chart("Figure 5: % of iterations by number of sequences", histogram)] if histogram else drawn


def _table_1(found: Found) -> Table:
    table = Table(title="Table 1", caption=f"{'; '.join(found['models'])}; {found['machine']}")
    for name in ("task", "method"):
        table.add_column(name, no_wrap=True)
    for name, _ in _COLUMNS.values():
        table.add_column(name, justify="right")
    for row in found["rows"]:
        if row["method"] not in STATIC and row["method"] not in BUDGETS:
            cells = ("–" if row[key] is None else form.format(row[key]) for key, (_, form) in _COLUMNS.items())
            table.add_row(row["task"], row["method"], *cells)
    return table


def _speeds(found: Found, title: str, methods: list[str]) -> Table:
    """Tokens a second, methods down, tasks across."""
    tasks = list(dict.fromkeys(row["task"] for row in found["rows"]))
    speeds = {(row["method"], row["task"]): row["tokens_per_s"] for row in found["rows"]}
    table = Table("method", title=title)
    for task in tasks:
        table.add_column(task, justify="right")
    for method in methods:
        if (method, tasks[0]) in speeds:
            table.add_row(method, *(f"{speeds[method, task]:.1f}" for task in tasks))
    return table


def _table_4(found: Found) -> Table:
    """Was one sequence enough, and was one drafted?"""
    table = Table("task", "actual", title="Table 4: sequences needed and drafted")
    for predicted in ("=1", ">1"):
        table.add_column(f"predicted {predicted}", justify="right")
    for row in found["iterations"]:
        if row["method"] == DUO:
            for actual in ("=1", ">1"):
                shares = (row["table_4"].get(f"actual {actual}, predicted {p}", 0.0) for p in ("=1", ">1"))
                table.add_row(row["task"], actual, *(f"{share:.3f}" for share in shares))
    return table


def _overlap(found: Found) -> Table:
    table = Table("task", "method", title="iterations of Duo: means in ms")
    for name in ("all of it", "target", "draft", "overlap", "tokens"):
        table.add_column(name, justify="right")
    for row in found["iterations"]:
        times = (f"{row[key]:.2f}" for key in ("wall_ms", "target_ms", "draft_ms"))
        table.add_row(row["task"], row["method"], *times, f"{row['overlap']:.0%}", f"{row['tokens']:.2f}")
    return table


def _by_task(rows: list[dict[str, Any]], key: str) -> dict[str, dict[str, float]]:
    bars: dict[str, dict[str, float]] = {}
    for row in rows:
        if row[key] is not None and (key != "relative_ttft" or row["method"] != VANILLA):
            bars.setdefault(row["method"], {})[row["task"]] = row[key]
    return bars
