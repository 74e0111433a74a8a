"""PredGen over requests: real servers of language models on this machine, each asked with and without speculation.

What it brings and what it costs the server: latency, requests, tokens generated for nothing; how soon the server rests
once a request is given up; and how many assistants at once fare. Must not know how servers are started or turns played.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import median
from typing import Annotated, Any

import psutil
import typer
from rich.table import Table

from predtui.clock import RealClock
from predtui.errors import PredtuiError
from predtui.lab.bench import harness
from predtui.lab.bench.paired import mean
from predtui.lab.bench.report import command, console, machine
from predtui.lab.bench.servers import KINDS, Server, Serving, start
from predtui.lab.bench.shared_model import SharedModel
from predtui.lab.bench.shared_synthesizer import SharedSynthesizer
from predtui.lab.bench.streams import CHARACTERS_A_WORD, Dialogue, Stream, dialogues, events
from predtui.lab.bench.watch import Gather, Watch
from predtui.lab.commands.options import Json, MaxTokens, Prompts, Seed, Wpm
from predtui.models.shipped import POCKET, place
from predtui.predgen.options import SpeculationOptions
from predtui.runtime.hosts.thread import ThreadHost
from predtui.settings import LlmSettings, TtsSettings
from predtui.state.events import Event, ReplyCommitted, ReplyFinished, Requests, SpeechChunk, StageStatus

WITHOUT = "without"
PAUSE_S = LlmSettings().pause_ms / 1000
PATIENCE_S = 120.0
CONTEXT = 4096
"""Tokens of a request."""
BUSY_S = 0.3
"""How long a reply is read before its request is given up."""
LOOK_S, WATCHED_S = 0.005, 1.5
"""How often, and for how long, a server's processor time is read after that."""
RESTS = 0.02
"""Seconds of it, two ticks of the kernel's clock, that a server at rest may take meanwhile."""
Figures = dict[str, Any]


@dataclass(frozen=True, slots=True)
class RemoteBench:
    """What to measure: ``kinds`` of servers, the first turn of each of ``dialogues`` without speculation and with
    each of ``budgets``; then ``assistants`` at once. ``options`` but for model, engine and budget."""

    kinds: Sequence[str]
    dialogues: Sequence[Dialogue]
    budgets: Sequence[float]
    assistants: int
    options: SpeculationOptions
    serving: Serving

    @property
    def methods(self) -> dict[str, float]:
        """Budgets by name; 0 for none."""
        return {WITHOUT: 0.0, **{f"budget {budget:g}": budget for budget in self.budgets}}


def result(bench: RemoteBench, gather: Gather[Figures] = list) -> dict[str, Any]:
    """The JSON, over what is gathered. Raises PredtuiError where a server does not start."""
    found = gather(_measured(bench))
    turns = [one for one in found if "prompt" in one]
    rows = [row(kind, name, turns) for kind in bench.kinds for name in bench.methods]
    others = [one for one in found if "prompt" not in one]
    return {"command": command(), "machine": machine(), "rows": rows, "servers": others, "turns": turns}


def _measured(bench: RemoteBench) -> Iterator[Figures]:
    """A server that does not start, or fails, is told of, and the others are measured."""
    for kind in bench.kinds:
        try:
            with start(kind, bench.serving) as server:
                options = replace(bench.options, engine="remote", model=server.url)
                yield from _turns(bench, kind, options)
                yield {"server": kind, **given_up(server)}
                if bench.assistants > 1:
                    yield {"server": kind, **at_once(bench, options)}
        except PredtuiError as error:
            yield {"server": kind, "problem": str(error)}


def _turns(bench: RemoteBench, kind: str, options: SpeculationOptions) -> Iterator[Figures]:
    lender, voice = SharedModel(options), SharedSynthesizer(TtsSettings())
    try:
        for dialogue in bench.dialogues:
            plain = ""
            for name, budget in bench.methods.items():
                stage = partial(lender.stage, replace(options, remote_budget=budget))
                cast = harness.StageFactories(stage, voice.stage)
                inputs = events(dialogue.turns[0], dialogue.history, name != WITHOUT, PAUSE_S)
                turn = _turn(cast, inputs)
                plain = turn["reply"] if name == WITHOUT else plain
                told = {"server": kind, "proof": lender.loaded.abilities.proof, "method": name}
                yield {**told, **turn, "identical": turn["reply"] == plain}
    finally:
        lender.close()


def _turn(cast: harness.StageFactories, inputs: Sequence[Event]) -> Figures:
    arrivals: list[Event] = []
    outs = harness.play_real(cast, inputs, arrivals.append)
    final = arrivals[-1].time
    return {
        **_reply(outs),
        "ttfs_ms": _first_ms(outs, final, ReplyCommitted),
        "audio_latency_ms": _first_ms(outs, final, SpeechChunk),
    }


