"""Some layers of a GGUF file as a file of their own: the first ones, for every type and shape of its tensors at a share
of the cost, or any.

Weights, vocabulary and metadata are the file's own; only the number of layers is another. Must not know what it is for.
"""

from __future__ import annotations

import mmap
import re
import struct
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path

from predtui.llm.gguf import BLOCKS, SCALARS, Reader, read_header, read_value

_LAYER = re.compile(r"blk\.(\d+)\.")
_UINT32 = 4
_ALIGNMENT = 32


@dataclass(frozen=True, slots=True)
class _Tensor:
    """``begin``: where its data are in its file, in bytes; ``part``: which file that is, of those that the model is
    split into; ``layer`` is -1 for one that belongs to none."""

    name: str
    shape: tuple[int, ...]
    kind: int
    begin: int
    part: int

    @property
    def layer(self) -> int:
        found = _LAYER.match(self.name)
        return int(found[1]) if found else -1

    @property
    def size(self) -> int:
        weights, length = BLOCKS[self.kind]
        return prod(self.shape) // weights * length

    def described(self, offset: int, places: Mapping[int, int]) -> bytes:
        """Its entry in a header, for data at another offset, and in the layer of another number by ``places``."""
        layer = f"blk.{places.get(self.layer)}."
        name, count = _LAYER.sub(layer, self.name).encode(), len(self.shape)
        return struct.pack(f"<Q{len(name)}sI{count}QIQ", len(name), name, count, *self.shape, self.kind, offset)


@dataclass(frozen=True, slots=True)
class _Header:
    """``magic`` with the version; ``metadata`` as it stands in the file, ``pairs`` of it, in which ``counted`` are the
    places that say how many layers there are, and ``split`` is the one that says how many files."""

    magic: bytes
    pairs: int
    metadata: bytearray
    counted: list[int]
    split: slice
    alignment: int
    tensors: list[_Tensor]

    def may_be_cut(self, layers: int) -> bool:
        """Whether a file of so many first layers would be a smaller one, and could be written."""
        last = max((tensor.layer for tensor in self.tensors), default=-1)
        return len(self.counted) == 1 and layers <= last and all(tensor.kind in BLOCKS for tensor in self.tensors)

    def cut(self, layers: Sequence[int]) -> _Header:
        """The header of a file of these layers."""
        metadata = bytearray(self.metadata)
        struct.pack_into("<I", metadata, self.counted[0], len(layers))
        metadata[self.split] = bytes(len(metadata[self.split]))
        kept = {-1, *layers}
        return replace(self, metadata=metadata, tensors=[one for one in self.tensors if one.layer in kept])


def write_excerpt(path: Path, out: Path) -> bool:
    """Write the fewest first layers of the GGUF file ``path`` in which each type and shape occurs. False, and nothing
    is written, where that would be all of them, or where the file's layers cannot be told apart.

    ``path`` is one that ``read_header`` accepts. Raises OSError where ``out`` cannot be written.
    """
    with ExitStack() as stack:
        header, parts = _opened(stack, path)
        layers = _enough(header.tensors)
        if not header.may_be_cut(layers):
            return False
        _write(out, header, range(layers), parts)
    return True


def write_layers(path: Path, out: Path, layers: Sequence[int]) -> None:
    """Write these layers of the GGUF file ``path``, in their order. Raises ValueError where they cannot be told apart,
    OSError where ``out`` cannot be written."""
    with ExitStack() as stack:
        header, parts = _opened(stack, path)
        if not header.may_be_cut(0):
            raise ValueError(f"{path}: its layers cannot be told apart")
        _write(out, header, layers, parts)


def _opened(stack: ExitStack, path: Path) -> tuple[_Header, list[mmap.mmap]]:
    """The header, with the tensors of all files of the model, and these files."""
    parts = [_mapped(stack, part) for part in read_header(path).parts]
    header = _read(parts[0], 0)
    for number, buffer in enumerate(parts[1:], 1):
        header.tensors.extend(_read(buffer, number).tensors)
    return header, parts


def _mapped(stack: ExitStack, path: Path) -> mmap.mmap:
    file = stack.enter_context(path.open("rb"))
    return stack.enter_context(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))


def _read(buffer: mmap.mmap, part: int) -> _Header:
    reader = Reader(buffer)
    reader.skip(8)
    count, pairs = reader.count(), reader.count()
    begin, alignment = reader.position, _ALIGNMENT
    counted: list[int] = []
    split = slice(0, 0)
    for _ in range(pairs):
        key, kind, at = reader.string(), reader.count("<I"), reader.position
        value = read_value(reader, kind)
        if key.endswith(".block_count") and kind == _UINT32:
            counted.append(at - begin)
        elif key == "split.count" and kind in SCALARS:
            split = slice(at - begin, reader.position - begin)
        elif key == "general.alignment" and isinstance(value, int):
            alignment = value
    metadata = bytearray(buffer[begin : reader.position])
    tensors = [_tensor(reader, part) for _ in range(count)]
    data = -(-reader.position // alignment) * alignment
    placed = [replace(tensor, begin=data + tensor.begin) for tensor in tensors]
    return _Header(bytes(buffer[:8]), pairs, metadata, counted, split, alignment, placed)


def _tensor(reader: Reader, part: int) -> _Tensor:
    """Its place counted from the beginning of the data."""
    name = reader.string()
    shape = tuple(reader.count() for _ in range(reader.count("<I")))
    return _Tensor(name, shape, reader.count("<I"), reader.offset(), part)


def _enough(tensors: Sequence[_Tensor]) -> int:
    """How many first layers hold every type and shape that there is in any."""
    first: dict[tuple[int, tuple[int, ...]], int] = {}
    for tensor in tensors:
        what = tensor.kind, tensor.shape
        first[what] = min(first.get(what, tensor.layer), tensor.layer)
    return max(1, 1 + max(first.values(), default=0))


def _write(out: Path, whole: _Header, layers: Sequence[int], parts: Sequence[mmap.mmap]) -> None:
    """These layers of the ``whole``, with the data of their tensors, which ``parts`` hold."""
    header, places = whole.cut(layers), {layer: place for place, layer in enumerate(layers)}
    offsets: list[int] = []
    end = 0
    for tensor in header.tensors:
        offsets.append(end)
        end = -(-(end + tensor.size) // header.alignment) * header.alignment
    placed = zip(header.tensors, offsets, strict=True)
    described = b"".join(tensor.described(offset, places) for tensor, offset in placed)
    with out.open("wb") as file:
        counts = struct.pack("<QQ", len(header.tensors), header.pairs)
        file.write(header.magic + counts + header.metadata + described)
        start = -(-file.tell() // header.alignment) * header.alignment
        for tensor, offset in zip(header.tensors, offsets, strict=True):
            file.seek(start + offset)
            file.write(memoryview(parts[tensor.part])[tensor.begin : tensor.begin + tensor.size])
        file.truncate(start + end)
