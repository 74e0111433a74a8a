"""What forwards cost, made up."""

from __future__ import annotations

from predtui.decoding.costs.curve import Curve


def curve(one: float, more: float) -> Curve:
    """``one`` second for a token, ``more`` for each beyond it."""
    costs = Curve()
    for size in (1, 2, 100):
        costs.add(size, one + more * (size - 1))
    return costs
