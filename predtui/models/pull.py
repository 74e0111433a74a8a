"""Pulling a model: which files of a repository it takes, what it will cost, and having them, all or none.

Weights and what belongs to them alone: no pickles, no code. Knows where models are kept; must not know who asks.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from glob import escape
from pathlib import Path, PurePosixPath

from predtui.errors import PredtuiError
from predtui.files import read_json, replace_text
from predtui.models import curated
from predtui.models.connection import Client, PassingError, check, host_of
from predtui.models.download import Download, Report, Token, Wanted, no_token
from predtui.models.hub import Hub, HubFile, Repository
from predtui.models.names import Name, chosen, first_parts, parse, parts_of, quantisation, safe
from predtui.models.places import INCOMING, kept_at
from predtui.models.voices import ONNX, VOICES, files_of
from predtui.settings import models_folder

_BESIDE = frozenset({
    "added_tokens.json", "chat_template.jinja", "chat_template.json", "config.json", "generation_config.json",
    "merges.txt", "model.safetensors.index.json", "preprocessor_config.json", "special_tokens_map.json",
    "tokenizer.json", "tokenizer.model", "tokenizer_config.json", "vocab.json", "vocab.txt", "vocabulary.json",
    "vocabulary.txt",
})  # fmt: skip
"""What is fetched beside weights: data, all of it."""
_SAFETENSORS = re.compile(r"model(-\d{5}-of-\d{5})?\.safetensors")
_CTRANSLATE2 = "model.bin"
"""CTranslate2's weights; no pickle, which is looked at before they are kept."""
_PICKLES = (".bin", ".pt", ".pth", ".ckpt", ".pkl", ".pickle")
_OTHERWISE = {
    "feature-extraction": "turns texts into vectors",
    "sentence-similarity": "compares texts",
    "text-ranking": "ranks texts",
    "text-classification": "sorts texts into classes",
    "text-to-image": "makes pictures",
}
"""Tasks of GGUF files that are not to talk with."""
_SHA256 = re.compile(r"[0-9a-f]{64}")
RECORD = ".digests.json"
"""In a repository's folder: which version of each file is there."""


@dataclass(frozen=True, slots=True)
class Offer:
    """What a pull would fetch. ``model``: as ``--model`` takes it once it is here; ``licence``: "" where nobody tells
    it; ``page``: where to read about it; ``folder``: where it will lie; ``files``: those that are to come; ``here``:
    the names of those that are here already."""

    model: str
    licence: str
    page: str
    gated: bool
    folder: Path
    files: tuple[Wanted, ...]
    here: tuple[str, ...]

    @property
    def size(self) -> int:
        """Bytes to come."""
        return sum(file.size for file in self.files)

    @property
    def checked(self) -> bool:
        """Whether every file comes with a digest."""
        return all(file.digest for file in self.files)


def offer_of(text: str, hub: Callable[[], Hub], client: Client, sha256: str = "") -> Offer:
    """What ``predtui models pull TEXT`` would fetch. ``sha256``: of the file of an address, where somebody has told it.
    Raises PredtuiError for what cannot be had, or is not to be."""
    name = parse(curated.source(text))
    if name.kind == "url":
        return _offer_of_address(name.text, client, sha256)
    if name.kind != "hub":
        raise PredtuiError(f"{text!r} is no name of a model that can be fetched.", _remedy(name))
    if sha256:
        raise PredtuiError("--sha256 is for the address of a file: the hub tells its own.", "Leave it out.")
    asked = hub()
    repository = asked.repository(name.repository)
    files = selected(repository, name)
    folder = models_folder() / name.owner / name.name
    known = recorded(folder)
    coming = [f for f in files if _size(folder / f.name) != f.size or known.get(f.name) != f.digest]
    staged = models_folder() / INCOMING / f"{name.owner}--{name.name}"
    wanted = tuple(
        Wanted(asked.address(repository, file.name), staged / file.name, file.size, file.digest) for file in coming
    )
    quant = quantisation(files[0].name) if files[0].name.lower().endswith(".gguf") else ""
    itself = text in curated.proposals() or name.file.endswith(ONNX)
    model = text if itself else f"{name.repository}:{quant}" if quant else name.repository
    page = f"{host_of(asked.address(repository, ''))}/{name.repository}"
    here = tuple(file.name for file in files if file not in coming)
    return Offer(model, repository.licence, page, repository.gated, folder, wanted, here)


