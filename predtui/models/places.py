"""Where models lie on this machine, and which file or folder a name means: those of predtui's own, of the Hugging Face
cache, of Ollama and of LM Studio, none of them copied. Reads layouts and no weights; fetches nothing.

Layouts: https://huggingface.co/docs/huggingface_hub/guides/manage-cache; Ollama's manifests are OCI's.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from predtui.errors import PredtuiError
from predtui.files import read_json, resolve
from predtui.models import curated
from predtui.models.names import Name, chosen, first_parts, parse, parts_of, quantisation, title
from predtui.settings import models_folder

Form = Literal["gguf", "folder"]
WEIGHTS = "application/vnd.ollama.image.model"
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_DEEPEST = 4
"""Folders within folders that are looked into."""
_MOST = 5000
"""Files of one place that are looked at."""
INCOMING = ".incoming"
"""In the folder of pulled models: what is still being received."""


@dataclass(frozen=True, slots=True)
class Found:
    """``model``: as the setting ``llm.model`` takes it; ``title``: as the screen calls it; ``path``: its folder, or the
    first of its files; ``size`` of all of them in bytes; ``quantisation``: where it is told; ``place``: whose it is."""

    model: str
    title: str
    path: Path
    size: int
    quantisation: str
    place: str


def hugging_face() -> Path:
    """The cache of the Hugging Face libraries, which need not exist."""
    for variable in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"):
        if named := os.environ.get(variable):
            return Path(os.path.expandvars(named)).expanduser()
    above = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    home = os.environ.get("HF_HOME") or os.path.join(above, "huggingface")
    return Path(os.path.expandvars(home)).expanduser() / "hub"


def ollama() -> tuple[Path, ...]:
    """Where Ollama may keep models, the user's first."""
    if named := os.environ.get("OLLAMA_MODELS"):
        return (Path(named).expanduser(),)
    return (Path("~/.ollama/models").expanduser(), Path("/usr/share/ollama/.ollama/models"))


def lm_studio() -> tuple[Path, ...]:
    return (Path("~/.lmstudio/models").expanduser(), Path("~/.cache/lm-studio/models").expanduser())


def places(folder: str = "") -> list[tuple[str, Path]]:
    """All places that are looked at: whose, and where. ``folder``: as ``llm.folder`` names one."""
    named = [("llm.folder", _folder(folder))] if folder else []
    return [
        *named,
        ("predtui", models_folder()),
        ("Hugging Face", hugging_face()),
        *(("Ollama", path) for path in ollama()),
        *(("LM Studio", path) for path in lm_studio()),
    ]


def find(text: str, form: Form = "gguf") -> Path:
    """The file or folder that ``text`` means. A path need not exist; what is named otherwise is there. ``form``: what
    is looked for where a repository may have both. Raises PredtuiError with what was looked for, and how to get it."""
    if not text.strip():
        raise PredtuiError("No model is named.", "Name a file, a folder or a model: predtui models list")
    name = parse(curated.source(text))
    if name.kind == "ollama":
        return _of_ollama(name)
    if name.kind == "url":
        return _of_address(name.text)
    path = resolve(text)
    return path if name.kind == "path" or path.exists() else _of_repository(text, name, form)


def in_folder(text: str, folder: str) -> str:
    """The path of the model that ``text`` names within ``folder``, as ``llm.folder`` names it; else ``text``."""
    if not folder:
        return text
    try:
        root, name = resolve(folder), parse(text)
        if resolve(text).exists():
            return text
    except PredtuiError:
        return text
    if name.kind in ("hub", "lmstudio"):
        return str(_within(root / name.owner / name.name, name, "gguf") or text)
    within = (root / text, root / f"{text}.gguf") if name.kind == "path" else ()
    return next((str(path) for path in within if path.exists()), text)


def pulled(text: str) -> Path | None:
    """The folder of a repository that predtui has pulled, by its name or the hub's."""
    with suppress(PredtuiError):
        name = parse(curated.source(text))
        folder = models_folder() / name.owner / name.name
        if name.kind == "hub" and folder.is_dir():
            return folder
    return None


def kept_at(address: str) -> Path:
    """Where the file of an address is kept."""
    parts = urlsplit(address)
    return models_folder() / (parts.hostname or "") / Path(parts.path).name


