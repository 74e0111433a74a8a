"""What a language model may be called, taken apart: a path, a repository of the Hugging Face hub, a model of Ollama or
LM Studio, the address of a file; and what names of files tell. Looks at no disk and asks nobody.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal
from urllib.parse import unquote, urlsplit

from predtui.errors import PredtuiError

Kind = Literal["path", "hub", "ollama", "lmstudio", "url"]

_PART = r"[A-Za-z0-9_][A-Za-z0-9._-]*"
_HUB = re.compile(rf"({_PART})/({_PART})(?::([A-Za-z0-9._-]+))?")
_OLLAMA = re.compile(rf"(?:({_PART})/)?(?:({_PART})/)?({_PART})(?::([A-Za-z0-9._-]+))?")
_SPLIT = re.compile(r"(.+)-(\d{5})-of-(\d{5})\.gguf", re.IGNORECASE)
_QUANTISATION = re.compile(
    r"(?<![A-Za-z0-9])((?:UD-)?(?:I?Q\d(?:_[A-Z0-9]+)*|TQ\d_\d|BF16|F16|F32|FP16|FP32|MXFP4(?:_MOE)?))(?![A-Za-z0-9])",
    re.IGNORECASE,
)
_ASIDE = re.compile(r"mmproj|imatrix", re.IGNORECASE)
_HUBS = ("huggingface.co", "hf.co")
USUAL = ("Q4_K_M", "MXFP4", "Q4_K_S", "Q4_0", "Q5_K_M", "Q8_0")
"""Where nobody has named a quantisation: the first of these that there is, else the first of all by name."""
_LONGEST = 200


@dataclass(frozen=True, slots=True)
class Name:
    """``owner`` and ``name`` of a repository, for Ollama its registry with its namespace, and the model;
    ``quantisation``: as in the names of its files, for Ollama the tag; ``file``: a certain one of the repository. All
    are empty where they are not said, and for a path and an address."""

    kind: Kind
    text: str
    owner: str = ""
    name: str = ""
    quantisation: str = ""
    file: str = ""

    @property
    def repository(self) -> str:
        return f"{self.owner}/{self.name}"


def parse(text: str) -> Name:
    """Raises PredtuiError for an address, or a name of Ollama or LM Studio, that is none."""
    program, _, rest = text.partition(":")
    if program == "ollama":
        return _of_ollama(text, rest)
    if program == "lmstudio":
        found = _HUB.fullmatch(rest)
        if not found or ".." in rest:
            raise PredtuiError(f"{text!r} is no model of LM Studio.", "Write lmstudio:PUBLISHER/NAME.")
        return Name("lmstudio", text, found[1], found[2], found[3] or "")
    if "://" in text:
        return _of_address(text)
    found = _HUB.fullmatch(text)
    if not found or ".." in text or text.lower().endswith((".gguf", ".safetensors")):
        return Name("path", text)
    return Name("hub", text, found[1], found[2], found[3] or "")


def _of_ollama(text: str, rest: str) -> Name:
    found = _OLLAMA.fullmatch(rest)
    if not found or ".." in rest:
        raise PredtuiError(f"{text!r} is no model of Ollama.", "Write ollama:NAME or ollama:NAME:TAG, as ollama list.")
    first, second, name, tag = found.groups()
    host = first if second else "registry.ollama.ai"
    return Name("ollama", text, f"{host}/{second or first or 'library'}", name, tag or "latest")


def _of_address(text: str) -> Name:
    """An address on the hub is a file of one of its repositories, or a repository."""
    try:
        parts = urlsplit(text)
        host, path = parts.hostname or "", [unquote(part) for part in parts.path.split("/") if part]
    except ValueError as error:
        raise PredtuiError(f"{text!r} is no address: {error}.", "Copy it from the browser.") from None
    if not host:
        raise PredtuiError(f"{text!r} is no address.", "Copy it from the browser.")
    if host not in _HUBS or len(path) < 2:
        return Name("url", text)
    file = "/".join(path[4:]) if len(path) > 4 and path[2] in ("resolve", "blob") else ""
    if not _HUB.fullmatch(f"{path[0]}/{path[1]}") or (file and not safe(file)):
        raise PredtuiError(f"{text!r} is no model of the hub.", "Write OWNER/NAME.")
    return Name("hub", text, path[0], path[1], file=file)


def safe(file: str) -> bool:
    """Whether the name of a file within a repository leads nowhere else, on any system."""
    parts = file.split("/")
    return (
        0 < len(file) <= _LONGEST
        and file.isprintable()
        and not set(file) & set('\\:*?"<>|')
        and all(part not in ("", ".", "..") and not part.startswith("~") for part in parts)
    )


def quantisation(file: str) -> str:
    """As the name of a file tells it, in capitals; empty where it does not."""
    found = _QUANTISATION.findall(PurePosixPath(file).name) or _QUANTISATION.findall(file)
    return str(found[-1]).upper() if found else ""


def title(text: str, path: Path) -> str:
    """What a model is called on the screen: as Ollama calls it, or by its file or folder."""
    if text.startswith("ollama:"):
        return text.removeprefix("ollama:")
    split = _SPLIT.fullmatch(path.name)
    return split[1] if split else path.stem if path.suffix.lower() == ".gguf" else path.name


def parts_of(file: str) -> tuple[str, ...]:
    """The names of all files of a model, of which ``file`` is one; of one that is not split, itself."""
    split = _SPLIT.fullmatch(PurePosixPath(file).name)
    if not split or not 0 < int(split[3]) < 1000:
        return (file,)
    folder = PurePosixPath(file).parent
    names = (f"{split[1]}-{number:05}-of-{split[3]}.gguf" for number in range(1, int(split[3]) + 1))
    return tuple(str(folder / name) for name in names)


def first_parts(files: Iterable[str]) -> list[str]:
    """Those of ``files`` that a language model begins with, in order: no later parts, no vision projectors, no
    measurements of importance."""
    gguf = (file for file in files if file.lower().endswith(".gguf") and not _ASIDE.search(file))
    return sorted(file for file in gguf if parts_of(file)[0] == file)


def chosen(files: Iterable[str], wanted: str) -> str:
    """The first part of the model of quantisation ``wanted``, or the usual one where that is empty; "" where there is
    none. ``wanted`` may also be the name of a file."""
    begins = first_parts(files)
    if wanted:
        exact = [file for file in begins if quantisation(file) == wanted.upper() or Path(file).name == wanted]
        return min(exact, key=len, default="")
    for usual in USUAL:
        if same := [file for file in begins if quantisation(file) == usual]:
            return min(same, key=len)
    return begins[0] if begins else ""
