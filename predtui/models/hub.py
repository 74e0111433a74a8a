"""Asks the Hugging Face hub what there is, and what a repository holds, by huggingface_hub, which is imported then.

Must not be asked unless a person has said so. Receives no weights, and takes nothing that the hub says for granted.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeVar
from urllib.parse import quote

from predtui.errors import PredtuiError, described
from predtui.models.connection import NO_NETWORK, check, host_of, look_up, why
from predtui.models.names import safe
from predtui.system.quiet import OFFLINE, allow_download

TIMEOUT_S = 15.0
TRIES = 3
_AGAIN = (408, 425, 429, 500, 502, 503, 504)
_COMMIT = re.compile(r"[0-9a-f]{40}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_LARGEST = 1 << 42
"""Bytes of a file."""
_MOST_FILES = 10_000
_SENSELESS = (ValueError, TypeError, KeyError, AttributeError, IndexError, RecursionError)
"""What reading an answer that makes no sense raises."""

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class HubFile:
    """``size`` in bytes, ``digest`` as ``download.Wanted`` has it."""

    name: str
    size: int
    digest: str


@dataclass(frozen=True, slots=True)
class Repository:
    """``commit``: that its files are of; ``licence`` and ``task`` as its owner names them, or ""; ``gated``: whether
    its terms must be accepted first."""

    name: str
    commit: str
    licence: str
    gated: bool
    task: str
    files: tuple[HubFile, ...]


@dataclass(frozen=True, slots=True)
class Hit:
    """``downloads`` of the last month."""

    name: str
    downloads: int
    licence: str
    gated: bool


def must_be_online(offline: bool = False) -> None:
    """Raises PredtuiError where nobody is to be asked: ``offline``, or by the environment that predtui has found."""
    if offline or OFFLINE:
        why = "--offline" if offline else "HF_HUB_OFFLINE"
        raise PredtuiError(f"Nothing is fetched: {why} forbids it.", "What is here: predtui models list")


class Hub:
    """``endpoint``: another hub than the environment names; ``wait``: seconds, between two tries."""

    def __init__(self, endpoint: str = "", wait: Callable[[float], object] = time.sleep) -> None:
        allow_download()
        from huggingface_hub import HfApi, constants, get_token

        logging.getLogger("huggingface_hub").setLevel(logging.ERROR)  # what it tries again is told once it is given up
        self._endpoint = (endpoint or constants.ENDPOINT).rstrip("/")
        check(self._endpoint, near=True)
        self._api, self._get_token, self._wait = HfApi(endpoint=self._endpoint), get_token, wait

    def repository(self, name: str) -> Repository:
        """What ``name`` holds now. Raises PredtuiError."""
        look_up(self._endpoint)
        return self._asked(
            lambda: _read(name, self._api.model_info(name, files_metadata=True, timeout=TIMEOUT_S)), name
        )

    def search(self, words: str, most: int = 20) -> list[Hit]:
        """Repositories of GGUF files, those that most people fetch first. Raises PredtuiError."""
        look_up(self._endpoint)

        def ask() -> list[Hit]:
            found = self._api.list_models(search=words, filter="gguf", sort="downloads", limit=most)
            return [_hit(info) for info in islice(found, most)]

        return self._asked(ask, "what was asked", tries=1)  # the library itself tries a search again

    def address(self, repository: Repository, file: str) -> str:
        return f"{self._endpoint}/{repository.name}/resolve/{repository.commit}/{quote(file)}"

    def token(self, address: str) -> str:
        """The user's, from where huggingface_hub keeps it, for an address of this hub; "" for any other."""
        if not address.startswith(f"{self._endpoint}/"):
            return ""
        return self._asked(self._get_token, "a token") or ""

    def _asked(self, ask: Callable[[], Answer], name: str, tries: int = TRIES) -> Answer:
        tried = 0
        while True:
            try:
                return ask()
            except Exception as error:  # which ones, depends on the HTTP library that huggingface_hub uses
                tried += 1
                if tried == tries or not _may_pass(error):
                    raise _told(error, name, host_of(self._endpoint)) from error
            self._wait(2.0 ** (tried - 1))


def _read(name: str, info: Any) -> Repository:
    """Raises ValueError, or another of ``_SENSELESS``, for what makes no sense."""
    commit = str(info.sha)
    if not _COMMIT.fullmatch(commit):
        raise ValueError(f"it names no commit of {name}")
    files = (_file(sibling) for sibling in islice(info.siblings or (), _MOST_FILES))
    task = str(info.pipeline_tag or "")
    return Repository(name, commit, _licence(info), bool(info.gated), task, tuple(file for file in files if file))


def _file(sibling: Any) -> HubFile | None:
    """None for a file that cannot be fetched: one of no size, or whose name leads elsewhere."""
    name, size = sibling.rfilename, sibling.size
    if not isinstance(name, str) or not safe(name) or type(size) is not int or not 0 <= size < _LARGEST:
        return None
    if sibling.lfs is not None:
        sha256 = str(sibling.lfs["sha256"])
        return HubFile(name, size, f"sha256:{sha256}" if _SHA256.fullmatch(sha256) else "")
    blob = str(sibling.blob_id)
    return HubFile(name, size, f"git:{blob}" if _COMMIT.fullmatch(blob) else "")


def _hit(info: Any) -> Hit:
    downloads = info.downloads if type(info.downloads) is int else 0
    return Hit(str(info.id), downloads, _licence(info), bool(info.gated))


def _licence(info: Any) -> str:
    tags = [str(tag) for tag in info.tags or ()]
    return next((tag.removeprefix("license:")[:60] for tag in tags if tag.startswith("license:")), "")


def _status(error: Exception) -> int:
    """Of the answer that raised it; 0 where there was none."""
    status = getattr(getattr(error, "response", None), "status_code", 0)
    return status if type(status) is int else 0


def _may_pass(error: Exception) -> bool:
    status = _status(error)
    return status in _AGAIN if status else not isinstance(error, (*_SENSELESS, PredtuiError))


def _told(error: Exception, name: str, host: str) -> PredtuiError:
    """The error in one line."""
    status = _status(error)
    if isinstance(error, PredtuiError):
        return error
    if status == 403 or type(error).__name__ == "GatedRepoError":
        return PredtuiError(
            f"{host} gives {name} only to those who have accepted its terms ({status or 403}).",
            f"Accept them at {host}/{name}, then: hf auth login, or set HF_TOKEN.",
        )
    if status == 401:
        return PredtuiError(
            f"{host} has no {name}, or keeps it from you (401).",
            "Check the name (predtui models search WORDS), or log in: hf auth login, or set HF_TOKEN.",
        )
    if status in (404, 410):
        return PredtuiError(f"{host} has no {name} ({status}).", "Look for it: predtui models search WORDS")
    if status in _AGAIN:
        said = "asks to be left alone for a while" if status == 429 else "is in trouble"
        return PredtuiError(f"{host} {said} ({status}).", "Try again in some minutes.")
    if status:
        return PredtuiError(f"{host} answered {status} when asked for {name}.", "Try again later.")
    if isinstance(error, _SENSELESS):
        return PredtuiError(f"What {host} says of {name} makes no sense ({described(error)}).", "Is HF_ENDPOINT right?")
    return PredtuiError(f"{host} cannot be reached: {why(error)}.", NO_NETWORK)
