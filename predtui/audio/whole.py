"""Whether a sound file ends before it says that it does: by the outermost layer of its form, without decoding anything.

WAV: https://www.mmsp.ece.mcgill.ca/Documents/AudioFormats/WAVE/WAVE.html; Ogg: RFC 3533, section 6; Matroska and WebM:
RFC 9559. Of other forms, FFmpeg tells that they are damaged. Must not know who plays them.
"""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

UNKNOWN = (0, 0xFFFFFFFF)
"""Lengths in a WAV file that was written as a stream."""
_PAGE = 65_307
"""Bytes of the longest Ogg page."""
_LAST_PAGE = 4
"""The flag of the page that ends a stream."""
_EBML, _SEGMENT = b"\x1a\x45\xdf\xa3", b"\x18\x53\x80\x67"


def truncated(path: Path) -> bool:
    """Whether its end is missing. Streams of unknown length do not count. Raises OSError where it cannot be read."""
    size = path.stat().st_size
    with path.open("rb") as file:
        head = file.read(12)
        if head[:4] == b"RIFF" and head[8:] == b"WAVE":
            return _wav(file, size)
        if head[:4] == b"OggS":
            return _ogg(file, size)
        if head[:4] == _EBML:
            return _matroska(file, size)
    return False


def _wav(file: BinaryIO, size: int) -> bool:
    while len(chunk := file.read(8)) == 8:
        length = int.from_bytes(chunk[4:], "little")
        if chunk[:4] == b"data":
            return length not in UNKNOWN and file.tell() + length > size
        file.seek(length + length % 2, 1)
    return False


def _ogg(file: BinaryIO, size: int) -> bool:
    """The last page that begins says that it is the last, and is whole."""
    file.seek(max(0, size - _PAGE))
    end = file.read()
    page = end[end.rfind(b"OggS") :]
    segments = page[26] if len(page) > 26 else 0
    length = 27 + segments + sum(page[27 : 27 + segments])
    return len(page) < max(27, length) or not page[5] & _LAST_PAGE


def _matroska(file: BinaryIO, size: int) -> bool:
    """The segment, which is all but the head, is as long as it says."""
    file.seek(4)
    file.seek(_number(file) or 0, 1)
    if file.read(4) != _SEGMENT:
        return False
    length = _number(file)
    return length is not None and file.tell() + length > size


def _number(file: BinaryIO) -> int | None:
    """A number of variable length; None for one that says "unknown"."""
    first = file.read(1)
    width = 9 - first[0].bit_length() if first and first[0] else 1
    rest = file.read(width - 1)
    bits = 7 * width
    value = int.from_bytes(first + rest, "big") & ((1 << bits) - 1)
    return None if value == (1 << bits) - 1 else value
