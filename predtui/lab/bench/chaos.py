"""Random use and random faults over the app in a pseudo-terminal: every prompt is answered right, or refused for a
reason.

The app is whole: its own processes, settings and recording, on the models that ship. Sound goes in through a microphone
of the bench's own, and nowhere out. Must not know how a fault is done, or what is right.
"""

from __future__ import annotations

import os
import random
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from statistics import median
from typing import Annotated, Any

import psutil
import typer
from rich.table import Table

from predtui.audio.files import decode
from predtui.config import load as load_settings
from predtui.errors import PredtuiError
from predtui.lab.bench.chaos_app import Disturbed
from predtui.lab.bench.chaos_faults import FAULTS, HARMLESS, slowness, unable
from predtui.lab.bench.chaos_ledger import Asked, Violation, accounts, refusals, step_of, turns, unequal
from predtui.lab.bench.chaos_stages import Devices
from predtui.lab.bench.keyboard import Scene
from predtui.lab.bench.recording import pocket_prompts, speak
from predtui.lab.bench.report import command, console, machine
from predtui.lab.bench.watch import Watch
from predtui.lab.commands.options import Json, Seed
from predtui.models.published import EMBEDDED
from predtui.predgen.options import SpeculationOptions
from predtui.runtime.build import resolved
from predtui.settings import Settings
from predtui.state.turn import Turn

HANGS_S = 45.0
"""A turn that is not over by then will not be."""
BACK_S = 90.0
"""A stage that has failed is back by then: it is tried again by itself."""
SOUNDS = 4
WAYS = ("typed", "typed", "hastily", "pasted", "burst", "spoken", "spoken")
FLAT = {"descriptors": (1.1, 8.0), "memory_mb": (1.25, 40.0), "latency_ms": (2.0, 150.0)}
"""A figure grows where the last quarter has more than so many times the first one's, and so much more."""
_PASTE = "\x1b[200~{}\x1b[201~"
_BURST = (*"abcde ", "\x1b[D", "\x7f")
"""Whole keys: half an escape sequence and what follows may be any key, F4 and what it chooses too."""
_NO_MEMORY = ("MemoryError", "can't start new thread")
_EMPTY = "\x1b[F\x15"
"""The input line: what was heard of a refused prompt may stand there."""
_LEAD_S, _RELEASE_S = 0.6, 0.3
"""Of the talk key, before somebody begins to speak and after they have ended."""


@dataclass(frozen=True, slots=True)
class Sample:
    """After a step. ``latency_ms``: to the first sound, of a prompt that nothing disturbed."""

    step: int
    descriptors: int
    memory_mb: dict[str, float]
    latency_ms: float | None


@dataclass(slots=True)
class Outcome:
    """Of a run."""

    asked: list[Asked] = field(default_factory=list)
    samples: list[Sample] = field(default_factory=list)
    violations: list[Violation] = field(default_factory=list)
    faults: Counter[str] = field(default_factory=Counter)
    apps: int = 0