def belongs(file: str) -> bool:
    """Whether a file of a repository is one that is fetched with safetensors."""
    return bool(_SAFETENSORS.fullmatch(file)) or file in _BESIDE


def selected(repository: Repository, name: Name) -> tuple[HubFile, ...]:
    """The files of a repository that make the model that is named. Raises PredtuiError."""
    files = {file.name: file for file in repository.files}
    gguf = [file for file in files if file.lower().endswith(".gguf")]
    taken = files_of(files, name)
    if not taken:
        taken = _gguf(repository, name, gguf) if gguf or name.file else _folder(repository, name, files)
    if missing := [file for file in taken if file not in files]:
        raise PredtuiError(f"{name.repository} lacks {missing[0]}.", "Choose another: predtui models search WORDS")
    if bare := [file for file in taken if not files[file].digest]:
        raise PredtuiError(f"The hub tells no checksum of {bare[0]}, and it is not fetched.", "Choose another model.")
    return tuple(files[file] for file in taken)


def _gguf(repository: Repository, name: Name, gguf: list[str]) -> tuple[str, ...]:
    if repository.task in _OTHERWISE:
        raise PredtuiError(
            f"{name.repository} {_OTHERWISE[repository.task]}, and does not talk.", "Choose a language model."
        )
    begins = first_parts(gguf)
    if name.file:
        if parts_of(name.file)[0] not in begins:
            raise PredtuiError(f"{name.file} is no language model of {name.repository}.", _have(begins))
        return parts_of(name.file)
    if not begins:
        raise PredtuiError(
            f"{name.repository} holds no language model, but a vision projector or the like.", "Choose another model."
        )
    first = chosen(gguf, name.quantisation)
    if not first:
        raise PredtuiError(f"{name.repository} has no {name.quantisation}.", _have(begins))
    return parts_of(first)


def _have(begins: list[str]) -> str:
    told = sorted({quantisation(file) or PurePosixPath(file).name for file in begins})
    return f"It has {', '.join(told)}." if told else "Look for another: predtui models search WORDS"


def _folder(repository: Repository, name: Name, files: dict[str, HubFile]) -> tuple[str, ...]:
    if name.quantisation:
        raise PredtuiError(
            f"{name.repository} holds no GGUF files.", f"Leave :{name.quantisation} out, or search for a GGUF of it."
        )
    weights = [file for file in files if _SAFETENSORS.fullmatch(file)]
    if not weights and _CTRANSLATE2 in files and any(file.startswith("vocabulary.") for file in files):
        weights = [_CTRANSLATE2]
    if not weights or "config.json" not in files:
        pickled = next((file for file in files if file.endswith(_PICKLES)), "")
        why = f", but pickles ({pickled}), which can run any code, and are not fetched" if pickled else ""
        raise PredtuiError(f"{name.repository} holds no GGUF and no safetensors{why}.", "Search for a GGUF of it.")
    return (*sorted(weights), *sorted(_BESIDE & files.keys()))


def _offer_of_address(address: str, client: Client, sha256: str) -> Offer:
    check(address, near=True)
    path = kept_at(address)
    if path.suffix.lower() != ".gguf" or not safe(path.name):
        raise PredtuiError(f"{address} is not the address of a .gguf file.", "Only those are fetched from anywhere.")
    if sha256 and not _SHA256.fullmatch(sha256.lower()):
        raise PredtuiError(f"{sha256!r} is no SHA-256: it has 64 hexadecimal digits.", "Copy it again.")
    try:
        with client.open(address) as response:
            size, validator = response.length, response.validator
    except PassingError as error:
        raise PredtuiError(f"{error}.", "Is there a network? Try again later.") from error
    if size <= 0:
        raise PredtuiError(f"{host_of(address)} does not tell how large the file is.", "Fetch it in another way.")
    digest = f"sha256:{sha256.lower()}" if sha256 else ""
    there = _size(path) == size and (not digest or recorded(path.parent).get(path.name) == digest)
    staged = models_folder() / INCOMING / host_of(address).replace(":", "-") / path.name
    files = () if there else (Wanted(address, staged, size, digest, validator),)
    return Offer(address, "", host_of(address), False, path.parent, files, (path.name,) if there else ())


