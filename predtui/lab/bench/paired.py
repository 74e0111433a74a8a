"""Turns with speculation held against the same turns without: what it brings on average, and whom it costs time.

Pure; must not know how a turn was played.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from predtui.state.events import Continuation, Event, Transcript


@dataclass(frozen=True, slots=True)
class Pair:
    """Milliseconds from the end of the input to the first sound, of one turn ``ours`` and ``plain``; ``first``: of its
    conversation, which a newly opened app begins."""

    ours: float
    plain: float
    first: bool


def gains(pairs: Sequence[Pair], forward_ms: float) -> dict[str, Any]:
    """``speedup``: mean of plain over mean of ours, None without a pair; ``first_turn_speedup`` of first turns alone.
    ``slower_turns``: those in which ours came later by more than ``forward_ms``, one forward; ``most_lost_ms``: by how
    much it came later at most, negative where it never did."""
    lost = [pair.ours - pair.plain for pair in pairs]
    return {
        "speedup": _ratio(pairs),
        "first_turn_speedup": _ratio([pair for pair in pairs if pair.first]),
        "slower_turns": sum(late > forward_ms for late in lost) if pairs else None,
        "most_lost_ms": round(max(lost), 3) if pairs else None,
    }


def _ratio(pairs: Sequence[Pair]) -> float | None:
    ours = sum(pair.ours for pair in pairs)
    return round(sum(pair.plain for pair in pairs) / ours, 3) if ours else None


def foretold(events: Iterable[Event]) -> bool:
    """Whether the reply to the whole prompt had its first sentence before the last word was whole. ``events``: what was
    heard in a turn and what was guessed, in any order."""
    told = list(events)
    final = next((event for event in told if isinstance(event, Transcript) and event.final), Transcript())
    words = final.text.split()
    whole = min(
        (event.time for event in told if isinstance(event, Transcript) and event.text.split() == words), default=0
    )
    return any(
        isinstance(event, Continuation) and event.prompt == final.prompt and event.time < whole for event in told
    )


def mean(values: Sequence[float]) -> float | None:
    return round(fmean(values), 4) if values else None
