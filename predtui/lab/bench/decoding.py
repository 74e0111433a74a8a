"""DuoDecoding's tables and figures for any pair of models: ways to decode, prompt by prompt, in one process.

Each method finds both models as if new, so that its time holds the prompt's evaluation. Must not know how a method
works.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from predtui.clock import Clock, RealClock, VirtualClock
from predtui.decoding.base import DecodingStatistics
from predtui.decoding.costs.iterations import Iteration
from predtui.decoding.costs.spans import DRAFT
from predtui.decoding.memory import MB
from predtui.decoding.sampler import sampler
from predtui.files import resolve
from predtui.lab import profiles
from predtui.lab.bench import calibrate, decoding_figures, decoding_spec_bench, streams
from predtui.lab.bench.decoding_methods import VANILLA, MethodParts, ReadyMethod, chosen
from predtui.lab.bench.decoding_records import ReplyRecord, as_line, iterations, rows
from predtui.lab.bench.plots import svg
from predtui.lab.bench.report import command, console, machine
from predtui.lab.bench.shared_model import lent
from predtui.lab.bench.shared_store import store_for
from predtui.lab.bench.streams import Dialogue
from predtui.lab.bench.watch import Gather, Watch
from predtui.lab.commands.options import Json, Markdown, MaxTokens, Plot, Seed, Threads
from predtui.lab.profiles import HardwareProfile
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

Methods = Mapping[str, Callable[[MethodParts, str], ReadyMethod]]


@dataclass(frozen=True, slots=True)
class DecodingBench:
    """What to measure. ``tasks``: dialogues by name. ``profile``: the machine whose virtual time the forwards take, and
    all else takes none; None: this one, in real time."""

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
    profile: HardwareProfile | None = None
    draft_memory: int = 0
    heads: str = ""


def tasks(files: Sequence[str], limit: int, seed: int) -> dict[str, list[Dialogue]]:
    """The dialogues of each file by its stem, and of what ships by its name."""
    named = ((Path(file).stem, file) for file in files or [POCKET])
    return {name: streams.dialogues(file, limit, seed) for name, file in named}


class Run:
    """Models and methods, ready to reply."""

    def __init__(self, bench: DecodingBench) -> None:
        """Raises PredtuiError for a model that cannot be loaded or a method that cannot work with it."""
        threads = bench.threads or None
        self.bench = bench
        self.iterations: dict[tuple[str, str], list[Iteration]] = {}
        self._task = ""
        where = bench.profile
        self.clock: Clock = VirtualClock() if where else RealClock()
        self.target = load(bench.target, bench.target_engine, threads)
        self.draft = load(bench.draft, bench.draft_engine, threads)
        self._models = [loaded.model for loaded in (self.target, self.draft)]
        if where:
            self.target = lent(self.target, where.forward_seconds, self.clock, heads=where.draft_seconds)
            self.draft = lent(self.draft, where.draft_seconds, self.clock)
        self.lengths = [
            n for n in LENGTHS if n + AT_ONCE <= min(m.model.context_size for m in (self.target, self.draft))
        ]
        target_s, draft_s = (self._forward_s(m, 1, self.lengths[0]) for m in (self.target, self.draft))
        self.c = max(1, round(target_s / draft_s))
        self._window = Window(self.target, system_prompt(self.target.parameters), bench.max_tokens)
        needs = {need for name in bench.methods if name in DRAFTERS for need in DRAFTERS[name].needs}
        parts = MethodParts(
            self.target,
            self.draft,
            (_folder(bench.target), _folder(bench.draft)),
            sampler(bench.temperature, seed=bench.seed),
            store_for(needs, bench.target, self.target),
            self.c,
            lambda name, iteration: self.iterations.setdefault((self._task, name), []).append(iteration),
            self.clock,
            bench.draft_memory * MB or None,
            resolve(bench.heads) if bench.heads else None,
        )
        self._runners = {name: make(parts, name) for name, make in bench.methods.items()}

    def records(self) -> Iterator[ReplyRecord]:
        """Every turn of every task by every method."""
        for task, dialogues in self.bench.tasks.items():
            for number, dialogue in enumerate(dialogues):
                yield from self._dialogue(task, dialogue, number)

    def _dialogue(self, task: str, dialogue: Dialogue, shift: int) -> Iterator[ReplyRecord]:
        """Every turn by every method, in an order that ``shift`` turns; vanilla's reply becomes history for all."""
        self._task, history = task, dialogue.history
        for stream in dialogue.turns:
            prompt = self._window.tokens(history, stream.text)
            limit = min(self.bench.max_tokens, self.target.model.context_size - len(prompt))
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
            drafting = AT_ONCE * self._forward_s(self.draft, 1, known)
            verifying = self._forward_s(self.target, AT_ONCE, known)
            rows.setdefault(f"draft {AT_ONCE} tokens", {})[str(known)] = round(1000 * drafting, 4)
            rows.setdefault(f"verify {AT_ONCE} tokens", {})[str(known)] = round(1000 * verifying, 4)
        return rows

    def close(self) -> None:
        for runner in self._runners.values():
            runner.close()
        for model in reversed(self._models):
            model.close()

    def _forward_s(self, loaded: LoadedModel, new: int, known: int) -> float:
        return calibrate.forward(loaded.model, new, known, REPEATS, self.clock.now)

    def _reply(self, name: str, prompt: list[int], limit: int) -> tuple[list[int], ReplyRecord]:
        runner = self._runners[name]
        before = replace(runner.statistics) if runner.statistics else DecodingStatistics()
        drafted = before.work.seconds[DRAFT]
        self.target.model.forget()
        self.draft.model.forget()
        tokens: list[int] = []
        start = first = self.clock.now()
        for token in runner.generate(prompt, limit):
            if not tokens:
                first = self.clock.now()
            tokens.append(token)
        seconds, after = self.clock.now() - start, runner.statistics or before
        return tokens, ReplyRecord(
            task="",
            method="",
            prompt="",
            tokens=len(tokens),
            seconds=seconds,
            ttft_ms=round(1000 * (first - start), 4) if runner.streams else None,
            forwards=after.forwards - before.forwards,
            proposed=after.proposed - before.proposed,
            accepted=after.accepted - before.accepted,
            drafting=after.work.seconds[DRAFT] - drafted,
            drafts=after.drafts - before.drafts,
            depths=tuple(new - old for new, old in zip(after.depths, before.depths, strict=True)),
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


def result(bench: DecodingBench, gather: Gather[ReplyRecord] = list) -> dict[str, Any]:
    """The JSON, over the replies that are gathered. Raises PredtuiError as ``Run``."""
    run, where = Run(bench), bench.profile
    try:
        figure_1 = run.figure_1()
        records = _whole(gather(run.records()), len(bench.methods))
        return {
            "command": command(),
            "machine": f"{where.name} ({where.source})" if where else machine(bench.threads),
            "clock": "virtual" if where else "real",
            "models": [f"{m.name} in {m.engine} on the {m.device}" for m in (run.target, run.draft)],
            "c": run.c,
            "rows": rows(records),
            "overall": rows([replace(record, task=decoding_spec_bench.OVERALL) for record in records]),
            "iterations": iterations(run.iterations),
            "figure_1": figure_1,
            "diverged": [asdict(record) for record in records if record.divergence >= 0],
        }
    finally:
        run.close()


def _whole(records: list[ReplyRecord], methods: int) -> list[ReplyRecord]:
    """Without the last turn, where not every method has replied to it."""
    return records[: len(records) // methods * methods]


def main(
    bench: DecodingBench, json_path: Path | None = None, plot: Path | None = None, markdown: Path | None = None
) -> int:
    """Measure, print, write the JSON, the charts and Spec-Bench's table; the exit status."""
    screen = console()
    turns = sum(len(dialogue.turns) for dialogues in bench.tasks.values() for dialogue in dialogues)
    watch = Watch(turns * len(bench.methods), "replies", as_line)
    found = result(bench, watch)
    for table in (*decoding_figures.tables(found), decoding_spec_bench.table(found)):
        screen.print(table)
    for case in found["diverged"]:
        place = f"{case['method']} differs at token {case['divergence']} by a gap of {case['logit_gap']}"
        screen.print(f"{place}: {case['prompt'][:80]}", soft_wrap=True)
    if plot is not None:
        plot.write_text(svg(decoding_figures.charts(found)), encoding="utf-8")
    if markdown is not None:
        markdown.write_text(decoding_spec_bench.markdown(found), encoding="utf-8")
    return watch.leave(found, json_path)


def cli(
    methods: Annotated[
        str, typer.Option(help="Methods, separated by commas; drafters: all of these.")
    ] = "vanilla,sps,pld,rest,lookahead,duo",
    prompts: Annotated[
        list[str] | None,
        typer.Option(help="As in bench predgen; each is a task of the tables; may be given several times."),
    ] = None,
    limit: Annotated[int, typer.Option(help="Dialogues a task; 0 takes all of a file.", min=0)] = 40,
    prompts_seed: Seed = 1,
    target: Annotated[str, typer.Option(help="pocket, smollm2, or a path.")] = "pocket",
    draft: Annotated[str, typer.Option(help="pocket-draft, or the path of a GGUF file.")] = "pocket-draft",
    target_engine: Annotated[str, typer.Option(help="What runs the target.")] = "llamacpp",
    threads: Threads = 0,
    max_tokens: MaxTokens = 128,
    temperature: Annotated[float, typer.Option(help="0 decodes greedily.", min=0.0)] = 0.0,
    seed: Annotated[int, typer.Option(help="Seed of the sampler.")] = 0,
    clock: Annotated[
        Literal["real", "virtual"], typer.Option(help="Real: this machine's time. Virtual: the costs of --profile.")
    ] = "real",
    profile: Annotated[str, typer.Option(help="Machine of the virtual clock: a name or a .toml file.")] = "a5000-7b",
    heads: Annotated[str, typer.Option(help="Folder of trained heads; empty: those that ship.")] = "",
    draft_memory: Annotated[int, typer.Option(help="MB that each method may hold to draft; 0: any.", min=0)] = 0,
    ablations: Annotated[bool, typer.Option(help="Duo's static sequences and budgets as well (tables 2, 3).")] = True,
    json: Json = None,
    plot: Plot = None,
    markdown: Markdown = None,
) -> None:
    """``predtui bench decoding``."""
    bench = DecodingBench(
        methods=chosen(methods, ablations),
        tasks=tasks(prompts or [], limit, prompts_seed),
        target=target,
        draft=draft,
        target_engine=target_engine,
        threads=threads,
        max_tokens=max_tokens,
        temperature=temperature,
        seed=seed,
        profile=profiles.load(profile) if clock == "virtual" else None,
        draft_memory=draft_memory,
        heads=heads,
    )
    raise typer.Exit(main(bench, json, plot, markdown))
