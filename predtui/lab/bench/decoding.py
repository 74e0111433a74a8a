"""DuoDecoding's tables and figures for any pair of models: ways to decode, prompt by prompt, in one process.

Each method finds both models as if new, so that its time holds the prompt's evaluation. Must not know how a method
works.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Any

from predtui.decoding import datastore
from predtui.decoding.base import DecodingStatistics
from predtui.decoding.duo import Iteration
from predtui.decoding.sampler import sampler
from predtui.errors import PredtuiError
from predtui.lab.bench import calibrate, decoding_figures, streams
from predtui.lab.bench.decoding_methods import VANILLA, Bench, Runner
from predtui.lab.bench.plots import svg
from predtui.lab.bench.report import command, console, machine
from predtui.lab.bench.streams import Dialogue
from predtui.lab.bench.watch import Gather, Watch
from predtui.llm.base import LoadedModel, common_prefix
from predtui.llm.load import load
from predtui.models.shipped import POCKET, place
from predtui.predgen.prompts import system_prompt
from predtui.predgen.window import Window
from predtui.registry import DRAFTERS
from predtui.state.events import Message

LENGTHS = (32, 128, 512, 896, 2048)
"""Contexts of figure 1, as far as both models reach."""
AT_ONCE = 8
"""Tokens drafted and verified there."""
REPEATS = 31
"""Forwards that a median of figure 1, and of c, is taken over."""

Methods = Mapping[str, Callable[[Bench, str], Runner]]


@dataclass(frozen=True, slots=True)
class Plan:
    """What to measure. ``tasks``: dialogues by name."""

    methods: Methods
    tasks: Mapping[str, Sequence[Dialogue]]
    target: str = POCKET
    draft: str = "pocket-draft"
    target_engine: str = "llamacpp"
    draft_engine: str = "llamacpp"
    threads: int = 0
    max_tokens: int = 128
    temperature: float = 0.0
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Record:
    """One reply by one method; ``ttft_ms`` None where its tokens come all at once. ``divergence``: index of the first
    token that is not vanilla's, -1 for none; ``logit_gap``: how far apart the target holds the two."""

    task: str
    method: str
    prompt: str
    tokens: int
    seconds: float
    ttft_ms: float | None
    forwards: int
    proposed: int
    accepted: int
    divergence: int
    logit_gap: float


def tasks(files: Sequence[str], limit: int, seed: int) -> dict[str, list[Dialogue]]:
    """The dialogues of each file by its stem, and of what ships by its name."""
    named = ((Path(file).stem, file) for file in files or [POCKET])
    return {name: streams.dialogues(file, limit, seed) for name, file in named}


