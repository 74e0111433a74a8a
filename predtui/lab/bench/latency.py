"""Audio latency with and without speculation, on the real clock: from the Enter key, or the end of the speech, on.

Each turn is typed into the app, key by key, or spoken by eSpeak NG into a WAV file that plays in real time into the app
but for its screen, and is ended as by a key, or hands-free by silence; after it the same prompt is answered without
speculation. Must not know how any stage works.
"""

from __future__ import annotations

import queue
import random
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Annotated, Any

import typer
from rich.table import Table

from predtui.commands.turn import AT_ONCE_S, until_over, until_ready
from predtui.commands.with_settings import with_settings
from predtui.errors import PredtuiError
from predtui.lab.bench.keyboard import Scene, Terminal
from predtui.lab.bench.paired import Pair, foretold, gains, mean
from predtui.lab.bench.recording import VOICES, speak
from predtui.lab.bench.report import command, console, machine
from predtui.lab.bench.shared_model import forward_ms
from predtui.lab.bench.streams import CHARACTERS_A_WORD, POCKET, Dialogue, dialogues, typed
from predtui.lab.bench.watch import Gather, Watch
from predtui.lab.commands.options import Json, MaxTokens, Prompts, Seed, Together, Wpm
from predtui.lab.training.corpus import compose
from predtui.predgen.options import SpeculationOptions
from predtui.runtime.build import make_pipeline, resolved
from predtui.runtime.stages import STAGES
from predtui.settings import Settings
from predtui.state.events import Endpoint, Event, SpeechActivity
from predtui.state.stage import StageSpec
from predtui.state.turn import summary

KINDS = ("typed", "spoken", "hands-free")
WORDS_A_MINUTE = 150
"""How fast ``VOICES`` speak, one after the other."""
_SILENCE_S = 2.5
"""After the last sound of a hands-free turn."""
_COLUMNS = {
    "audio_latency_ms": ("mean", "{:.1f} ms"),
    "baseline_audio_latency_ms": ("without", "{:.1f} ms"),
    "speedup": ("ratio", "{:.2f}x"),
    "first_turn_speedup": ("first turns", "{:.2f}x"),
    "p50_ms": ("median", "{:.1f} ms"),
    "baseline_p50_ms": ("without", "{:.1f} ms"),
    "slower_turns": ("slower by a forward", "{}"),
    "foretold_share": ("answered before last word", "{:.0%}"),
    "ttfs_ms": ("first sentence", "{:.1f} ms"),
    "key_ms": ("Enter to engine", "{:.1f} ms"),
    "recogniser_ms": ("end of input to last words", "{:.1f} ms"),
    "silence_ms": ("end of speech to end of turn", "{:.0f} ms"),
    "identical_share": ("identical", "{:.0%}"),
}

TurnFigures = dict[str, Any]
"""A turn, ready for JSON."""


@dataclass(frozen=True, slots=True)
class LatencyBench:
    """What to measure: every dialogue in an app of its own, once for each of ``kinds``. ``max_tokens`` of a reply;
    ``release_s``: seconds between the last sound that is spoken and the end of the input, the release of a key."""

    settings: Settings
    dialogues: Sequence[Dialogue]
    kinds: Sequence[str] = KINDS
    max_tokens: int = SpeculationOptions().reply_tokens
    release_s: float = 0.3

    @property
    def options(self) -> SpeculationOptions:
        return replace(SpeculationOptions.of(self.settings.llm), reply_tokens=self.max_tokens)

    @property
    def stages(self) -> tuple[StageSpec, ...]:
        return (StageSpec("llm", "predtui.predgen.stage:create", self.options),)


def asked(source: str, limit: int, seed: int, rate: float, together: int) -> list[Dialogue]:
    """``streams.dialogues``, but of the corpus only what can be typed and spoken alike."""
    if source != POCKET:
        return dialogues(source, limit, seed, rate, together=together)
    return [Dialogue((typed(prompt, rate),)) for prompt in _plain_prompts(limit, seed)]


