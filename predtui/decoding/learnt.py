"""The file in which what a draft has learnt for one target is kept: weights alone, no text. Must not know of learning.

A file that cannot be read, or is another pair's, is set aside. It is written as a whole or not at all.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from predtui.decoding.heads import digest
from predtui.decoding.online import Adapter
from predtui.errors import PredtuiError
from predtui.llm.base import LoadedModel

SUFFIX, DAMAGED, PARTIAL = ".safetensors", ".damaged", ".partial"
_FACTS = "learnt"


class DamagedError(Exception):
    """A file was set aside; the text tells a person which."""


def pair(target: LoadedModel, draft: LoadedModel) -> str:
    """Tells one pair of models from another."""
    both = [(one.name, one.parameters, one.model.vocab_size, digest(one.tokenizer)) for one in (target, draft)]
    return hashlib.sha256(repr((both, draft.abilities.hidden)).encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class File:
    """``pair``: whose it is."""

    folder: Path
    pair: str

    @property
    def path(self) -> Path:
        return self.folder / f"{self.pair}{SUFFIX}"

    def load(self, adapter: Adapter) -> int:
        """Into ``adapter``; how many replies were studied, 0 where there is no file. Raises DamagedError, with the
        adapter as it was."""
        from safetensors import safe_open

        if not self.path.is_file():
            return 0
        try:
            with safe_open(str(self.path), framework="numpy") as file:
                facts = json.loads((file.metadata() or {})[_FACTS])
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            if facts["pair"] != self.pair:
                raise ValueError("it is another pair's")
            kinds = {"weights": adapter.weights, "squares": adapter.squares}
            for kind, held in kinds.items():
                for name, weight in held.items():
                    found = tensors[f"{kind}.{name}"]
                    if found.shape != weight.shape or found.dtype != np.float32 or not np.isfinite(found).all():
                        raise ValueError(f"{name} is no such weight")
            studied = int(facts["studied"])
        except Exception as error:  # what is not as it should be fails in any way
            aside = self.path.with_name(f"{self.path.name}{DAMAGED}")
            with suppress(OSError):
                os.replace(self.path, aside)
            raise DamagedError(
                f"{self.path} cannot be used ({error}): it is set aside, and the draft learns anew."
            ) from error
        for kind, held in kinds.items():
            for name, weight in held.items():
                weight[:] = tensors[f"{kind}.{name}"]
        return studied

    def save(self, adapter: Adapter, studied: int) -> None:
        """Readable by nobody else. Raises OSError, with what was kept before as it was."""
        from safetensors.numpy import save

        tensors = {f"weights.{name}": weight for name, weight in adapter.weights.items()}
        tensors |= {f"squares.{name}": square for name, square in adapter.squares.items()}
        facts = json.dumps({"pair": self.pair, "studied": studied})
        self.folder.mkdir(parents=True, exist_ok=True)
        handle, partial = tempfile.mkstemp(dir=self.folder, prefix=f".{self.pair}", suffix=PARTIAL)  # 0600
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(save(tensors, metadata={_FACTS: facts}))
            os.replace(partial, self.path)
        except BaseException:
            with suppress(OSError):
                os.unlink(partial)
            raise


def discard(folder: Path) -> int:
    """Delete all that is kept in ``folder``, and what was being written when a process was killed; how many files that
    were. Raises PredtuiError."""
    files = [path for suffix in (SUFFIX, SUFFIX + DAMAGED, PARTIAL) for path in folder.glob(f"*{suffix}")]
    try:
        for file in files:
            file.unlink(missing_ok=True)
    except OSError as error:
        raise PredtuiError(f"{file} cannot be deleted: {error.strerror}.", "Check its folder.") from error
    return len(files)