class Run:
    """Models and methods, ready to reply."""

    def __init__(self, plan: Plan) -> None:
        """Raises PredtuiError for a model that cannot be loaded or a method that cannot work with it."""
        threads = plan.threads or None
        self.plan = plan
        self.iterations: dict[tuple[str, str], list[Iteration]] = {}
        self._task = ""
        self.target = load(plan.target, plan.target_engine, threads)
        self.draft = load(plan.draft, plan.draft_engine, threads)
        self.lengths = [
            n for n in LENGTHS if n + AT_ONCE <= min(m.model.context_size for m in (self.target, self.draft))
        ]
        target_s, draft_s = (calibrate.forward(m.model, 1, self.lengths[0], REPEATS) for m in (self.target, self.draft))
        self.c = max(1, round(target_s / draft_s))
        self._window = Window(self.target, system_prompt(self.target.parameters), plan.max_tokens)
        bench = Bench(
            self.target,
            self.draft,
            (_folder(plan.target), _folder(plan.draft)),
            sampler(plan.temperature, seed=plan.seed),
            _store(plan, self.target),
            self.c,
            lambda name, iteration: self.iterations.setdefault((self._task, name), []).append(iteration),
        )
        self._runners = {name: make(bench, name) for name, make in plan.methods.items()}

    def records(self) -> Iterator[Record]:
        """Every turn of every task by every method."""
        for task, dialogues in self.plan.tasks.items():
            for number, dialogue in enumerate(dialogues):
                yield from self._dialogue(task, dialogue, number)

    def _dialogue(self, task: str, dialogue: Dialogue, shift: int) -> Iterator[Record]:
        """Every turn by every method, in an order that ``shift`` turns; vanilla's reply becomes history for all."""
        self._task, history = task, dialogue.history
        for stream in dialogue.turns:
            prompt = self._window.tokens(history, stream.text)
            limit = min(self.plan.max_tokens, self.target.model.context_size - len(prompt))
            names = list(self._runners)
            names = names[shift % len(names) :] + names[: shift % len(names)]
            replies = {name: self._reply(name, prompt, limit) for name in names}
            plain = replies[VANILLA][0]
            for name, (tokens, record) in replies.items():
                divergence, gap = self._compared(prompt, plain, tokens)
                record = replace(record, task=task, method=name, prompt=stream.text)
                yield replace(record, divergence=divergence, logit_gap=gap)
            said = Message("user", stream.text), Message("assistant", self.target.tokenizer.decode(plain))
            history = (*history, *said)

    def figure_1(self) -> dict[str, dict[str, float]]:
        """Milliseconds of drafting and of verifying ``AT_ONCE`` tokens by length of the context."""
        rows: dict[str, dict[str, float]] = {}
        for known in self.lengths:
            drafting = AT_ONCE * calibrate.forward(self.draft.model, 1, known, REPEATS)
            verifying = calibrate.forward(self.target.model, AT_ONCE, known, REPEATS)
            rows.setdefault(f"draft {AT_ONCE} tokens", {})[str(known)] = round(1000 * drafting, 4)
            rows.setdefault(f"verify {AT_ONCE} tokens", {})[str(known)] = round(1000 * verifying, 4)
        return rows

    def close(self) -> None:
        for runner in self._runners.values():
            runner.close()
        self.draft.model.close()
        self.target.model.close()

    def _reply(self, name: str, prompt: list[int], limit: int) -> tuple[list[int], Record]:
        runner = self._runners[name]
        before = replace(runner.statistics) if runner.statistics else DecodingStatistics()
        self.target.model.forget()
        self.draft.model.forget()
        tokens: list[int] = []
        start = first = time.perf_counter()
        for token in runner.generate(prompt, limit):
            if not tokens:
                first = time.perf_counter()
            tokens.append(token)
        seconds, after = time.perf_counter() - start, runner.statistics or before
        return tokens, Record(
            task="",
            method="",
            prompt="",
            tokens=len(tokens),
            seconds=seconds,
            ttft_ms=round(1000 * (first - start), 4) if runner.streams else None,
            forwards=after.forwards - before.forwards,
            proposed=after.proposed - before.proposed,
            accepted=after.accepted - before.accepted,
            divergence=-1,
            logit_gap=0.0,
        )

    def _compared(self, prompt: list[int], plain: list[int], tokens: list[int]) -> tuple[int, float]:
        if tokens == plain:
            return -1, 0.0
        shared = common_prefix(plain, tokens)
        if shared == min(len(plain), len(tokens)):
            return shared, 0.0
        row = self.target.model.forward([*prompt, *plain[:shared]]).logits[-1]
        return shared, round(abs(float(row[plain[shared]] - row[tokens[shared]])), 4)


def _folder(model: str) -> Path:
    path = place(model)
    return path if path.is_dir() else path.parent


def _store(plan: Plan, target: LoadedModel) -> Path | None:
    """The datastore of retrieval, made of the pocket corpus where there is none for the pocket model."""
    if not any("datastore" in DRAFTERS[name].needs for name in plan.methods if name in DRAFTERS):
        return None
    folder = datastore.default_folder()
    try:
        datastore.load(folder, target)
    except PredtuiError:
        if plan.target != POCKET:
            raise
        from predtui.lab.training import rest

        datastore.write(rest.build([POCKET], target), folder)
    return folder