class Chaos:
    """One run. The same seed does the same things in the same order; when, in a turn, they strike, the machine has a
    part in too."""

    def __init__(self, seed: int, minutes: float, only: Sequence[str], first: int, work: Path) -> None:
        self._seed, self._only, self._step = seed, only, first - 1
        self._until = time.monotonic() + 60 * minutes
        self._devices = Devices(str(work))
        self._environment = slowness(work)
        self._prompts = pocket_prompts(60, seed)
        self._sounds = _said(self._prompts[:SOUNDS], work)
        self._heard: dict[str, set[str]] = {}
        self.settings = _settings()
        self.outcome = Outcome()

    def steps(self) -> Iterator[Asked]:
        """Each prompt as it is over, until the time is; an app that has failed is followed by another."""
        while time.monotonic() < self._until:
            self.outcome.apps += 1
            with Disturbed(Scene(self.settings, self._devices.stages()), self._environment) as app:
                asked: list[Asked] = []
                try:
                    for one in self._use(app):
                        asked.append(one)
                        yield one
                finally:
                    self._settle(app, asked)

    def _use(self, app: Disturbed) -> Iterator[Asked]:
        """Until it has ended, or a stage of it does not come back."""
        disturbed = True
        while time.monotonic() < self._until and not app.over:
            self._step += 1
            rng = random.Random(f"chaos {self._seed} {self._step}")
            asked = self._ask(app, rng)
            self._wait(app, rng, asked)
            latency = None if disturbed or _serious(asked) else app.state.audio_latency_ms
            disturbed = _serious(asked)
            self._measure(app, latency)
            yield asked
            if not app.wait(BACK_S, _whole) and not app.over:
                self._violate(f"not back: {_lacking(app.state)}")
                return
        if app.over:
            self._violate("the app has ended")

    def _ask(self, app: Disturbed, rng: random.Random) -> Asked:
        """Put in one prompt, with faults on their way."""
        way, prompt = rng.choice(WAYS), rng.choice(self._prompts)
        sound = rng.choice(self._sounds) if way == "spoken" else None
        asked = Asked(self._step, time.monotonic(), way, prompt, str(sound or ""))
        self.outcome.asked.append(asked)
        for _ in range(rng.choice((0, 1, 1, 2, 4))):
            kind = rng.choice(self._only)
            app.after(rng.uniform(0.0, 5.0), partial(self._do, app, kind, random.Random(rng.random())))
        if not sound:
            app.press(_EMPTY)
        if way == "burst":
            app.press("".join(rng.choice(_BURST) for _ in range(600)) + _EMPTY)
        if sound:
            self._speak(app, sound)
        elif way == "pasted":
            app.press(_PASTE.format(prompt))
        else:
            for key in prompt:
                app.press(key)
                app.wait(rng.uniform(0.02, 0.2) if way == "typed" else 0.0)
        return asked

    def _speak(self, app: Disturbed, sound: Path) -> None:
        self._devices.say(sound.with_suffix(".pcm"), time.monotonic() + _LEAD_S)
        app.press("\x1bOQ")  # F2
        app.wait(_LEAD_S + _seconds(sound) + _RELEASE_S)
        if app.state.phase == "listening":
            app.press("\x1bOQ")

    def _wait(self, app: Disturbed, rng: random.Random, asked: Asked) -> None:
        """Enter, and until the turn is over, maybe with an Escape on the way."""
        before = app.state.number
        if not asked.sound:
            if app.state.phase == "typing":
                before -= 1
            app.press("\r")
        if rng.random() < 0.15:
            app.after(rng.uniform(0.0, 3.0), partial(_silence, app))
        if not app.wait(HANGS_S, partial(_over, 0 if asked.sound else before)) and not app.over:
            self._violate(f"{asked.way} turn hangs in {app.state.phase!r} after {', '.join(asked.faults) or '-'}")
            app.press("\x1b")
            if not app.wait(10.0, lambda turn: turn.phase in ("done", "idle")):
                self._violate("Escape does not end it")
        app.wait(0.3)

    def _do(self, app: Disturbed, kind: str, rng: random.Random) -> None:
        """What strikes late is the next prompt's."""
        done = FAULTS[kind](app, rng, self._devices)
        self.outcome.faults[done] += 1
        self.outcome.asked[-1].faults.append(done)

    def _measure(self, app: Disturbed, latency: float | None) -> None:
        memory: dict[str, float] = {}
        descriptors = 0
        for name, process in app.processes().items():
            try:
                memory[name] = round(process.memory_info().rss / 2**20, 1)
                descriptors = process.num_fds() if name == "screen" else descriptors
            except psutil.Error:
                continue
        self.outcome.samples.append(Sample(self._step, descriptors, memory, latency))

    def _settle(self, app: Disturbed, asked: Sequence[Asked]) -> None:
        """What became of all that this app was asked."""
        unheard = {one.sound for one in asked if one.sound} - {sound for sound, texts in self._heard.items() if texts}
        if not app.over and _whole(app.state):
            for sound in sorted(unheard):
                self._listen(app, Path(sound), asked)
        happened = turns(app.told)
        self.outcome.violations += accounts(asked, happened, self._heard, refusals(app.told))
        for turn, plain in unequal(happened, SpeculationOptions.of(self.settings.llm)):
            what = f"wrong: to {turn.final!r} it said {turn.text!r}, plain decoding {plain!r}"
            self.outcome.violations.append(Violation(step_of(asked, turn), what))
        traces = app.torn * ["a traceback on the screen"] + _tracebacks(app.log())
        for trace in traces:
            self._violate(trace)

    def _listen(self, app: Disturbed, sound: Path, asked: Sequence[Asked]) -> None:
        """What is recognised of it when nothing is wrong."""
        app.wait(5.0)
        began = time.monotonic()
        self._speak(app, sound)
        app.wait(HANGS_S, partial(_over, 0))
        self._heard.setdefault(str(sound), set()).update(
            turn.final for turn in turns(app.told) if turn.time >= began - 0.05 and turn.final
        )

    def _violate(self, what: str) -> None:
        self.outcome.violations.append(Violation(self._step, what))


