"""One reply by one method, and replies as rows: what DuoDecoding's tables are made of. Must not know how they came."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from predtui.decoding.costs.iterations import Iteration
from predtui.lab.bench.decoding_methods import VANILLA


@dataclass(frozen=True, slots=True)
class ReplyRecord:
    """One reply by one method; ``ttft_ms`` None where its tokens come all at once. ``drafting``: seconds of it in the
    draft; ``drafts`` and ``depths`` as in ``DecodingStatistics``. ``divergence``: index of the first
    token that is not vanilla's, -1 for none; ``logit_gap``: how far apart the target holds the two. ``right``: whether
    it answers the prompt; None where no answer is known."""

    task: str
    method: str
    prompt: str
    tokens: int
    seconds: float
    ttft_ms: float | None
    forwards: int
    proposed: int
    accepted: int
    drafting: float
    drafts: int
    depths: tuple[int, ...]
    divergence: int
    logit_gap: float
    right: bool | None = None


def rows(records: Sequence[ReplyRecord]) -> list[dict[str, Any]]:
    """A row for each task and method: Table 1. ``tokens_per_s`` over all tokens and all seconds; ``speedup`` and
    ``relative_ttft`` against vanilla on the same task. ``decode_speedup`` leaves out what every method pays alike, the
    evaluation of the prompt: from the seconds of both, vanilla's until its first token, and from the tokens that one.
    """
    groups: dict[tuple[str, str], list[ReplyRecord]] = {}
    for record in records:
        groups.setdefault((record.task, record.method), []).append(record)
    table = [_row(task, method, group) for (task, method), group in groups.items()]
    plain = {row["task"]: row for row in table if row["method"] == VANILLA}
    for row in table:
        base = plain[row["task"]]
        row["speedup"] = round(row["tokens_per_s"] / base["tokens_per_s"], 3)
        row["relative_ttft"] = None if row["ttft_ms"] is None else round(row["ttft_ms"] / base["ttft_ms"], 3)
        prompts = base["n"] * base["ttft_ms"] / 1000
        speeds = [_speed(groups[row["task"], method], prompts) for method in (row["method"], VANILLA)]
        row["decode_speedup"] = round(speeds[0] / speeds[1], 3) if speeds[1] else None
    return table


def _speed(group: Sequence[ReplyRecord], prompts: float) -> float:
    """Tokens a second after the first token of each reply, the prompts of all having taken so many seconds."""
    seconds = sum(record.seconds for record in group) - prompts
    return (sum(record.tokens for record in group) - len(group)) / seconds if seconds > 0 else 0.0


def _row(task: str, method: str, group: Sequence[ReplyRecord]) -> dict[str, Any]:
    tokens, forwards, proposed = (sum(getattr(r, key) for r in group) for key in ("tokens", "forwards", "proposed"))
    seconds, drafting, drafts = (sum(getattr(r, key) for r in group) for key in ("seconds", "drafting", "drafts"))
    depths = [sum(counts) for counts in zip(*(record.depths for record in group), strict=True)]
    judged = [record.right for record in group if record.right is not None]
    firsts = [record.ttft_ms for record in group if record.ttft_ms is not None]
    return {
        "task": task,
        "method": method,
        "n": len(group),
        "tokens_per_s": round(tokens / seconds, 2),
        "ttft_ms": round(fmean(firsts), 4) if firsts else None,
        "acceptance_rate": round(sum(r.accepted for r in group) / proposed, 4) if proposed else None,
        "tokens_per_forward": round(tokens / forwards, 4) if forwards else None,
        "accepted_by_depth": [round(count / drafts, 4) for count in depths] if drafts else None,
        "draft_share": round(drafting / seconds, 4),
        "identical_share": round(fmean(record.divergence < 0 for record in group), 4),
        "right_share": round(fmean(judged), 4) if judged else None,
        "largest_gap": max(record.logit_gap for record in group),
        "ms_per_iteration": round(1000 * seconds / forwards, 4) if forwards else None,
    }


def iterations(seen: Mapping[tuple[str, str], Sequence[Iteration]]) -> list[dict[str, Any]]:
    """Of each task and variant of Duo: mean milliseconds of an iteration and its parts, how much of the shorter part
    ran beside the longer one, sequences, and Table 4: shares of (first token of the likeliest sequence right or not,
    one sequence or several)."""
    table = []
    for (task, method), found in seen.items():
        wall, target, draft = (1000 * fmean(getattr(i, key) for i in found) for key in ("wall", "target", "draft"))
        judged = Counter(
            (f"actual {'=1' if i.first else '>1'}", f"predicted {'=1' if i.sequences == 1 else '>1'}") for i in found
        )
        table.append(
            {
                "task": task,
                "method": method,
                "n": len(found),
                "wall_ms": round(wall, 4),
                "target_ms": round(target, 4),
                "draft_ms": round(draft, 4),
                "overlap": round((target + draft - wall) / min(target, draft), 4),
                "tokens": round(fmean(i.tokens for i in found), 4),
                "sequences": dict(sorted(Counter(i.sequences for i in found).items())),
                "table_4": {", ".join(key): round(n / len(found), 4) for key, n in sorted(judged.items())},
            }
        )
    return table


def as_line(record: ReplyRecord) -> str:
    """A reply in a line."""
    same = "identical" if record.divergence < 0 else f"differs at {record.divergence} (gap {record.logit_gap})"
    speed = record.tokens / record.seconds if record.seconds else 0.0
    made = f"{speed:7.1f} tokens/s, {record.tokens:>3} in {record.forwards} forwards"
    return f"{record.method:<12} {made}  {same}  {record.prompt[:60]}"
