"""Reads the weights of a CTranslate2 model folder as arrays, for what its own interface cannot do.

Format: binary version 6 of CTranslate2's ``model_spec.py``: named variables, 8-bit ones with a scale a row, then
aliases. Knows no architecture.
"""

from __future__ import annotations

import hashlib
import struct
from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from predtui.errors import PredtuiError

Array = npt.NDArray[np.float32]

_VERSION = 6
_TYPES = {0: "<f4", 1: "i1", 2: "<i2", 3: "<i4", 4: "<f2"}
_SCALE = "_scale"


def read(folder: Path, prefix: str = "") -> dict[str, Array]:
    """The variables under ``prefix`` in float32. Raises PredtuiError where ``model.bin`` is missing, broken or of
    another version or number type."""
    variables, aliases = _raw(folder, prefix)
    scaled = {name: _scaled(name, array, variables) for name, array in variables.items() if not name.endswith(_SCALE)}
    return scaled | {alias: scaled[name] for alias, name in aliases if name in scaled}


def _raw(folder: Path, prefix: str) -> tuple[dict[str, npt.NDArray[np.generic]], list[tuple[str, str]]]:
    path = folder / "model.bin"
    try:
        with path.open("rb") as file:
            return _variables(file, prefix), _aliases(file)
    except FileNotFoundError as error:
        raise PredtuiError(f"{folder} has no model.bin.", "Give the folder of a CTranslate2 model.") from error
    except (OSError, struct.error, KeyError, ValueError) as error:
        raise PredtuiError(f"{path} cannot be read: {error}.", "Convert the model again.") from error


def fingerprint(folder: Path) -> str:
    """What tells models apart and is the same for each in every precision it may be stored in: a hash of the shapes and
    values of the encoder's vectors, which are never 8-bit, in half precision. Raises PredtuiError as ``read`` does."""
    variables, _ = _raw(folder, "encoder/")
    vectors = {name: one for name, one in variables.items() if one.ndim == 1 and not name.endswith(_SCALE)}
    digest = hashlib.sha256()
    for name in sorted(vectors):
        digest.update(f"{name} {len(vectors[name])}".encode() + vectors[name].astype("<f2").tobytes())
    return digest.hexdigest()


def shapes(folder: Path) -> dict[str, tuple[int, ...]]:
    """Of all variables, by name. Raises PredtuiError as ``read`` does."""
    variables, aliases = _raw(folder, "")
    found = {name: array.shape for name, array in variables.items()}
    return found | {alias: found[name] for alias, name in aliases if name in found}


def _variables(file: BinaryIO, prefix: str) -> dict[str, npt.NDArray[np.generic]]:
    (version,) = struct.unpack("<I", file.read(4))
    if version != _VERSION:
        raise ValueError(f"binary version {version}, not {_VERSION}")
    _string(file)  # the name of the specification
    _, count = struct.unpack("<II", file.read(8))
    found: dict[str, npt.NDArray[np.generic]] = {}
    for _ in range(count):
        name = _string(file)
        (rank,) = struct.unpack("<B", file.read(1))
        shape = struct.unpack(f"<{rank}I", file.read(4 * rank))
        kind, size = struct.unpack("<BI", file.read(5))
        if name.startswith(prefix):
            data = file.read(size)
            if len(data) < size:
                raise ValueError("it is cut short")
            found[name] = np.frombuffer(data, dtype=_TYPES[kind]).reshape(shape)
        else:
            file.seek(size, 1)
    return found


def _aliases(file: BinaryIO) -> list[tuple[str, str]]:
    (count,) = struct.unpack("<I", file.read(4))
    return [(_string(file), _string(file)) for _ in range(count)]


def _string(file: BinaryIO) -> str:
    (length,) = struct.unpack("<H", file.read(2))
    return file.read(length).rstrip(b"\0").decode()


def _scaled(name: str, array: npt.NDArray[np.generic], variables: dict[str, npt.NDArray[np.generic]]) -> Array:
    scale = variables.get(name + _SCALE)
    plain = array.astype(np.float32)
    if scale is None:
        return plain
    return plain / scale.astype(np.float32).reshape(scale.shape + (1,) * (plain.ndim - scale.ndim))