def _silence(app: Disturbed) -> None:
    """Escape; not before a letter, with which a terminal takes it for Alt."""
    if app.state.busy and app.state.phase != "typing":
        app.press("\x1b")


def _settings() -> Settings:
    settings = resolved(load_settings({}), embedded=True)
    return replace(settings, llm=replace(settings.llm, baseline=False))


def _said(prompts: Sequence[str], folder: Path) -> list[Path]:
    """The prompts as sound files."""
    files = [folder / f"said-{number}.wav" for number in range(len(prompts))]
    for prompt, file in zip(prompts, files, strict=True):
        speak(prompt, file, "en-us", 150)
        file.with_suffix(".pcm").write_bytes(b"".join(decode(file)))  # so that a microphone begins at once
    return files


def _seconds(sound: Path) -> float:
    import wave

    with wave.open(str(sound), "rb") as file:
        return file.getnframes() / file.getframerate()


def _over(before: int, turn: Turn) -> bool:
    return turn.phase in ("done", "idle") and turn.number > before and not turn.waiting


def _whole(turn: Turn) -> bool:
    """Whether every stage is ready."""
    return all(status.state == "ready" for status in turn.stages.values())


def _lacking(turn: Turn) -> str:
    return ", ".join(f"{name} ({status.message})" for name, status in turn.stages.items() if status.state != "ready")


def _serious(asked: Asked) -> bool:
    return any(fault not in HARMLESS for fault in asked.faults)


def _tracebacks(log: str) -> list[str]:
    """The last line of each traceback in a log, but where memory ran out: what that was needed for is told there."""
    found: list[str] = []
    for part in log.split("Traceback (most recent call last):")[1:]:
        last = next((line for line in part.splitlines()[1:] if line and not line.startswith(" ")), "")
        if not any(cause in last for cause in _NO_MEMORY):
            found.append(f"a traceback in the log: {last[:150]}")
    return found


