"""Reads tables of wordings (name, form, wording) into phrases, one ``Phrases`` a name.

For intents whose cases and wordings are plain text with no logic of their own, such as small talk. Knows nothing of
what the wordings ask or what the answers are.
"""

from __future__ import annotations

from collections import defaultdict

from predtui.lab.training.corpus.read import rows
from predtui.lab.training.corpus.types import Phrases

_FORMS = frozenset(Phrases.__dataclass_fields__)


def phrases(table: str) -> dict[str, Phrases]:
    """The wordings of ``tables/<table>.tsv`` by name. Raises ValueError for a form that ``Phrases`` does not have."""
    found: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for row in rows(table):
        if row["form"] not in _FORMS:
            raise ValueError(f"{table}.tsv: {row['name']} has the unknown form {row['form']!r}")
        found[row["name"]][row["form"]].append(row["wording"])
    return {name: Phrases(**{form: tuple(texts) for form, texts in forms.items()}) for name, forms in found.items()}


def keys(cell: str) -> tuple[str, ...]:
    """The entries of a cell that separates them by ``|``."""
    return tuple(filter(None, cell.split("|")))
