"""Some layers of a GGUF file as a file in the cache folder: llama.cpp runs every layer of what it has loaded.

Written once, and mapped as any other, so that its weights are read a second time, and are in memory twice. A few such
files are kept, the last used. Must not know of networks, or of which layers are worth leaving out.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from predtui.errors import PredtuiError, reason
from predtui.llm.gguf import BLOCKS, TYPES, GgufHeader
from predtui.llm.llamacpp.excerpt import write_layers
from predtui.llm.llamacpp.findings import digest
from predtui.settings import cache_folder

FOLDER = "parts"
KEPT = 8
"""Files in it."""
ALIKE = frozenset({"llama", "qwen2", "qwen3", "gemma", "granite", "internlm2", "starcoder2", "stablelm"})
"""Architectures whose layers are all of one kind: of others, llama.cpp knows from its number of which kind one is."""
_KNOWN = frozenset(TYPES[kind] for kind in BLOCKS)


def cuttable(header: GgufHeader) -> int:
    """How many layers the file's network has that can be left out; 0 where they are of several kinds, or where the
    file tells something of each."""
    kind = header.metadata.get("general.architecture")
    count = int(header.metadata.get(f"{kind}.block_count", 0))
    of_each = any(key.startswith(f"{kind}.") and len(numbers) == count for key, numbers in header.arrays.items())
    alike = kind in ALIKE and not of_each and f"{kind}.attention.sliding_window" not in header.metadata
    return count if alike and all(one.type in _KNOWN for one in header.tensors.values()) else 0


def size_of(header: GgufHeader, layers: Sequence[int]) -> int:
    """Bytes of the weights of these layers, and of those that belong to none."""
    left_out = tuple(f"blk.{layer}." for layer in {*range(cuttable(header))} - {*layers})
    return sum(one.end - one.begin for name, one in header.tensors.items() if not name.startswith(left_out))


def file_of(header: GgufHeader, layers: Sequence[int]) -> Path:
    """The file of these layers, which is written where there is none. Raises PredtuiError where it cannot be."""
    folder = cache_folder() / FOLDER
    state = [(str(path.resolve()), path.stat().st_size, path.stat().st_mtime_ns) for path in header.parts]
    path = folder / f"{digest(repr((state, [*layers])))}.gguf"
    try:
        if path.is_file():
            os.utime(path)
        else:
            folder.mkdir(parents=True, exist_ok=True)
            _write(header.parts[0], path, layers)
        _forget(folder)
    except (OSError, ValueError) as error:
        size = f"{size_of(header, layers) / 2**20:,.0f} MB"
        why = reason(error) if isinstance(error, OSError) else str(error)
        raise PredtuiError(
            f"The layers that draft cannot be written to {folder} ({size}): {why}.",
            "Make room there, name another folder in PREDTUI_CACHE_DIR, or choose another --drafter.",
        ) from error
    return path


def _write(whole: Path, path: Path, layers: Sequence[int]) -> None:
    """As a whole or not at all."""
    handle, partial = tempfile.mkstemp(dir=path.parent, prefix=".part")
    os.close(handle)
    try:
        write_layers(whole, Path(partial), layers)
        os.replace(partial, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(partial)
        raise


def _forget(folder: Path) -> None:
    """All but the files that were used last; one that is still mapped stays until it is closed."""
    with suppress(OSError):
        for path in sorted(folder.glob("*.gguf"), key=lambda one: one.stat().st_mtime)[:-KEPT]:
            path.unlink()
