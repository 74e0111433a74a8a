"""Every drafter beside the others, in one table: what it drafts, what that costs and brings, what its training took.

Each reply is given twice, on this machine's clock and at the prices of another machine; the figures of drafts are those
of the second, which are the same in every run. What needs soft tokens runs on torch, and is compared with plain
decoding there. Must not know how a method works, or how replies are measured.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from predtui.lab import profiles
from predtui.lab.bench import decoding
from predtui.lab.bench.decoding import DecodingBench, tasks
from predtui.lab.bench.decoding_methods import EVERY, VANILLA, chosen
from predtui.lab.bench.decoding_records import as_line
from predtui.lab.bench.report import command, console, drawn, in_markdown, machine
from predtui.lab.bench.watch import Watch
from predtui.lab.commands.options import Json, Markdown, MaxTokens, Threads
from predtui.models.shipped import asset, place
from predtui.registry import DECODERS, DRAFTERS

TORCH = "torch"
SHOWN = 4
"""Depths of which the table tells the acceptance."""
_COLUMNS = {
    "tokens_per_forward": ("a forward", "{:.2f}"),
    "accepted_by_depth": ("accepted 1, 2, 3, 4 deep", "{}"),
    "draft_share": ("in the draft", "{:.0%}"),
    "real": ("real", "{:.2f}x"),
    "priced": ("priced", "{:.2f}x"),
    "identical_share": ("identical", "{:.1%}"),
    "right_share": ("right", "{:.1%}"),
    "bytes": ("bytes", "{:,}"),
    "minutes": ("minutes", "{:g}"),
}
EVERYTHING = f"{EVERY},ppd,hidden-transfer,typical,judge"
_KEPT = ("method", "n", "tokens_per_forward", "acceptance_rate", "accepted_by_depth", "right_share")
"""What is told of the priced run alone."""


def joined(real: Sequence[Mapping[str, Any]], priced: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """A row a method of both runs' rows over all tasks: ``real`` and ``priced`` are speed-ups over plain decoding;
    ``draft_share`` that of real time; ``identical_share`` the smaller one."""
    clocked = {row["method"]: row for row in real}
    found = []
    for row in priced:
        here = clocked[row["method"]]
        kept = {key: row[key] for key in _KEPT}
        same = min(row["identical_share"], here["identical_share"])
        speeds = {"draft_share": here["draft_share"], "real": here["speedup"], "priced": row["speedup"]}
        found.append({**kept, **speeds, "identical_share": same})
    return found


def trained(method: str, heads: Path, draft: Path) -> dict[str, Any]:
    """``bytes`` of the weights that ``method`` drafts with, and ``minutes`` of their training; None where there are
    none, or where nothing tells."""
    entry = DRAFTERS.get(method) or DECODERS.get(method)
    needs = entry.needs if entry else frozenset[str]()
    folders = [heads / method] * ("heads" in needs) + [draft] * ("draft" in needs)
    told = next((folder / "training.json" for folder in folders if (folder / "training.json").is_file()), None)
    if told is None:
        return {"bytes": None, "minutes": None}
    facts = json.loads(told.read_text(encoding="utf-8"))
    weights = [*told.parent.glob("*.gguf")] or [*told.parent.glob("*.safetensors")]  # a draft has both: the same ones
    minutes = facts["minutes"] if "minutes" in facts else round(facts["seconds"] / 60, 1)
    return {"bytes": sum(path.stat().st_size for path in weights), "minutes": minutes}


def engines(bench: DecodingBench) -> list[DecodingBench]:
    """``bench``, and what of it another engine has to run."""
    soft = {name for name in bench.methods if name in DRAFTERS and "soft" in DRAFTERS[name].needs}
    if not soft or bench.target_engine == TORCH:
        return [bench]
    parts = [{name: bench.methods[name] for name in bench.methods if (name in soft) == on} for on in (False, True)]
    plain = {VANILLA: bench.methods[VANILLA]}
    return [replace(bench, methods=parts[0]), replace(bench, methods=plain | parts[1], target_engine=TORCH)]


def result(bench: DecodingBench) -> tuple[dict[str, Any], Watch[Any]]:
    """The JSON; and what watched the last run. Raises PredtuiError as ``decoding.Run``."""
    replies = sum(len(dialogue.turns) for dialogues in bench.tasks.values() for dialogue in dialogues)
    heads, draft = Path(bench.heads) if bench.heads else asset("heads"), place(bench.draft)
    about: dict[str, Any] = {"command": command(), "machine": machine(bench.threads), "priced": "", "models": []}
    about["rows"] = []
    for part in engines(bench):
        found = []
        for profile in (bench.profile, None):
            watch = Watch[Any](replies * len(part.methods), "replies", as_line)
            found.append(decoding.result(replace(part, profile=profile), watch))
            if watch.stopped:
                return about, watch
        priced, real = found
        about |= {"priced": priced["machine"], "models": [*about["models"], real["models"][0]]}
        known = {row["method"] for row in about["rows"]}
        for row in joined(real["overall"], priced["overall"]):
            if row["method"] not in known:
                about["rows"].append(
                    {**row, **trained(row["method"], heads, draft if draft.is_dir() else draft.parent)}
                )
    return about, watch


def cells(found: Mapping[str, Any]) -> list[list[str]]:
    """The head, and a row a method."""
    lines = [["method", *(name for name, _ in _COLUMNS.values())]]
    for row in found["rows"]:
        depths = row["accepted_by_depth"]
        shown = {**row, "accepted_by_depth": ", ".join(f"{share:.2f}" for share in depths[:SHOWN]) if depths else None}
        line = ["–" if shown[key] is None else form.format(shown[key]) for key, (_, form) in _COLUMNS.items()]
        lines.append([row["method"], *line])
    return lines


def table(found: Mapping[str, Any]) -> Table:
    """For a terminal."""
    told = f"{'; '.join(found['models'])}; real: {found['machine']}; priced: {found['priced']}"
    return drawn(cells(found), "The survey's drafters", told)


def as_markdown(found: Mapping[str, Any]) -> str:
    """The same for a document, with the command that measured it."""
    return f"{in_markdown(cells(found))}\n\n{found['machine']}; priced: {found['priced']}: `{found['command']}`\n"


def cli(
    methods: Annotated[str, typer.Option(help="Methods, separated by commas; drafters: all of these.")] = EVERYTHING,
    prompts: Annotated[list[str] | None, typer.Option(help="As in bench predgen; may be given several times.")] = None,
    limit: Annotated[int, typer.Option(help="Dialogues a task; 0 takes all of a file.", min=0)] = 20,
    target: Annotated[str, typer.Option(help="pocket, smollm2, or a path.")] = "pocket",
    draft: Annotated[str, typer.Option(help="pocket-draft, or the path of a GGUF file.")] = "pocket-draft",
    target_engine: Annotated[str, typer.Option(help="What runs the target.")] = "llamacpp",
    threads: Threads = 1,
    max_tokens: MaxTokens = 128,
    profile: Annotated[str, typer.Option(help="The other machine: a name or a .toml file.")] = "a5000-7b",
    heads: Annotated[str, typer.Option(help="Folder of trained heads; empty: those that ship.")] = "",
    json: Json = None,
    markdown: Markdown = None,
) -> None:
    """``predtui bench survey``."""
    bench = DecodingBench(
        methods=chosen(methods, ablations=False),
        tasks=tasks(prompts or [], limit, seed=1),
        target=target,
        draft=draft,
        target_engine=target_engine,
        threads=threads,
        max_tokens=max_tokens,
        profile=profiles.load(profile),
        heads=heads,
    )
    found, watch = result(bench)
    console().print(table(found))
    if markdown is not None:
        markdown.write_text(as_markdown(found), encoding="utf-8")
    raise typer.Exit(watch.leave(found, json))
