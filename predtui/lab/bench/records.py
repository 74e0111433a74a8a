"""One turn by one method as a row, and rows as a table: what PredGen's tables and figures are made of. Pure; must not
know how a turn was played.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, get_args

import numpy as np

from predtui.lab.bench.methods import BASELINE
from predtui.lab.bench.paired import Pair, gains
from predtui.lab.bench.paired import mean as _mean
from predtui.state.events import Outcome


@dataclass(frozen=True, slots=True)
class TurnRecord:
    """One turn by one method. Milliseconds count from the arrival of the final prompt, None = never came.
    ``logit_gap``: where the reply is not plain decoding's, how far apart their two tokens are there. The synthesiser's
    forwards, and the positions evaluated in them, are those after the end of the input and before the first sound;
    None without a network. ``input_forwards``: of the target before the end of the input; None where nobody counted.
    ``dialogue``, from 0, and ``round`` name the turn for all methods; ``forward_ms``: of one token, on that machine.
    ``foretold``: whether the whole prompt was answered before its last word was whole."""

    method: str
    model: str
    seed: int
    dialogue: int
    round: int
    prompt: str
    reply: str
    outcome: str
    ttfs_ms: float | None
    nfetfs: int
    audio_latency_ms: float | None
    identical: bool
    logit_gap: float
    right: bool | None
    input_forwards: int | None
    foreseen: bool | None
    """Whether the prompt was answered before its last letter came; None where nothing was to be seen before."""
    tokens: int
    generated: int
    speech_forwards: int | None
    speech_positions: int | None
    forward_ms: float
    foretold: bool

    @property
    def turn(self) -> tuple[str, int, int, int]:
        """What is the same for all methods of a turn."""
        return self.model, self.seed, self.dialogue, self.round

    @property
    def replied(self) -> bool:
        """Whether anything was said that had a reply."""
        return self.ttfs_ms is not None


def rows(records: Sequence[TurnRecord]) -> list[dict[str, Any]]:
    """A row for each model and method, in the order of their first turns; means where the name says nothing else, over
    the turns that have the figure: where all was taken back there is no reply, and nothing to wait for.

    ``paired.gains`` hold a method against the baseline, None without one. ``wasted_token_share``: of all tokens chosen,
    those that were not committed. ``accuracy``: of the turns with a known answer.
    """
    plain = {record.turn: record.audio_latency_ms for record in records if record.method == BASELINE}
    groups: dict[tuple[str, str], list[TurnRecord]] = {}
    for record in records:
        groups.setdefault((record.model, record.method), []).append(record)
    return [_row(model, method, group, plain) for (model, method), group in groups.items()]


def _row(model: str, method: str, group: Sequence[TurnRecord], plain: Mapping[Any, float | None]) -> dict[str, Any]:
    heard = [record.audio_latency_ms for record in group if record.audio_latency_ms is not None]
    written = [record.ttfs_ms for record in group if record.ttfs_ms is not None]
    forwards = [record.nfetfs for record in group if record.replied]
    known = [record.right for record in group if record.right is not None]
    generated = sum(record.generated for record in group)
    pairs = [
        Pair(record.audio_latency_ms, without, record.round == 1)
        for record in group
        if record.audio_latency_ms is not None and (without := plain.get(record.turn)) is not None
    ]
    forward_ms = max(record.forward_ms for record in group)
    return {
        "model": model,
        "method": method,
        "n": len(group),
        "ttfs_ms": _mean(written),
        "nfetfs": _mean(forwards),
        "audio_latency_ms": _mean(heard),
        "p50_ms": round(median(heard), 3) if heard else None,
        "p95_ms": round(float(np.percentile(heard, 95)), 3) if heard else None,
        "nfetfs_1_share": _mean([count <= 1 for count in forwards]),
        "forward_ms": forward_ms,
        **gains(pairs, forward_ms),
        "foretold_share": _mean([record.foretold for record in group]),
        "identical_share": _mean([record.identical for record in group]),
        "largest_gap": max(record.logit_gap for record in group),
        "input_forwards": _mean([record.input_forwards for record in group if record.input_forwards is not None]),
        "foreseen_share": _mean([record.foreseen for record in group if record.foreseen is not None]),
        "wasted_token_share": round(1 - sum(r.tokens for r in group) / generated, 4) if generated else None,
        "accuracy": _mean(known),
        "speech_forwards": _mean([record.speech_forwards for record in group if record.speech_forwards is not None]),
        "speech_positions": _mean([record.speech_positions for record in group if record.speech_positions is not None]),
        **_speech_by_outcome(group),
    }


def _speech_by_outcome(group: Sequence[TurnRecord]) -> dict[str, float | None]:
    """The synthesiser's forwards and positions where the first sentence held, held in part, fell: what holds is not
    made again, and of what holds in part the shared beginning is not read again."""
    found: dict[str, float | None] = {}
    for outcome in get_args(Outcome):
        made = [record for record in group if record.outcome == outcome]
        forwards = [record.speech_forwards for record in made if record.speech_forwards is not None]
        read = [record.speech_positions for record in made if record.speech_positions is not None]
        found[f"speech_turns_{outcome}"] = len(forwards) or None
        found[f"speech_forwards_{outcome}"] = _mean(forwards)
        found[f"speech_positions_{outcome}"] = _mean(read)
    return found


def histograms(records: Sequence[TurnRecord]) -> dict[str, dict[int, dict[int, int]]]:
    """Turns by method, round of the dialogue and NFETFS (PredGen, figure 3b)."""
    counts: dict[str, dict[int, Counter[int]]] = {}
    for record in (record for record in records if record.replied):
        counts.setdefault(record.method, {}).setdefault(record.round, Counter())[record.nfetfs] += 1
    return {
        method: {number: dict(sorted(counted.items())) for number, counted in rounds.items()}
        for method, rounds in counts.items()
    }