def _reply(outs: Sequence[Event]) -> Figures:
    """The reply, and what it has cost the server."""
    reply = next(out for out in outs if isinstance(out, ReplyFinished))
    asked = [out for out in outs if isinstance(out, Requests)][-1]
    cost = {"requests": asked.count, "cancelled": asked.cancelled, "generated": asked.generated, "wasted": asked.wasted}
    return {
        "prompt": reply.prompt,
        "reply": reply.text,
        "tokens": reply.tokens,
        "outcome": reply.outcome,
        "asks": asked.asks,
        **cost,
    }


def _first_ms(outs: Sequence[Event], since: float, kind: type[Event]) -> float | None:
    first = next((out.time for out in outs if isinstance(out, kind)), None)
    return None if first is None else round((first - since) * 1000, 3)


def row(kind: str, name: str, turns: Sequence[Figures]) -> Figures:
    """Means over the turns of a server by one method."""
    group = [turn for turn in turns if turn["server"] == kind and turn["method"] == name]
    heard = [turn["audio_latency_ms"] for turn in group if turn["audio_latency_ms"] is not None]
    written = [turn["ttfs_ms"] for turn in group if turn["ttfs_ms"] is not None]
    spoken = sum(turn["tokens"] for turn in group)
    return {
        "server": kind,
        "proof": group[0]["proof"] if group else None,
        "method": name,
        "asks": group[-1]["asks"] if group else None,
        "n": len(group),
        "audio_latency_ms": mean(heard),
        "p50_ms": round(median(heard), 3) if heard else None,
        "ttfs_ms": mean(written),
        "identical_share": mean([turn["identical"] for turn in group]),
        "requests": mean([turn["requests"] for turn in group]),
        "cancelled": mean([turn["cancelled"] for turn in group]),
        "wasted": mean([turn["wasted"] for turn in group]),
        "wasted_per_spoken": round(sum(turn["wasted"] for turn in group) / spoken, 3) if spoken else None,
    }


def given_up(server: Server) -> Figures:
    """A request on which the server works for long, given up: its share of a processor before, and the milliseconds
    until it takes none, less than ``RESTS`` more; None where it takes some for ``WATCHED_S``."""
    import httpx2

    path, body = server.endless
    process = psutil.Process(server.pid)
    with httpx2.stream("POST", server.url + path, json=body, timeout=PATIENCE_S) as response:
        lines = response.iter_lines()
        next(lines)
        began, used = time.monotonic(), _used(process)
        for _ in lines:
            if time.monotonic() > began + BUSY_S:
                break
        busy = (_used(process) - used) / (time.monotonic() - began)
    closed, samples = time.monotonic(), list[tuple[float, float]]()
    while (now := time.monotonic()) < closed + WATCHED_S:
        samples.append((now - closed, _used(process)))
        time.sleep(LOOK_S)
    rests = next(after for after, used in samples if samples[-1][1] - used <= RESTS)
    return {"busy_share": round(busy, 2), "rests_ms": None if rests > WATCHED_S / 2 else round(rests * 1000, 1)}


def _used(process: psutil.Process) -> float:
    """Seconds of processor time."""
    times = process.cpu_times()
    return float(times.user + times.system)