def _plain_prompts(limit: int, seed: int) -> list[str]:
    """Held-out single turns in the words of a recogniser: lower case, no marks."""
    examples = compose.heldout("slots", 20 * limit, seed)
    plain = [e.messages[0].content for e in examples if len(e.messages) == 2 and e.messages[0].content.islower()]
    return random.Random(seed).sample(
        [p for p in plain if 3 <= len(p.split()) <= 12 and p.replace(" ", "").isalpha()], limit
    )


def result(bench: LatencyBench, gather: Gather[TurnFigures] = list) -> dict[str, Any]:
    """The JSON: one row per kind of input, over the turns that are gathered. Raises PredtuiError where the
    app cannot answer."""
    one = forward_ms(bench.options)
    turns = gather(_turns(bench))
    rows = [row(kind, [turn for turn in turns if turn["kind"] == kind], one) for kind in bench.kinds]
    models = [bench.settings.llm.model]
    return {"command": command(), "machine": machine(), "models": models, "rows": rows, "turns": turns}


def _turns(bench: LatencyBench) -> Iterator[TurnFigures]:
    with tempfile.TemporaryDirectory() as folder:
        for dialogue in bench.dialogues:
            for kind in bench.kinds:
                held = _typed(bench, dialogue) if kind == "typed" else _spoken(bench, dialogue, Path(folder), kind)
                for number, (stream, turn) in enumerate(zip(dialogue.turns, held, strict=False), 1):
                    yield {"kind": kind, "said": stream.text, "round": number, **turn}


def _typed(bench: LatencyBench, dialogue: Dialogue) -> Iterator[TurnFigures]:
    with Terminal(Scene(bench.settings, bench.stages)) as app:
        for stream in dialogue.turns:
            turn = app.ask(stream.text, stream.delay)
            own = {
                "audio_latency_ms": turn.audio_latency_ms,
                "baseline_audio_latency_ms": turn.baseline_audio_latency_ms,
                "key_ms": turn.key_ms,
                "foretold": foretold(turn.events),
            }
            yield {**summary(turn.turn), **own}


def _spoken(bench: LatencyBench, dialogue: Dialogue, folder: Path, kind: str) -> Iterator[TurnFigures]:
    hands_free = kind == "hands-free"
    silence = _SILENCE_S if hands_free else bench.release_s
    inbox: queue.SimpleQueue[Event] = queue.SimpleQueue()
    pipeline = make_pipeline(bench.settings, instead=bench.stages, idle_s=AT_ONCE_S)
    pipeline.subscribe(inbox.put)
    pipeline.start()
    try:
        until_ready(inbox, lambda event: None, set(STAGES))
        for stream in dialogue.turns:
            wav, events, before = folder / "prompt.wav", list[Event](), pipeline.state.number
            speak(stream.text, wav, VOICES[len(stream.text) % len(VOICES)], WORDS_A_MINUTE, silence)
            pipeline.listen_file(wav, hands_free)
            until_over(pipeline, inbox, events.append, before, wants_baseline=True, speaks=True)
            heard = pipeline.state.number > before
            waited = pipeline.state.breakdown.get("recogniser")
            own = {"foretold": foretold(events), "recogniser_ms": waited, "silence_ms": silent_ms(events)}
            yield {**summary(pipeline.state), **own} if heard else {}
    finally:
        pipeline.stop()


def silent_ms(events: Sequence[Event]) -> float | None:
    """From the last of the speech to the end of the turn, where silence ended it."""
    quiet: float | None = None
    for event in events:
        if isinstance(event, SpeechActivity):
            quiet = None if event.active else event.time - event.quiet
        if isinstance(event, Endpoint):
            return None if quiet is None or event.reason != "silence" else 1000 * (event.time - quiet)
    return None


