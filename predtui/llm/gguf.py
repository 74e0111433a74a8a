"""Reads the header of a GGUF file and checks that the file is whole, before an engine maps it into memory.

A file cut short would otherwise end in a bus error long after loading. Knows the format, not the models in it.
Format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""

from __future__ import annotations

import mmap
import stat
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import prod
from pathlib import Path

from predtui.errors import PredtuiError
from predtui.files import kind
from predtui.llm.parts import part_names
from predtui.llm.unfit import BEGINNING, foreign

SCALARS = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d"}
_STRING, _ARRAY = 8, 9
BLOCKS = {
    0: (1, 4), 1: (1, 2), 2: (32, 18), 3: (32, 20), 6: (32, 22), 7: (32, 24), 8: (32, 34), 9: (32, 36),
    10: (256, 84), 11: (256, 110), 12: (256, 144), 13: (256, 176), 14: (256, 210), 15: (256, 292),
    16: (256, 66), 17: (256, 74), 18: (256, 98), 19: (256, 50), 20: (32, 18), 21: (256, 110), 22: (256, 82),
    23: (256, 136), 24: (1, 1), 25: (1, 2), 26: (1, 4), 27: (1, 8), 28: (1, 8), 29: (256, 56), 30: (1, 2),
    34: (256, 54), 35: (256, 66), 39: (32, 17),
}  # fmt: skip
"""Tensor type: (weights in a block, bytes in a block). A type that is not here is left to the engine to judge."""
TYPES = {
    0: "F32", 1: "F16", 2: "Q4_0", 3: "Q4_1", 6: "Q5_0", 7: "Q5_1", 8: "Q8_0", 9: "Q8_1", 10: "Q2_K", 11: "Q3_K",
    12: "Q4_K", 13: "Q5_K", 14: "Q6_K", 15: "Q8_K", 16: "IQ2_XXS", 17: "IQ2_XS", 18: "IQ3_XXS", 19: "IQ1_S",
    20: "IQ4_NL", 21: "IQ3_S", 22: "IQ2_S", 23: "IQ4_XS", 24: "I8", 25: "I16", 26: "I32", 27: "I64", 28: "F64",
    29: "IQ1_M", 30: "BF16", 34: "TQ1_0", 35: "TQ2_0", 39: "MXFP4",
}  # fmt: skip
"""Tensor type: its name."""
_REMEDY = "Fetch or copy the file again, or choose another model with --model."
_MOST_ITEMS = 1 << 32
_DEEPEST = 4
"""Arrays within arrays. No known key has any."""
_MOST_DIMENSIONS = 4
_WHOLE = {0, 1, 2, 3, 4, 5, 7, 10, 11}
"""Types of whole numbers, and of yes and no."""
_MOST_NUMBERS = 4096
"""Of an array that is kept: there is one for each layer at most."""
_VOCABULARY = "tokenizer.ggml.tokens"
"""llama.cpp ends its process over a word that is there twice; a zero ends a word for it."""
_SIZES = ("block_count", "embedding_length", "context_length")
"""What no model has none of; llama.cpp ends its process over a zero."""


Value = str | int | float | bool
Metadata = dict[str, Value]
Arrays = dict[str, tuple[int, ...]]
Weight = tuple[str, tuple[int, ...]]
"""Type and shape of a tensor, the length of a row first."""


@dataclass(frozen=True, slots=True)
class GgufTensor:
    """Type and shape of a tensor, the length of a row first, and where its data begin and end in its file, in bytes.
    ``part``: which file that is, of those that the model is split into."""

    type: str
    shape: tuple[int, ...]
    begin: int
    end: int
    part: int = 0


@dataclass(frozen=True, slots=True)
class GgufHeader:
    """What the header says: ``metadata`` holds scalars and strings, ``arrays`` the short ones of whole numbers,
    ``tensors`` the weights by name, ``size`` is in bytes, ``weights`` the types and shapes that tensors have,
    ``parameters`` how many weights there are in all. Of a model that is split, that is of all its ``parts``."""

    metadata: Metadata
    tensors: dict[str, GgufTensor]
    size: int
    weights: frozenset[Weight]
    parameters: int
    parts: tuple[Path, ...]
    arrays: Arrays = field(default_factory=dict)


class Reader:
    """Little-endian values from a buffer; a read beyond its end raises struct.error or ValueError."""

    def __init__(self, buffer: mmap.mmap) -> None:
        self._buffer = buffer
        self.position = 0

    def scalar(self, code: str) -> int | float | bool:
        (value,) = struct.unpack_from(code, self._buffer, self.position)
        self.position += struct.calcsize(code)
        return value  # type: ignore[no-any-return]

    def count(self, code: str = "<Q") -> int:
        value = int(self.scalar(code))
        if value > _MOST_ITEMS:
            raise ValueError(f"a length of {value}")
        return value

    def offset(self) -> int:
        return int(self.scalar("<Q"))

    def string(self) -> str:
        length = self.count()
        data = self._buffer[self.position : self.position + length]
        if len(data) < length:
            raise ValueError("a string beyond the end of the file")
        self.position += length
        return data.decode("utf-8", errors="replace")

    def skip_strings(self, count: int) -> None:
        length_at, position = struct.Struct("<Q").unpack_from, self.position
        for _ in range(count):
            position += 8 + length_at(self._buffer, position)[0]
        self.position = position
        self.skip(0)

    def strings(self, count: int) -> list[bytes]:
        length_at, position, texts = struct.Struct("<Q").unpack_from, self.position, []
        for _ in range(count):
            begin = position + 8
            position = begin + length_at(self._buffer, position)[0]
            texts.append(self._buffer[begin:position])
        self.position = position
        self.skip(0)
        return texts

    def skip(self, length: int) -> None:
        self.position += length
        if self.position > len(self._buffer):
            raise ValueError("an array beyond the end of the file")


def read_header(path: Path) -> GgufHeader:
    """Header of the GGUF file at ``path``, with those of all parts where it is the first of several. Raises
    PredtuiError if one is missing, not a GGUF, damaged, or cut short."""
    first = _read_part(path)
    names = part_names(path, first.metadata)
    if len(names) < 2:
        return first
    return _joined([first, *(_read_part(path.with_name(name)) for name in names[1:])])


def _read_part(path: Path) -> GgufHeader:
    try:
        mode, size = path.stat().st_mode, path.stat().st_size
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
            raise PredtuiError(f"{path} is {kind(mode)}, not a file.", "Choose a .gguf file with --model.")
        with path.open("rb") as file:
            beginning = file.read(BEGINNING)
            if not beginning.startswith(b"GGUF"):
                raise foreign(path, beginning)
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as buffer:
                return _parse(path, buffer, size)
    except IsADirectoryError:
        raise PredtuiError(
            f"{path} is a folder, not a GGUF file.", "For a folder: --engine torch --model FOLDER"
        ) from None
    except FileNotFoundError:
        raise PredtuiError(f"There is no model file {path}.", "Choose another with --model.") from None
    except OSError as error:
        raise PredtuiError(f"The model file {path} cannot be read: {error.strerror}.", _REMEDY) from error
    except (struct.error, ValueError, OverflowError) as error:
        why = "" if isinstance(error, struct.error) else f" ({error})"
        raise PredtuiError(f"The model file {path} is damaged or cut short in its header{why}.", _REMEDY) from error


def _parse(path: Path, buffer: mmap.mmap, size: int) -> GgufHeader:
    reader = Reader(buffer)
    reader.skip(4)
    version = reader.count("<I")
    if version not in (2, 3):
        raise PredtuiError(f"{path} is GGUF version {version}; versions 2 and 3 can be read.", _REMEDY)
    count, pairs = reader.count(), reader.count()
    metadata, arrays = _metadata(reader, pairs)
    for key in (f"{metadata.get('general.architecture')}.{name}" for name in _SIZES):
        if metadata.get(key, 1) == 0:
            raise PredtuiError(f"The model file {path} is damaged: it says {key} = 0.", _REMEDY)
    tensors, needed = _tensors(reader, count, int(metadata.get("general.alignment", 32)) or 1)
    if needed > size:
        raise PredtuiError(f"The model file {path} is cut short: {size:,} of {needed:,} bytes.", _REMEDY)
    return _header(metadata, tensors, size, (path,), arrays)


def _header(
    metadata: Metadata, tensors: dict[str, GgufTensor], size: int, parts: tuple[Path, ...], arrays: Arrays
) -> GgufHeader:
    weights = frozenset((one.type, one.shape) for one in tensors.values())
    parameters = sum(prod(one.shape) for one in tensors.values())
    return GgufHeader(metadata, tensors, size, weights, parameters, parts, arrays)


def _joined(parts: Sequence[GgufHeader]) -> GgufHeader:
    """The header of a model in several files. Raises PredtuiError where they do not belong together."""
    first, tensors = parts[0], dict[str, GgufTensor]()
    for number, part in enumerate(parts):
        if part.metadata.get("split.no", number) != number:
            raise PredtuiError(f"{part.parts[0]} is another part of its model than its name says.", _REMEDY)
        tensors |= {name: replace(one, part=number) for name, one in part.tensors.items()}
    expected = first.metadata.get("split.tensors.count", len(tensors))
    if len(tensors) != expected:
        raise PredtuiError(f"The parts of {first.parts[0]} hold {len(tensors)} of {expected} tensors.", _REMEDY)
    files = tuple(part.parts[0] for part in parts)
    return _header(first.metadata, tensors, sum(part.size for part in parts), files, first.arrays)


def _metadata(reader: Reader, pairs: int) -> tuple[Metadata, Arrays]:
    """Values by key; of arrays the short ones of whole numbers."""
    metadata: Metadata = {}
    arrays: Arrays = {}
    for _ in range(pairs):
        key, kind = reader.string(), reader.count("<I")
        if key == _VOCABULARY and kind == _ARRAY:
            _vocabulary(reader)
            continue
        value = read_value(reader, kind)
        if isinstance(value, tuple):
            arrays[key] = value
        elif value is not None:
            metadata[key] = value
    return metadata, arrays


def _vocabulary(reader: Reader) -> None:
    item, length = reader.count("<I"), reader.count()
    if item != _STRING:
        raise ValueError("a vocabulary without words")
    words = [word for text in reader.strings(length) if (word := text.partition(b"\0")[0])]
    if len(set(words)) < len(words):
        raise ValueError("a word twice in its vocabulary")


def _tensors(reader: Reader, count: int, alignment: int) -> tuple[dict[str, GgufTensor], int]:
    """Tensors by name, placed in the file, and how many bytes it must have."""
    found = dict(_tensor(reader) for _ in range(count))
    data = -(-reader.position // alignment) * alignment
    tensors = {name: replace(one, begin=data + one.begin, end=data + one.end) for name, one in found.items()}
    return tensors, max((one.end for one in tensors.values()), default=data)


def read_value(reader: Reader, kind: int, depth: int = 0) -> Value | tuple[int, ...] | None:
    """One metadata value; None for an array that is passed over, as all are but short ones of whole numbers."""
    if kind == _STRING:
        return reader.string()
    if kind != _ARRAY:
        return reader.scalar(_scalar(kind))
    item, length = reader.count("<I"), reader.count()
    if item in _WHOLE and length <= _MOST_NUMBERS:
        return tuple(int(reader.scalar(SCALARS[item])) for _ in range(length))
    if item in SCALARS:
        reader.skip(length * struct.calcsize(SCALARS[item]))
        return None
    if item == _STRING:
        reader.skip_strings(length)
        return None
    if depth == _DEEPEST:
        raise ValueError("arrays within arrays")
    for _ in range(length):
        read_value(reader, item, depth + 1)
    return None


def _scalar(kind: int) -> str:
    if kind not in SCALARS:
        raise ValueError(f"an unknown value type {kind}")
    return SCALARS[kind]


def _tensor(reader: Reader) -> tuple[str, GgufTensor]:
    """Name and description of a tensor, its place counted from the beginning of the data."""
    name = reader.string()
    dimensions = reader.count("<I")
    if dimensions > _MOST_DIMENSIONS:
        raise ValueError(f"a tensor of {dimensions} dimensions")
    shape = tuple(reader.count() for _ in range(dimensions))
    kind, begin = reader.count("<I"), reader.offset()
    weights, length = BLOCKS.get(kind, (1, 0))
    return name, GgufTensor(TYPES.get(kind, str(kind)), shape, begin, begin + prod(shape) // weights * length)