def at_once(bench: RemoteBench, options: SpeculationOptions) -> Figures:
    """``assistants`` at once, each with a turn of its own: whether each says what it says alone, and how long the one
    that waits longest waits, against their mean."""
    streams = [bench.dialogues[number % len(bench.dialogues)].turns[0] for number in range(bench.assistants)]
    alone = {stream.text: ask(options, stream, speculates=False)["reply"] for stream in streams}
    found: dict[int, Figures] = {}

    def talk(number: int, stream: Stream) -> None:
        found[number] = ask(options, stream)

    threads = [threading.Thread(target=talk, args=(number, stream)) for number, stream in enumerate(streams)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    waits = [turn["ttfs_ms"] for turn in found.values() if turn["ttfs_ms"] is not None]
    own = [found[number]["reply"] == alone[stream.text] for number, stream in enumerate(streams) if number in found]
    return {
        "assistants": bench.assistants,
        "answered": len(waits),
        "own_words_share": mean(own),
        "ttfs_ms": mean(waits),
        "longest_ms": max(waits, default=None),
    }


def ask(options: SpeculationOptions, stream: Stream, speculates: bool = True) -> Figures:
    """One turn of an assistant of its own, without a voice; without speculation, of the final words, at once."""
    lender, clock = SharedModel(options), RealClock()
    said: queue.SimpleQueue[Event] = queue.SimpleQueue()
    host = ThreadHost(harness.spec("llm", partial(lender.stage, options), clock), said.put, clock)
    host.start()
    try:
        _until(said, lambda event: isinstance(event, StageStatus) and event.state == "ready")
        began = clock.now()
        for event in events(stream, (), speculates, PAUSE_S):
            clock.sleep((began + event.time - clock.now()) * speculates)
            final = replace(event, time=clock.now())
            host.send(final)
        outs = _until(said, lambda event: isinstance(event, ReplyFinished))
    finally:
        host.stop()
        lender.close()
    while not said.empty():  # what it said last
        outs.append(said.get())
    return {**_reply(outs), "ttfs_ms": _first_ms(outs, final.time, ReplyCommitted)}


def _until(said: queue.SimpleQueue[Event], wanted: Any) -> list[Event]:
    """What is said until something ``wanted``. Raises PredtuiError where the stage fails, or says nothing."""
    outs: list[Event] = []
    while not outs or not wanted(outs[-1]):
        try:
            outs.append(said.get(timeout=PATIENCE_S))
        except queue.Empty:
            raise PredtuiError("An assistant says nothing any more.", "Is the server alive?") from None
        if isinstance(outs[-1], StageStatus) and outs[-1].state == "failed":
            raise PredtuiError(outs[-1].message, "")
    return outs


def as_line(found: Figures) -> str:
    """A turn, or what a server does at rest and with many, in a line."""
    if "prompt" not in found:
        return "  ".join(f"{name} {value}" for name, value in found.items())
    first = "–" if found["audio_latency_ms"] is None else f"{found['audio_latency_ms']:.0f} ms"
    asked = f"{found['requests']} requests, {found['wasted']} wasted"
    same = "identical" if found["identical"] else "differs"
    return f"{found['server']:<12} {found['method']:<12} {first:>8}  {asked}  {same}  {found['prompt'][:50]}"


def table(found: Mapping[str, Any]) -> Table:
    """A row for each server and method."""
    drawn = Table("server", "proof", "method", "asked at", title="PredGen over requests", caption=found["machine"])
    columns = {"audio_latency_ms": "{:.0f} ms", "p50_ms": "{:.0f} ms", "ttfs_ms": "{:.0f} ms"}
    columns |= {"identical_share": "{:.0%}", "requests": "{:.1f}", "cancelled": "{:.1f}", "wasted": "{:.1f}"}
    columns |= {"wasted_per_spoken": "{:.2f}"}
    names = ("first audio", "median", "first sentence", "identical", "requests", "cancelled", "wasted", "per spoken")
    for name in names:
        drawn.add_column(name, justify="right")
    for one in found["rows"]:
        cells = ("–" if one[key] is None else form.format(one[key]) for key, form in columns.items())
        drawn.add_row(one["server"], one["proof"] or "–", one["method"], one["asks"] or "–", *cells)
    return drawn


def main(bench: RemoteBench, json_path: Path | None = None) -> int:
    """Measure, print, write; the exit status."""
    more = 1 + (bench.assistants > 1)
    total = len(bench.kinds) * (len(bench.dialogues) * len(bench.methods) + more)
    watch = Watch(total, "turns", as_line)
    found = result(bench, watch)
    console().print(table(found))
    for one in found["servers"]:
        console().print(as_line(one), soft_wrap=True)
    return watch.leave(found, json_path)


def cli(
    servers: Annotated[str, typer.Option(help="Which servers, separated by commas.")] = ",".join(KINDS),
    model: Annotated[str, typer.Option(help="The GGUF file that they serve; pocket: the one that ships.")] = POCKET,
    prompts: Prompts = "pocket",
    limit: Annotated[int, typer.Option(help="Prompts.", min=1)] = 5,
    prompts_seed: Seed = 1,
    wpm: Wpm = 120.0,
    budgets: Annotated[str, typer.Option(help="Wasted tokens per spoken token, separated by commas.")] = "2",
    assistants: Annotated[int, typer.Option(help="Assistants at once; 1 leaves that out.", min=1)] = 10,
    threads: Annotated[int, typer.Option(help="Threads of a server.", min=1)] = 1,
    slots: Annotated[int, typer.Option(help="Requests that a server works on at once, where it can.", min=1)] = 4,
    max_tokens: MaxTokens = 256,
    json: Json = None,
) -> None:
    """``predtui bench remote``."""
    kinds = [kind.strip() for kind in servers.split(",")]
    if unknown := [kind for kind in kinds if kind not in KINDS]:
        raise PredtuiError(f"There is no server {unknown[0]!r}.", f"Choose of {', '.join(KINDS)}.")
    file = place(model) / "model.gguf" if model == POCKET else place(model)
    said = dialogues(prompts, limit, prompts_seed, CHARACTERS_A_WORD * wpm)
    bench = RemoteBench(
        kinds=kinds,
        dialogues=said,
        budgets=[float(budget) for budget in budgets.split(",")],
        assistants=assistants,
        options=SpeculationOptions(reply_tokens=max_tokens),
        serving=Serving(file, threads, CONTEXT * slots, slots),
    )
    raise typer.Exit(main(bench, json))