def row(kind: str, turns: Sequence[TurnFigures], forward_ms: float) -> dict[str, Any]:
    """Means, and medians by name, of the turns that were heard. Latencies count in ms from the end of the input."""
    heard = [turn for turn in turns if turn.get("audio_latency_ms") and turn.get("baseline_audio_latency_ms")]
    ours = [turn["audio_latency_ms"] for turn in heard]
    plain = [turn["baseline_audio_latency_ms"] for turn in heard]
    keys = [turn["key_ms"] for turn in heard if turn.get("key_ms") is not None]
    silences = [turn["silence_ms"] for turn in heard if turn.get("silence_ms") is not None]
    waits = [turn["recogniser_ms"] for turn in heard if turn.get("recogniser_ms") is not None]
    pairs = [Pair(a, b, turn["round"] == 1) for a, b, turn in zip(ours, plain, heard, strict=True)]
    return {
        "input": kind,
        "n": len(heard),
        "of": len(turns),
        "audio_latency_ms": mean(ours),
        "baseline_audio_latency_ms": mean(plain),
        "p50_ms": median(ours) if ours else None,
        "baseline_p50_ms": median(plain) if plain else None,
        "forward_ms": forward_ms,
        **gains(pairs, forward_ms),
        "foretold_share": mean([turn["foretold"] for turn in heard]),
        "ttfs_ms": mean([turn["ttfs_ms"] for turn in heard]),
        "key_ms": mean(keys),
        "recogniser_ms": mean(waits),
        "silence_ms": median(silences) if silences else None,
        "identical_share": mean([turn["lossless"] is True for turn in heard]),
    }


def as_line(turn: TurnFigures) -> str:
    """A turn in a line."""
    ours, plain = (turn.get(name) for name in ("audio_latency_ms", "baseline_audio_latency_ms"))
    times = ("–" if time is None else f"{time:.0f} ms" for time in (ours, plain))
    same = "identical" if turn.get("lossless") else "not identical"
    return "{:<10} {:>8}, without {:>8}  {}  {}".format(turn["kind"], *times, same, turn["said"][:60])


def main(bench: LatencyBench, json_path: Path | None = None) -> int:
    """Measure, print, write; the exit status."""
    watch = Watch(len(bench.kinds) * sum(len(dialogue.turns) for dialogue in bench.dialogues), "turns", as_line)
    found = result(bench, watch)
    table = Table("audio latency", caption=found["machine"])
    for one in found["rows"]:
        table.add_column(one["input"], justify="right")
    table.add_row("turns heard", *(f"{one['n']} of {one['of']}" for one in found["rows"]))
    for key, (name, form) in _COLUMNS.items():
        table.add_row(name, *("–" if one[key] is None else form.format(one[key]) for one in found["rows"]))
    console().print(table)
    return watch.leave(found, json_path)


@with_settings
def cli(
    settings: Settings,
    prompts: Prompts = "pocket",
    limit: Annotated[int, typer.Option(help="Prompts; 0 takes all of a file.", min=0)] = 10,
    prompts_seed: Seed = 1,
    together: Together = 1,
    wpm: Wpm = 120.0,
    typed: Annotated[bool, typer.Option(help="Press the keys of each prompt.")] = True,
    spoken: Annotated[bool, typer.Option(help="Say each prompt, and let the key go.")] = True,
    hands_free: Annotated[bool, typer.Option(help="Say each prompt, and be silent.")] = True,
    release: Annotated[
        float, typer.Option(help="Seconds from the last spoken sound until the key is let go.", min=0)
    ] = 0.3,
    max_tokens: MaxTokens = 256,
    json: Json = None,
) -> None:
    """``predtui bench latency``."""
    kinds = [kind for kind, wanted in zip(KINDS, (typed, spoken, hands_free), strict=True) if wanted]
    if not kinds:
        raise PredtuiError("neither typed nor spoken: there is nothing to measure.", "Leave one of them on.")
    said = asked(prompts, limit, prompts_seed, CHARACTERS_A_WORD * wpm, together)
    bench = LatencyBench(resolved(settings, embedded=True), said, kinds, max_tokens, release)
    raise typer.Exit(main(bench, json))
