"""Matrix products with 8-bit weights by torch's oneDNN kernels, for decoders that do not fit into a CPU's cache: each
takes as long as reading its matrix, and an 8-bit one is a quarter of a 32-bit one. Must not know what is computed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from predtui.asr.ct2_weights import Array

_ZERO = 128
"""The unsigned 8-bit value that stands for 0."""


class Int8Linear:
    """``x @ weight.T`` for ``weight`` [rows, columns], rounded to 8 bits with a scale a row, which changes nothing in
    one that CTranslate2 stored so; ``x`` is rounded with one scale, as large as it takes.

    Raises RuntimeError or AttributeError where this torch has no such kernels.
    """

    def __init__(self, weight: Array) -> None:
        scales = np.maximum(np.abs(weight).max(axis=1), np.float32(1e-12)) / np.float32(127)
        rounded = torch.from_numpy(np.round(weight / scales[:, None]).astype(np.int8))
        self._packed: Any = torch.ops.onednn.qlinear_prepack(rounded, [1, weight.shape[1]])
        self._scales = torch.from_numpy(scales)
        self._zeros = torch.zeros(len(weight), dtype=torch.int64)

    def __call__(self, x: Array) -> Array:
        """[.., columns] to [.., rows]."""
        flat = torch.from_numpy(np.ascontiguousarray(x)).reshape(-1, x.shape[-1])
        scale = max(float(flat.abs().max()), 1e-12) / 127
        rounded = (flat / scale).round_().add_(_ZERO).to(torch.uint8)
        product = torch.ops.onednn.qlinear_pointwise(
            rounded, scale, _ZERO, self._packed, self._scales, self._zeros, None, 1.0, 0, torch.float32, "none", [], ""
        )
        result: Array = product.numpy().reshape(*x.shape[:-1], -1)
        return result