def rows(records: Sequence[Record]) -> list[dict[str, Any]]:
    """A row for each task and method: Table 1. ``tokens_per_s`` over all tokens and all seconds; ``speedup`` and
    ``relative_ttft`` against vanilla on the same task. ``decode_speedup`` leaves out what every method pays alike, the
    evaluation of the prompt: from the seconds of both, vanilla's until its first token, and from the tokens that one.
    """
    groups: dict[tuple[str, str], list[Record]] = {}
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


def _speed(group: Sequence[Record], prompts: float) -> float:
    """Tokens a second after the first token of each reply, the prompts of all having taken so many seconds."""
    seconds = sum(record.seconds for record in group) - prompts
    return (sum(record.tokens for record in group) - len(group)) / seconds if seconds > 0 else 0.0


def _row(task: str, method: str, group: Sequence[Record]) -> dict[str, Any]:
    tokens, forwards, proposed = (sum(getattr(r, key) for r in group) for key in ("tokens", "forwards", "proposed"))
    firsts = [record.ttft_ms for record in group if record.ttft_ms is not None]
    return {
        "task": task,
        "method": method,
        "n": len(group),
        "tokens_per_s": round(tokens / sum(record.seconds for record in group), 2),
        "ttft_ms": round(fmean(firsts), 4) if firsts else None,
        "acceptance_rate": round(sum(r.accepted for r in group) / proposed, 4) if proposed else None,
        "tokens_per_forward": round(tokens / forwards, 4) if forwards else None,
        "identical_share": round(fmean(record.divergence < 0 for record in group), 4),
        "largest_gap": max(record.logit_gap for record in group),
        "ms_per_iteration": round(1000 * sum(r.seconds for r in group) / forwards, 4) if forwards else None,
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


def result(plan: Plan, gather: Gather[Record] = list) -> dict[str, Any]:
    """All that is written as JSON, of the replies that are gathered. Raises PredtuiError as ``Run``."""
    run = Run(plan)
    try:
        figure_1 = run.figure_1()
        records = _whole(gather(run.records()), len(plan.methods))
        return {
            "command": command(),
            "machine": machine(plan.threads),
            "models": [f"{m.name} in {m.engine} on the {m.device}" for m in (run.target, run.draft)],
            "c": run.c,
            "rows": rows(records),
            "iterations": iterations(run.iterations),
            "figure_1": figure_1,
            "diverged": [asdict(record) for record in records if record.divergence >= 0],
        }
    finally:
        run.close()


def _whole(records: list[Record], methods: int) -> list[Record]:
    """Without the last turn, where not every method has replied to it."""
    return records[: len(records) // methods * methods]


def told(record: Record) -> str:
    """A reply in a line."""
    same = "identical" if record.divergence < 0 else f"differs at {record.divergence} (gap {record.logit_gap})"
    speed = record.tokens / record.seconds if record.seconds else 0.0
    made = f"{speed:7.1f} tokens/s, {record.tokens:>3} in {record.forwards} forwards"
    return f"{record.method:<12} {made}  {same}  {record.prompt[:60]}"


def main(plan: Plan, json_path: Path | None = None, plot: Path | None = None) -> int:
    """Measure, print, write the JSON and the charts; the exit status."""
    screen = console()
    turns = sum(len(dialogue.turns) for dialogues in plan.tasks.values() for dialogue in dialogues)
    watch = Watch(turns * len(plan.methods), "replies", told)
    found = result(plan, watch)
    for table in decoding_figures.tables(found):
        screen.print(table)
    for case in found["diverged"]:
        place = f"{case['method']} differs at token {case['divergence']} by a gap of {case['logit_gap']}"
        screen.print(f"{place}: {case['prompt'][:80]}", soft_wrap=True)
    if plot is not None:
        plot.write_text(svg(decoding_figures.charts(found)), encoding="utf-8")
    return watch.leave(found, json_path)