def inventory(folder: str = "") -> list[Found]:
    """Every language model of every place, ``folder`` as ``llm.folder`` names one; a place that cannot be read has
    none. Those of a place are in the order of their titles."""
    found: dict[tuple[Path, str], Found] = {}
    for whose, root in places(folder):
        within = {"Hugging Face": _all_of_cache, "Ollama": _all_of_ollama}.get(whose, _all_below)
        with suppress(OSError):
            for one in sorted(within(root, whose), key=lambda one: one.title.lower()):
                found.setdefault((one.path.resolve(), one.model if whose == "Ollama" else ""), one)
    return list(found.values())


def size_of(path: Path) -> int:
    """Bytes of a folder's files, or of a file and its other parts."""
    own = path.iterdir() if path.is_dir() else (path.parent / part for part in parts_of(path.name))
    return sum(part.stat().st_size for part in own if part.is_file())


def _folder(named: str) -> Path:
    try:
        return resolve(named)
    except PredtuiError:
        return Path(named)


def _of_address(address: str) -> Path:
    path = kept_at(address)
    if not path.is_file():
        raise PredtuiError(f"{address} is not on this machine.", f"Get it: predtui models pull {address}")
    return path


def _of_repository(text: str, name: Name, form: Form) -> Path:
    others = False
    for folder in _repositories(name):
        if found := _within(folder, name, form):
            return found
        others = others or folder.is_dir()
    wanted = f" as {name.quantisation or name.file}" if name.quantisation or name.file else ""
    if others and form == "gguf" and not wanted:
        raise PredtuiError(f"{name.repository} is here, but holds no GGUF file.", "For a folder: --engine torch")
    if others:
        raise PredtuiError(f"{name.repository} is here, but not{wanted or ' whole'}.", _get(text, name))
    looked = "LM Studio's folders" if name.kind == "lmstudio" else "any model folder or the Hugging Face cache"
    raise PredtuiError(f"There is no file {text}, nor a model {name.repository} in {looked}.", _get(text, name))


def _get(text: str, name: Name) -> str:
    return f"Get it: predtui models pull {text.removeprefix('lmstudio:')}; all there are: predtui models list"


def _repositories(name: Name) -> Iterator[Path]:
    """The folders that a repository may have."""
    roots = lm_studio() if name.kind == "lmstudio" else (models_folder(), *lm_studio())
    for root in roots:
        yield root / name.owner / name.name
    if name.kind == "hub":
        yield from _snapshots(hugging_face() / f"models--{name.owner}--{name.name}")


def _snapshots(repository: Path) -> Iterator[Path]:
    """Of a repository in the Hugging Face cache: its main branch first, then the others."""
    main = ""
    with suppress(OSError, ValueError):
        main = (repository / "refs" / "main").read_text(encoding="ascii").strip()
    with suppress(OSError):
        yield from sorted((repository / "snapshots").iterdir(), key=lambda folder: (folder.name != main, folder.name))


def _within(folder: Path, name: Name, form: Form) -> Path | None:
    """The model of a repository's folder, all parts of which are there."""
    if form == "folder":
        return folder if (folder / "config.json").is_file() else None
    files = [str(path.relative_to(folder)) for path in _files(folder)]
    first = name.file if name.file in files else "" if name.file else chosen(files, name.quantisation)
    whole = bool(first) and set(parts_of(first)) <= set(files)
    return folder / first if whole else None


def _files(root: Path, depth: int = _DEEPEST) -> Iterator[Path]:
    """Files below ``root``, those that cannot be read aside."""
    seen = 0
    base = len(root.parts)
    for above, folders, files in os.walk(root):
        here = Path(above)
        if len(here.parts) - base >= depth:
            folders.clear()
        folders[:] = [name for name in sorted(folders) if not name.startswith(".")]
        for name in files:
            if (seen := seen + 1) > _MOST:
                return
            if (here / name).is_file():
                yield here / name


