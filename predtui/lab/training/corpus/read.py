"""Reads the fact tables that the corpus states: one tab-separated file a topic, first line the column names.

Knows nothing of what the columns mean; the intents that use a table do.
"""

from __future__ import annotations

import csv
from functools import cache
from importlib import resources


@cache
def rows(name: str) -> list[dict[str, str]]:
    """The rows of ``tables/<name>.tsv`` as {column: value}, in file order; a cell that is left out is "".

    The list is shared between callers and must not be changed. Raises FileNotFoundError for an unknown table
    and ValueError for a row with more cells than columns.
    """
    table = resources.files("predtui.lab.training.corpus").joinpath("tables", f"{name}.tsv")
    lines = table.read_text(encoding="utf-8").splitlines()
    found: list[dict[str, str]] = list(
        csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE, restval="", restkey="")
    )
    for row in found:
        if "" in row:
            raise ValueError(f"{name}.tsv has a row with too many cells: {row}")
    return found
