"""The largest of many values, without sorting all: a vocabulary has up to a quarter of a million tokens, and a sampler
or a tree of drafts asks for a few of them at every token. Must not know what the values mean.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

_DEEP = 64
"""Values that are compared with each other at once, and of which the largest stands for all."""
_MANY = 4
"""Groups of so many values there have to be for each one that is sought, if looking at groups is to save time."""

Places = npt.NDArray[np.intp]


def largest(values: npt.NDArray[np.floating[Any]], count: int) -> Places:
    """Indices of the ``count`` largest of ``values`` [n], the largest first; of equal ones, the first. All where there
    are fewer."""
    size = values.size
    if count >= size:
        return np.argsort(-values, kind="stable")
    if count < 1:
        return np.empty(0, np.intp)
    groups = size // _DEEP
    sample = values
    if groups > _MANY * count:  # so many groups hold one at least as large as the bar, and so the bar is low enough
        sample = values[: groups * _DEEP].reshape(_DEEP, groups).max(axis=0)
    bar = np.partition(sample, sample.size - count)[sample.size - count]
    found = np.flatnonzero(~(values < bar))  # all of them, where the bar is no number
    return found[np.argsort(-values[found], kind="stable")[:count]]
