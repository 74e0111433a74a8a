"""Reads the tables: tab-separated text, one folder a kind, the first line of each names its columns.

``facts/`` is what can be asked, ``wordings/`` how it is asked, ``words/`` what slots are filled with. Knows nothing of
what the cells mean; the intents that use a table do.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from importlib import resources
from itertools import zip_longest

from predtui.lab.training.corpus.grammar import check
from predtui.lab.training.corpus.types import Phrases

Row = Mapping[str, str]

_FORMS = frozenset(Phrases.__dataclass_fields__)


@cache
def rows(table: str) -> tuple[Row, ...]:
    """The rows of ``tables/<table>.tsv`` as {column: value}, in file order; a cell that is left out is "".

    Raises FileNotFoundError for an unknown table and ValueError, with file and line, for a row that is empty or has
    more cells than columns.
    """
    file = resources.files("predtui.lab.training.corpus").joinpath("tables", f"{table}.tsv")
    head, *lines = file.read_text(encoding="utf-8").splitlines()
    return tuple(_row(head.split("\t"), line, _at(table, index)) for index, line in enumerate(lines))


def _at(table: str, index: int) -> str:
    return f"{table}.tsv, line {index + 2}"


def _row(columns: list[str], line: str, at: str) -> Row:
    cells = line.split("\t")
    if not line or len(cells) > len(columns):
        raise ValueError(f"{at}: {len(cells) if line else 0} cells where the table has {len(columns)} columns.")
    return dict(zip_longest(columns, cells, fillvalue=""))


def phrases(table: str, **named: str) -> dict[str, Phrases]:
    """The wordings of ``tables/wordings/<table>.tsv`` by name; ``$when`` in a wording stands for ``named["when"]``.

    Raises ValueError, with file and line, for a form that ``Phrases`` does not have, for brackets that do not match and
    for a ``$`` that nothing is named for.
    """
    found: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for index, row in enumerate(rows(f"wordings/{table}")):
        try:
            found[row["name"]][_form(row["form"])].append(_wording(row["wording"], named))
        except ValueError as error:
            raise ValueError(f"{_at(f'wordings/{table}', index)}: {error}") from error
    return {name: Phrases(**{form: tuple(texts) for form, texts in forms.items()}) for name, forms in found.items()}


def _form(name: str) -> str:
    if name not in _FORMS:
        raise ValueError(f"there is no form {name!r}, only {', '.join(sorted(_FORMS))}")
    return name


def _wording(text: str, named: Mapping[str, str]) -> str:
    for name, value in named.items():
        text = text.replace(f"${name}", value)
    if "$" in text:
        raise ValueError(f"nothing is named for the $ in {text!r}")
    check(text)
    return text


def words(table: str) -> dict[str, tuple[str, ...]]:
    """The lists of ``tables/words/<table>.tsv`` by name."""
    found: dict[str, list[str]] = defaultdict(list)
    for row in rows(f"words/{table}"):
        found[row["list"]].append(row["word"])
    return {name: tuple(entries) for name, entries in found.items()}


def keys(cell: str) -> tuple[str, ...]:
    """The entries of a cell that separates them by ``|``."""
    return tuple(filter(None, cell.split("|")))