class Pull:
    """Has an offer's files: all of them, or none that a name would find. ``cancel`` may be called on any thread."""

    def __init__(self, offer: Offer, client: Client, token: Token = no_token) -> None:
        self._offer = offer
        self._download = Download(offer.files, client, token)

    def cancel(self) -> None:
        self._download.cancel()

    def run(self, report: Report, inspect: Callable[[Path], object] = lambda path: None) -> bool:
        """Whether the model is here; False where it was cancelled, and what has come stays to be gone on with.
        ``inspect``: raises PredtuiError for the first file of a model that is none. Raises PredtuiError."""
        from filelock import FileLock, Timeout

        if not self._offer.files:
            return True
        folder = self._offer.files[0].path.parent
        lock = models_folder() / INCOMING / "lock"
        try:
            lock.parent.mkdir(parents=True, exist_ok=True)
            with FileLock(str(lock), timeout=0):
                if not self._download.run(report):
                    return False
                self._look(inspect)
                self._move()
        except Timeout:
            raise PredtuiError("Another predtui is fetching a model.", "Wait for it, and try again.") from None
        except OSError as error:
            raise PredtuiError(
                f"{folder} cannot be written: {error.strerror or error}.", "Set PREDTUI_MODELS_DIR."
            ) from error
        return True

    def _look(self, inspect: Callable[[Path], object]) -> None:
        """Raises PredtuiError; then nothing of the file is left."""
        names = [str(file.path) for file in self._offer.files]
        for file in self._offer.files:
            try:
                _look_at(file.path)
                if str(file.path) in first_parts(names) and len(parts_of(str(file.path))) <= len(names):
                    inspect(file.path)
            except PredtuiError:
                file.path.unlink(missing_ok=True)
                raise

    def _move(self) -> None:
        """To where names look: what a model begins with comes last."""
        root, record = self._root(), recorded(self._offer.folder)
        digests = {file.path: file.digest for file in self._offer.files}
        staged = sorted(digests, reverse=True)
        for path in sorted(staged, key=lambda path: path.name == "config.json"):
            inside = path.relative_to(root)
            final = self._offer.folder / inside
            final.parent.mkdir(parents=True, exist_ok=True)
            os.replace(path, final)
            record[inside.as_posix()] = digests[path]
        replace_text(self._offer.folder / RECORD, json.dumps(record, indent=1))
        for path in staged:
            for former in path.parent.glob(f".{escape(path.name[:100])}.*.part"):
                former.unlink(missing_ok=True)
        for folder in sorted({path.parent for path in staged} | {root}, reverse=True):
            with suppress(OSError):
                folder.rmdir()

    def _root(self) -> Path:
        """The folder in which the offer's files lie as they will in theirs."""
        above = models_folder() / INCOMING
        return above / self._offer.files[0].path.relative_to(above).parts[0]


def recorded(folder: Path) -> dict[str, str]:
    """The digest of each file of a repository's folder, as it was when it came."""
    try:
        return {str(name): str(digest) for name, digest in read_json(folder / RECORD).items()}
    except (OSError, ValueError, AttributeError):
        return {}


def _look_at(path: Path) -> None:
    """Raises PredtuiError for weights that do not begin as their kind does."""
    with path.open("rb") as file:
        head = file.read(16)
    first = int.from_bytes(head[:8], "little")
    begins = {
        ".gguf": head[:4] == b"GGUF",
        ".safetensors": head[8:9] == b"{" and first <= path.stat().st_size - 8,
        ".bin": path.parent.name == VOICES or int.from_bytes(head[:4], "little") in range(1, 100),
        ONNX: head[:1] == b"\x08",
    }
    if not begins.get(path.suffix.lower(), True):
        raise PredtuiError(f"{path.name} is not what its name says, and is not kept.", "Choose another model.")


def _remedy(name: Name) -> str:
    if name.kind == "ollama":
        return f"Get it by Ollama: ollama pull {name.text.removeprefix('ollama:')}"
    if name.kind == "lmstudio":
        return f"Its repository: predtui models pull {name.repository}"
    return "Write OWNER/NAME or OWNER/NAME:QUANT, the address of a .gguf file, or a name of predtui models list."


def _size(path: Path) -> int:
    """-1 where there is no such file."""
    try:
        return path.stat().st_size if path.is_file() else -1
    except OSError:
        return -1
