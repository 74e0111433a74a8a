"""What predtui keeps of models itself: taking in what lies elsewhere on this machine, and removing what it has.

Removes nothing of other programs. Must not know of hubs or of the network.
"""

from __future__ import annotations

import os
import re
import shutil
from contextlib import suppress
from pathlib import Path

from predtui.errors import PredtuiError
from predtui.files import resolve
from predtui.models import curated
from predtui.models.names import chosen, parse, parts_of, title
from predtui.models.places import find, kept_at
from predtui.models.pull import RECORD, belongs
from predtui.settings import models_folder

IMPORTED = "imported"
"""The owner under whose name models are kept that were taken in."""
_OTHER = re.compile(r"[^A-Za-z0-9._]+")
_SPARE = 64 << 20
"""Bytes of the disk that are left free."""


def kept(text: str) -> tuple[Path, ...]:
    """The files of the model ``text`` that predtui keeps: all of a repository, or those of the quantisation that is
    named. Raises PredtuiError for a model of another program, and for one that is not here."""
    name = parse(curated.source(text))
    if name.kind == "ollama":
        raise PredtuiError(f"{text} is Ollama's.", f"Remove it there: ollama rm {text.removeprefix('ollama:')}")
    if name.kind == "url":
        files = [kept_at(name.text)]
    elif name.kind == "hub":
        folder = models_folder() / name.owner / name.name
        inside = {str(path.relative_to(folder)): path for path in sorted(folder.rglob("*")) if path.is_file()}
        wanted = parts_of(chosen(inside, name.quantisation)) if name.quantisation else tuple(inside)
        files = [inside[part] for part in wanted if part in inside]
    else:
        path = resolve(text)
        path = path.parent.resolve() / path.name
        files = _inside(path) if models_folder().resolve() in path.parents else []
    there = tuple(path for path in files if path.is_file())
    if not there:
        raise _not_kept(text)
    return there


def remove(files: tuple[Path, ...]) -> None:
    """And the folders that are empty without them. Raises PredtuiError."""
    root = models_folder()
    try:
        for path in files:
            path.unlink(missing_ok=True)
    except OSError as error:
        raise PredtuiError(f"{path} cannot be removed: {error.strerror or error}.", "Check its folder.") from error
    for path in files:
        for folder in path.parents:
            if root not in folder.parents:
                break
            with suppress(OSError):
                if os.listdir(folder) == [RECORD]:
                    (folder / RECORD).unlink()
                folder.rmdir()


def sources(path: Path) -> tuple[Path, ...]:
    """The files of the model at ``path``, a GGUF file or a folder. Raises PredtuiError where there is none."""
    if path.is_dir():
        files = tuple(one for one in sorted(path.iterdir()) if one.is_file() and belongs(one.name))
        if not any(one.suffix == ".safetensors" for one in files) or not (path / "config.json").is_file():
            raise PredtuiError(f"{path} holds no safetensors with a config.json.", "Name such a folder, or a file.")
        return files
    if path.suffix.lower() != ".gguf":
        raise PredtuiError(f"{path} is no .gguf file.", "Name a GGUF file, or a folder with safetensors.")
    files = tuple(path.with_name(part) for part in parts_of(path.name))
    if missing := [one for one in files if not one.is_file()]:
        raise PredtuiError(f"{missing[0]} is missing.", "Copy all parts of the model to one folder.")
    return files


def take_in(path: Path, files: tuple[Path, ...]) -> str:
    """Keeps the model at ``path`` with its ``files``: linked where that can be, so that it takes no room, else copied.
    Returns what ``--model`` calls it. Raises PredtuiError where there is no room, or it cannot be written."""
    called = _OTHER.sub("-", title(str(path), path)).strip("-.") or "model"
    folder = models_folder() / IMPORTED / called
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for one in sorted(files, reverse=True):
            _link(one.resolve(), folder / one.name)
    except OSError as error:
        why = error.strerror or error
        raise PredtuiError(f"{folder} cannot be written: {why}.", "Set PREDTUI_MODELS_DIR.") from error
    return f"{IMPORTED}/{called}"


def _link(source: Path, final: Path) -> None:
    """Raises OSError, and PredtuiError where there is no room."""
    beside = final.with_name(f".{final.name}.part")
    beside.unlink(missing_ok=True)
    try:
        os.link(source, beside)
    except OSError:  # another disk, or one without links
        size, free = source.stat().st_size, shutil.disk_usage(final.parent).free
        if size + _SPARE > free:
            raise PredtuiError(
                f"{final.name} has {size / 1e6:,.0f} MB, and {free / 1e6:,.0f} MB are free in {final.parent}.",
                "Free some, or use it where it is: --model takes its path.",
            ) from None
        try:
            shutil.copyfile(source, beside)
        except BaseException:
            beside.unlink(missing_ok=True)
            raise
    os.replace(beside, final)


def _inside(path: Path) -> list[Path]:
    if path.is_dir():
        return [one for one in sorted(path.rglob("*")) if one.is_file()]
    return [path.with_name(part) for part in parts_of(path.name)]


def _not_kept(text: str) -> PredtuiError:
    with suppress(PredtuiError):
        if (path := find(text)).exists() or path.resolve().exists():
            return PredtuiError(f"{text} is not predtui's to remove: {path}.", "Remove it where you got it.")
    return PredtuiError(f"{text!r} is not among the models that predtui keeps.", "See them: predtui models list")