def trends(samples: Sequence[Sample]) -> dict[str, tuple[float, float]]:
    """Medians of the first and the last quarter, of what at least eight steps tell."""
    figures: dict[str, list[float]] = {"descriptors": [sample.descriptors for sample in samples if sample.descriptors]}
    for name in sorted({name for sample in samples for name in sample.memory_mb}):
        figures[f"memory_mb {name}"] = [s.memory_mb[name] for s in samples if name in s.memory_mb]
    figures["latency_ms"] = [sample.latency_ms for sample in samples if sample.latency_ms is not None]
    return {
        name: (median(values[: len(values) // 4]), median(values[-(len(values) // 4) :]))
        for name, values in figures.items()
        if len(values) >= 8
    }


def grown(found: dict[str, tuple[float, float]]) -> list[str]:
    """What is not flat."""
    told: list[str] = []
    for name, (first, last) in found.items():
        times, more = FLAT[name.split()[0]]
        if last > times * first and last - first > more:
            told.append(f"{name} grows from {first:.0f} to {last:.0f}")
    return told


@contextmanager
def _embedded() -> Iterator[Path]:
    """A folder to work in; the app offers no other models than those that ship."""
    former = os.environ.get(EMBEDDED)
    os.environ[EMBEDDED] = "1"
    try:
        with tempfile.TemporaryDirectory() as folder:
            yield Path(folder)
    finally:
        os.environ.pop(EMBEDDED) if former is None else os.environ.update({EMBEDDED: former})


def as_line(asked: Asked) -> str:
    """A prompt in a line, while it runs."""
    return f"step {asked.step}: {asked.way}; {', '.join(asked.faults) or 'no fault'}"


def figures(outcome: Outcome) -> dict[str, Any]:
    """What was done and what came of it."""
    told = [violation.what for violation in outcome.violations]
    return {
        "faults": dict(sorted(outcome.faults.items())),
        "not_done": unable(),
        "apps": outcome.apps,
        "prompts": len(outcome.asked),
        "became": dict(Counter(asked.became or "unaccounted" for asked in outcome.asked).most_common()),
        "wrong": sum(what.startswith("wrong") for what in told),
        "lost": sum(what.startswith("lost") for what in told),
        "first_and_last": trends(outcome.samples),
        "violations": len(told),
    }


def table_of(row: dict[str, Any], title: str) -> Table:
    """The figures, one a line."""
    table = Table("what", "how many", title=title)
    for name, value in row.items():
        for part, figure in value.items() if isinstance(value, dict) else ((name, value),):
            label = {"faults": "fault: ", "not_done": "not done: "}.get(name, "")
            shown = f"{figure[0]:.0f} → {figure[1]:.0f}" if isinstance(figure, tuple) else str(figure)
            table.add_row(f"{label}{part}", shown)
    return table


def main(minutes: float, seed: int, only: Sequence[str], first: int = 1, json_path: Path | None = None) -> int:
    """Do it, print, write; exit status 1 where something was not as it must be."""
    with _embedded() as work:
        chaos = Chaos(seed, minutes, only, first, work)
        watch = Watch[Asked](max(1, round(minutes * 10)), "prompts", as_line)
        watch(chaos.steps())
    outcome = chaos.outcome
    outcome.violations += [Violation(0, what) for what in grown(trends(outcome.samples))]
    screen, row = console(), figures(outcome)
    screen.print(table_of(row, f"{minutes:g} minutes of chaos, seed {seed}"))
    for violation in outcome.violations:
        screen.print(f"seed {seed}, step {violation.step}: {violation.what}", markup=False)
    result: dict[str, Any] = {
        "command": command(),
        "machine": machine(),
        "models": [chaos.settings.llm.model, chaos.settings.asr.model],
        "rows": [row],
        "violations": [(violation.step, violation.what) for violation in outcome.violations],
    }
    return watch.leave(result, json_path) or bool(outcome.violations)


def _kinds(given: str) -> list[str]:
    """Raises PredtuiError for a kind that is none."""
    kinds = [kind.strip() for kind in given.split(",") if kind.strip()] or list(FAULTS)
    for kind in kinds:
        if kind not in FAULTS:
            raise PredtuiError(f"{kind!r} is no kind of fault.", f"Choose of: {', '.join(FAULTS)}.")
    return [kind for kind in kinds if kind not in unable()]


def cli(
    minutes: Annotated[float, typer.Option(help="How long.", min=0.01)] = 60.0,
    seed: Seed = 1,
    only: Annotated[str, typer.Option(help=f"Kinds of faults, of {', '.join(FAULTS)}; empty: all.")] = "",
    first: Annotated[int, typer.Option("--step", help="The step to begin with, to see it again.", min=1)] = 1,
    json: Json = None,
) -> None:
    """``predtui bench chaos``."""
    raise typer.Exit(main(minutes, seed, _kinds(only), first, json))
