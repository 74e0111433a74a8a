"""What was found out about llama.cpp on this machine, remembered in the cache folder for as long as it holds.

Must not know what was tested. Nothing here fails: what cannot be read or written is not remembered.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import json
import logging
import os
import platform
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from predtui.errors import reason
from predtui.files import read_json, replace_text
from predtui.settings import cache_folder

_MOST = 100
_log = logging.getLogger("predtui.selftest")


@dataclass(frozen=True, slots=True)
class Findings:
    """A file of the cache folder: of circumstances, which a digest is the key of, and of what was found in these."""

    name: str

    def read(self) -> dict[str, Any]:
        """Circumstances' key: circumstances and verdict, oldest first. Nothing where the file makes no sense."""
        try:
            entries = read_json(cache_folder() / self.name)
        except (OSError, ValueError):
            return {}
        if not isinstance(entries, dict):
            return {}
        return {key: entry for key, entry in entries.items() if isinstance(entry, dict)}

    def write(self, entry: dict[str, Any]) -> None:
        """Add an entry, replacing the file at once. Where that cannot be done, it is tested again the next time."""
        key = key_of({name: value for name, value in entry.items() if name != "verdict"})
        others = [(other, held) for other, held in self.read().items() if other != key]
        path = cache_folder() / self.name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            replace_text(path, json.dumps(dict([*others[1 - _MOST :], (key, entry)]), indent=1))
        except OSError as error:
            _log.warning("%s cannot be written, so what was tested is not remembered: %s", path, reason(error))


def llama_build() -> str:
    """Version of the bindings, and size and time of each library."""
    spec = importlib.util.find_spec("llama_cpp")
    if spec is None or spec.origin is None:
        return "none"
    folder = Path(os.environ.get("LLAMA_CPP_LIB_PATH") or Path(spec.origin).parent / "lib")
    files = sorted(path for path in folder.glob("*") if path.is_file()) if folder.is_dir() else []
    state = [(path.name, path.stat().st_size, path.stat().st_mtime_ns) for path in files]
    return f"{importlib.metadata.version('llama-cpp-python')} {digest(repr((str(folder), state)))}"


def processor() -> str:
    """Its name, and a digest of what it can do, which virtual machines tell apart where names do not."""
    stable = ("vendor_id", "cpu family", "model", "stepping", "flags", "Features", "isa", "uarch", "CPU ")
    try:
        first = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").split("\n\n")[0]
    except OSError:
        return f"{platform.machine()} {platform.processor()}"
    lines = [line for line in first.splitlines() if line.startswith(stable)]
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{(names or [platform.machine()])[0]} {digest(repr(lines))}"


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def key_of(circumstances: dict[str, str]) -> str:
    return digest(json.dumps(circumstances, sort_keys=True))
