"""How a folder's weights are quantised, as its configuration says: how many numbers a stored tensor stands for, and
whether they are unpacked as they are loaded. Must not know of files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

_STORED = {"I32": 32, "U32": 32, "I16": 16, "I8": 8, "U8": 8, "F8_E4M3": 8, "F8_E5M2": 8}
"""Types that quantised numbers are stored in, and bits of one."""
_BESIDE = re.compile(
    r"(scales?|scale_inv|qzeros|g_idx|absmax|quant_map|SCB|weight_format|weight_shape|zero_point|bitsandbytes__\w+)$"
)
"""Names of tensors that are no weights, but tell how to read some."""
_UNPACKED = frozenset({"fp8", "mxfp8", "mxfp4", "compressed-tensors"})
_USUAL = {"mxfp4": 4}
"""Bits of methods that have one number of them, if it is not 8."""


@dataclass(frozen=True, slots=True)
class Quantised:
    """``method``: as the hub calls it; ``bits``: of one weight."""

    method: str
    bits: int

    @property
    def unpacked(self) -> bool:
        """Whether loading makes plain numbers of the weights. They could be computed with as they are, but kernels for
        that are fetched from the hub as they are wanted, and are code."""
        return self.method in _UNPACKED

    def numbers(self, name: str, kind: str, shape: Sequence[int]) -> int:
        """How many weights a tensor of ``kind``, in words of safetensors, stands for."""
        if _BESIDE.search(name):
            return 0
        width = _STORED.get(kind)
        return prod(shape) * width // self.bits if width else prod(shape)


def quantised(config: Mapping[str, Any]) -> Quantised | None:
    """What the configuration says; None where it says that no weights are quantised."""
    found = config.get("quantization_config")
    if not isinstance(found, Mapping):
        return None
    method = str(found.get("quant_method", "bitsandbytes" if found.get("load_in_4bit") is not None else "unknown"))
    bits = next((bits for bits in _bits(found) if 0 < bits <= 32), _USUAL.get(method, 8))
    return Quantised(method, bits)


def _bits(found: Mapping[str, Any]) -> Iterator[int]:
    """Every number of bits that is named, the one that counts first."""
    if found.get("load_in_4bit") is True:
        yield 4
    for name in ("bits", "w_bit"):
        if isinstance(found.get(name), int):
            yield found[name]
    groups = found.get("config_groups")
    for group in groups.values() if isinstance(groups, Mapping) else ():
        weights = group.get("weights") if isinstance(group, Mapping) else None
        if isinstance(weights, Mapping) and isinstance(weights.get("num_bits"), int):
            yield weights["num_bits"]