def _all_below(root: Path, whose: str) -> Iterator[Found]:
    """Models that lie in folders: one of GGUF files, or one that is a model itself."""
    files = {str(path.relative_to(root)): path for path in _files(root)}
    for first in first_parts(files):
        if set(parts_of(first)) <= set(files):
            yield _found(files[first], str(files[first]), whose)
    for name, path in files.items():
        beside = f"{name.removesuffix(path.name)}model"
        weights = any(other.startswith(beside) and other.endswith(".safetensors") for other in files)
        if path.name == "config.json" and weights and _speaks(path):
            yield _found(path.parent, str(path.parent), whose)


def _all_of_cache(root: Path, whose: str) -> Iterator[Found]:
    for repository in sorted(root.glob("models--*--*")):
        _, owner, name = repository.name.split("--", 2)
        for snapshot in list(_snapshots(repository))[:1]:
            for one in _all_below(snapshot, whose):
                known = f"{owner}/{name}" + (f":{one.quantisation}" if one.quantisation and one.path.is_file() else "")
                form: Form = "gguf" if one.path.is_file() else "folder"
                called = known if _means(known, form) == one.path else one.model
                yield Found(called, title(called, one.path), one.path, one.size, one.quantisation, whose)


def _all_of_ollama(root: Path, whose: str) -> Iterator[Found]:
    for manifest in sorted((root / "manifests").glob("*/*/*/*")):
        host, namespace, name, tag = manifest.parts[-4:]
        official = [] if (host, namespace) == ("registry.ollama.ai", "library") else [namespace]
        theirs = [host] if host != "registry.ollama.ai" else []
        model = f"ollama:{'/'.join([*theirs, *official, name])}:{tag}"
        with suppress(PredtuiError, OSError):
            path = _blob(root, manifest)
            yield Found(model, title(model, path), path, path.stat().st_size, _told(root, manifest), whose)


def _of_ollama(name: Name) -> Path:
    for root in ollama():
        manifest = root / "manifests" / name.owner / name.name / name.quantisation
        try:
            manifest.stat()
        except PermissionError as error:
            raise PredtuiError(
                f"{manifest} cannot be read: {error.strerror}.",
                "Let your user read Ollama's folder, or copy the model.",
            ) from None
        except OSError:
            continue
        return _blob(root, manifest)
    known = f"{name.name}:{name.quantisation}"
    where = " or ".join(str(root) for root in ollama())
    raise PredtuiError(f"Ollama has no model {known} in {where}.", f"Get it: ollama pull {known}")


def _blob(root: Path, manifest: Path) -> Path:
    """The weights that a manifest names. Raises PredtuiError where it names none, or they are missing."""
    remedy = f"Get it again: ollama pull {manifest.parts[-2]}:{manifest.parts[-1]}"
    try:
        layers = read_json(manifest)["layers"]
        digests = [str(layer["digest"]) for layer in layers if layer["mediaType"] == WEIGHTS]
    except (OSError, ValueError, KeyError, TypeError):
        raise PredtuiError(f"{manifest} is no manifest of Ollama's, or damaged.", remedy) from None
    if len(digests) != 1 or not _DIGEST.fullmatch(digests[0]):
        raise PredtuiError(f"{manifest} names no GGUF file, but weights of another kind.", "Choose another model.")
    path = root / "blobs" / digests[0].replace(":", "-")
    if not path.is_file():
        raise PredtuiError(f"The weights of {manifest.parts[-2]}:{manifest.parts[-1]}, {path}, are missing.", remedy)
    return path


def _told(root: Path, manifest: Path) -> str:
    """The quantisation, as the configuration that the manifest names tells it."""
    try:
        digest = str(read_json(manifest)["config"]["digest"])
        if not _DIGEST.fullmatch(digest):
            return ""
        told: Any = read_json(root / "blobs" / digest.replace(":", "-"))
        return str(told.get("file_type") or "")
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return ""


def _found(path: Path, model: str, whose: str) -> Found:
    return Found(model, title(model, path), path, size_of(path), quantisation(str(path.name)), whose)


def _means(model: str, form: Form) -> Path | None:
    try:
        return find(model, form)
    except PredtuiError:
        return None


def _speaks(config: Path) -> bool:
    """Whether it is that of a language model."""
    try:
        return any(str(name).endswith("ForCausalLM") for name in read_json(config).get("architectures") or ())
    except (OSError, ValueError, AttributeError, TypeError):
        return False
