"""Does speculation ever make a turn slower? Simulated typing and speech, on machines from fast to slow.

Each turn is played twice on a virtual clock, by a scripted model whose forwards take what a machine of that speed would
take: with speculation, and as a cascade that answers the final prompt alone. Must not know how the stage works.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any

import typer
from rich.table import Table

from predtui.decoding.costs.curve import Curve
from predtui.lab.bench import harness, keystrokes, streams
from predtui.lab.bench.methods import METHODS, Method
from predtui.lab.bench.report import command, console
from predtui.lab.bench.shared_model import priced
from predtui.lab.bench.streams import Stream
from predtui.lab.bench.virtual import Timetable
from predtui.lab.bench.watch import Watch
from predtui.lab.commands.options import Json
from predtui.llm.base import LoadedModel, Stale
from predtui.llm.load import load
from predtui.llm.scripted import ScriptedModel
from predtui.predgen.options import SpeculationOptions
from predtui.predgen.stage import SpeculationStage
from predtui.runtime.hosts.inline import InlineHost
from predtui.state.events import Event, ReplyCommitted, ReplyFinished

FORWARD_MS = (0.3, 1, 3, 13, 40, 120, 500)
"""Of one token."""
FURTHER = (0.01, 0.1, 0.55, 1.0)
"""What each further token of a forward adds, as a share of the first."""
PACES = (40, 80, 120)
"""Words a minute of keys."""
SPOKEN, SPEECH = "spoken", 150
ROUNDING = 1e-3
"""Of a forward."""
_WORDS = ("how", "do", "i", "keep", "my", "old", "bread", "from", "going", "stale", "when", "it", "is", "warm", "then")
_SIZES = (1, 2, 4, 8, 16, 32, 64, 128)


@dataclass(frozen=True, slots=True)
class SimulatedTurn:
    """What one simulated turn took, in forwards over one token on its machine, from the end of the input to the first
    sentence."""

    input: str
    forward_ms: float
    further: float
    prompt: str
    with_speculation: float
    without: float

    @property
    def excess(self) -> float:
        return self.with_speculation - self.without


def run(turns: int, seed: int, method: Method) -> Iterator[SimulatedTurn]:
    """``turns`` random ones."""
    for number in range(turns):
        yield simulated(random.Random(f"simulation {seed} {number}"), method)


def simulated(rng: random.Random, method: Method) -> SimulatedTurn:
    pace = rng.choice((*PACES, None))
    text = " ".join(rng.choices(_WORDS, k=rng.randint(1, 14)))
    stream = keystrokes.typed(text, pace, rng) if pace else keystrokes.spoken(text, SPEECH, rng)
    forward_ms, further = rng.choice(FORWARD_MS), rng.choice(FURTHER)
    model, moods = rng.randrange(1000), rng.choice((1, 2, 4, 16, 64))
    first = [_first_sentence(each, stream, forward_ms, further, model, moods) for each in (method, METHODS["baseline"])]
    with_speculation, without = (seconds * 1000 / forward_ms for seconds in first)
    return SimulatedTurn(
        f"{pace} words a minute" if pace else SPOKEN,
        forward_ms,
        further,
        text,
        round(with_speculation, 2),
        round(without, 2),
    )


def _first_sentence(method: Method, stream: Stream, forward_ms: float, further: float, model: int, moods: int) -> float:
    """Seconds from the end of the input to the first sentence."""

    def price(new: int, _known: int) -> float:
        return forward_ms / 1000 * (1 + further * (new - 1))

    costs = Curve()
    for size in _SIZES:
        costs.add(size, price(size, 0))
    options = method.over(SpeculationOptions(model=str(model), engine="scripted", system="sys", reply_tokens=100))
    said = list[Event]()
    clock = Timetable()

    def lend(_model: str, _engine: str, _threads: int | None, _context: int, stale: Stale) -> LoadedModel:
        return replace(load(engine="scripted"), model=priced(ScriptedModel(model, moods=moods), price, clock, stale))

    stage = SpeculationStage(options, lend, costs)
    host = InlineHost(harness.spec("llm", lambda _clock: stage, clock), said.append, clock)
    host.start()
    host.run()
    start = clock.now()
    inputs = streams.events(stream, (), method.speculates, method.pause_s)
    events = [replace(event, time=start + event.time) for event in inputs]
    harness.let_play(host, clock, events, lambda event: None)
    host.stop()
    done = next(e for e in said if isinstance(e, ReplyCommitted | ReplyFinished))
    return done.time - events[-1].time


def rows(turns: Sequence[SimulatedTurn]) -> list[dict[str, Any]]:
    """A row for each kind of input, for each speed of machine, and for all: means in forwards, and the worst turn."""
    names = (
        *(f"{pace} words a minute" for pace in PACES),
        SPOKEN,
        *(f"{ms:g} ms a forward" for ms in FORWARD_MS),
        "all",
    )
    table: dict[str, list[SimulatedTurn]] = {name: [] for name in names}
    for turn in turns:
        for name in (turn.input, f"{turn.forward_ms:g} ms a forward", "all"):
            table[name].append(turn)
    return [_row(name, group) for name, group in table.items() if group]


def _row(name: str, group: Sequence[SimulatedTurn]) -> dict[str, Any]:
    with_speculation, without = fmean(turn.with_speculation for turn in group), fmean(turn.without for turn in group)
    return {
        "turns": name,
        "n": len(group),
        "with": round(with_speculation, 2),
        "without": round(without, 2),
        "ratio": round(without / with_speculation, 2) if with_speculation else None,
        "later_by_more_than_a_forward": sum(turn.excess > 1 + ROUNDING for turn in group),
        "worst": round(max(turn.excess for turn in group), 2),
    }


def main(turns: int = 1000, seed: int = 0, json_path: Path | None = None) -> int:
    """Simulate, print and write. Exit status 1 where a turn was slower by more than one forward."""
    watch: Watch[SimulatedTurn] = Watch(turns, "turns")
    played = watch(run(turns, seed, METHODS["greedy"]))
    found = rows(played)
    table = Table("turns", "n", "with", "without", "ratio", "later by > 1", "worst", title="forwards to first sentence")
    for row in found:
        table.add_row(*("" if value is None else str(value) for value in row.values()))
    console().print(table)
    worse = [asdict(turn) for turn in played if turn.excess > 1 + ROUNDING]
    return watch.leave({"command": command(), "rows": found, "worse": worse}, json_path) or bool(worse)


def cli(
    turns: Annotated[int, typer.Option(help="Simulated turns.", min=1)] = 1000,
    seed: Annotated[int, typer.Option(help="Seed of keys, words and machines.")] = 0,
    json: Json = None,
) -> None:
    """``predtui bench simulate``."""
    raise typer.Exit(main(turns, seed, json))
