"""The rows of F4: models that ship, those of every place where models lie, and those that there are to get. Reads the
names and sizes of files; draws nothing, asks nobody."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from predtui.errors import PredtuiError
from predtui.llm.room import too_large
from predtui.models.curated import KINDS, Proposal, proposals
from predtui.models.places import Found, find, pulled
from predtui.models.published import SMOLLM2
from predtui.models.published import find as installed
from predtui.models.shipped import MODELS, model_folder
from predtui.tui.actions import key_of

HINTS = {
    "pocket": "embedded",
    "pocket-draft": "embedded, smaller: the draft of pocket",
    "pocket-cllm": "embedded, made for --decoder jacobi",
}
NAMED = (*MODELS, SMOLLM2.name)
SHIPPED = "predtui"
PULLED = "pulled by predtui"
GROUPS = {"predtui": PULLED}
"""What a place is called here, where not as it calls itself."""
CHOSEN = "chosen by its path"


class Choice(NamedTuple):
    """One row: the model as the setting ``llm.model`` takes it, its name here, what an engine calls it once it answers,
    whose it is, its size in bytes (-1 where there is no file), its quantisation, a hint, and whether it is to be
    fetched first."""

    model: str
    name: str
    title: str
    group: str
    size: int
    quantisation: str = ""
    hint: str = ""
    to_get: bool = False


def named() -> list[Choice]:
    """The models that have names: those that ship, and the real one, installed or not."""
    known = [(name, model_folder(name) / "model.gguf", HINTS.get(name, "")) for name in MODELS]
    file = installed(SMOLLM2)
    hint = "real: talks about anything" if file else f"talks about anything: {key_of('real')} gets it"
    known.append((SMOLLM2.name, file or Path(SMOLLM2.file), hint))
    return [Choice(name, name, name, SHIPPED, size_of(path), "", hint) for name, path, hint in known]


def all_of(found: Iterable[Found]) -> list[Choice]:
    """The models that have names, ``found`` ones, and those that there are to get."""
    real = installed(SMOLLM2)
    return [*named(), *(_of_place(one) for one in found if one.path != real), *to_get()]


def to_get() -> Iterator[Choice]:
    """The models that predtui proposes and that are not here."""
    for one in proposals().values():
        if not _is_here(one):
            hint = "; ".join(text for text in (one.good, one.languages, one.licence) if text)
            group = f"{KINDS[one.kind]} to get: Enter tells what it costs, and asks"
            yield Choice(one.name, one.name, "", group, one.megabytes * 10**6, "", hint, to_get=True)


def name_of(path: Path) -> str:
    """What sets a file apart: many are called model.gguf, each in a folder of its own."""
    return f"{path.parent.name}/{path.name}" if path.stem == "model" else path.name


def size_of(path: Path) -> int:
    """-1 where there is no file."""
    try:
        return path.stat().st_size if path.is_file() else -1
    except OSError:
        return -1


def _of_place(one: Found) -> Choice:
    """With whether it is too large for this machine."""
    name = name_of(one.path) if one.model == str(one.path) else one.model.removeprefix("ollama:")
    group = GROUPS.get(one.place, one.place)
    return Choice(one.model, name, one.title, group, one.size, one.quantisation, too_large(one.size))


def _is_here(proposal: Proposal) -> bool:
    if proposal.kind != "llm":
        return pulled(proposal.name) is not None
    try:
        return find(proposal.name).exists()
    except PredtuiError:
        return False
