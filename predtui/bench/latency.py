"""Audio latency with and without speculation, on the real clock: from the Enter key, or the end of the speech, on.

Each turn is typed into the app, key by key, or spoken by eSpeak NG into a WAV file that plays in real time into the app
but for its screen; after it the same prompt is answered without speculation. Must not know how any stage works.
"""

from __future__ import annotations

import queue
import random
import tempfile
import wave
from pathlib import Path
from statistics import median
from typing import Any

from rich.table import Table

from predtui.bench.keyboard import Scene, Terminal
from predtui.bench.report import command, console, machine, write
from predtui.events import Event
from predtui.headless import AT_ONCE_S, until_over, until_ready
from predtui.pipeline import STAGES
from predtui.settings import Settings
from predtui.training.corpus import compose
from predtui.tts.espeak import EspeakSynthesizer
from predtui.turn import Turn, summary
from predtui.wiring import make_pipeline

KINDS = ("typed", "spoken")


def run(settings: Settings, limit: int, seed: int, cps: float) -> dict[str, Any]:
    """A row a kind of input: medians of the audio latency in ms with and without speculation. Each turn is the first of
    its conversation."""
    turns: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        for prompt in _prompts(limit, seed):
            for kind in KINDS:
                if kind == "typed":
                    turn = _typed(settings, prompt, cps)
                else:
                    turn = _heard(settings, _spoken(prompt, Path(folder) / "prompt.wav"))
                turns.append({"kind": kind, "said": prompt, **turn})
    rows = [_row(kind, [turn for turn in turns if turn["kind"] == kind]) for kind in KINDS]
    return {"command": command(), "machine": machine(), "models": [settings.llm.model], "rows": rows, "turns": turns}


def _prompts(limit: int, seed: int) -> list[str]:
    """Held-out single turns in the words of a recogniser: lower case, no marks."""
    examples = compose.heldout("slots", 20 * limit, seed)
    plain = [e.messages[0].content for e in examples if len(e.messages) == 2 and e.messages[0].content.islower()]
    return random.Random(seed).sample(
        [p for p in plain if 3 <= len(p.split()) <= 12 and p.replace(" ", "").isalpha()], limit
    )


def _spoken(prompt: str, path: Path) -> Path:
    voice = EspeakSynthesizer(rate=150)
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, voice.rate, 0, "NONE", ""))
        file.writeframes(b"".join(voice.synthesize(prompt)))
    return path


def _typed(settings: Settings, prompt: str, cps: float) -> dict[str, Any]:
    with Terminal(Scene(settings)) as app:
        asked = app.ask(prompt, 1 / cps)
    own = {
        "audio_latency_ms": asked.audio_latency_ms,
        "baseline_audio_latency_ms": asked.baseline_audio_latency_ms,
        "key_ms": asked.key_ms,
    }
    return {**summary(asked.turn), **own}


def _heard(settings: Settings, wav: Path) -> dict[str, Any]:
    inbox: queue.SimpleQueue[Event] = queue.SimpleQueue()
    pipeline = make_pipeline(settings, idle_s=AT_ONCE_S)
    pipeline.subscribe(inbox.put)
    pipeline.start()
    try:
        until_ready(inbox, lambda event: None, set(STAGES))
        pipeline.listen_file(wav)
        until_over(pipeline, inbox, lambda event: None, wants_baseline=True, speaks=True)
        state: Turn = pipeline.state
        return summary(state) if state.number else {}
    finally:
        pipeline.stop()


def _row(kind: str, turns: list[dict[str, Any]]) -> dict[str, Any]:
    heard = [turn for turn in turns if turn.get("audio_latency_ms") and turn.get("baseline_audio_latency_ms")]
    ours = [turn["audio_latency_ms"] for turn in heard]
    plain = [turn["baseline_audio_latency_ms"] for turn in heard]
    keys = [turn["key_ms"] for turn in heard if turn.get("key_ms") is not None]
    return {
        "input": kind,
        "n": len(heard),
        "of": len(turns),
        "audio_latency_ms": median(ours) if ours else None,
        "baseline_audio_latency_ms": median(plain) if plain else None,
        "ttfs_ms": median(turn["ttfs_ms"] for turn in heard) if heard else None,
        "key_ms": median(keys) if keys else None,
        "identical": sum(turn["lossless"] is True for turn in heard),
    }


def main(settings: Settings, limit: int = 10, seed: int = 1, cps: float = 10.0, json_path: Path | None = None) -> None:
    """Measure, print, write."""
    result = run(settings, limit, seed, cps)
    table = Table(
        *("input", "turns heard", "audio latency", "without", "first sentence", "Enter to engine", "identical"),
        caption=result["machine"],
    )
    for row in result["rows"]:
        figures = (row[name] for name in ("audio_latency_ms", "baseline_audio_latency_ms", "ttfs_ms", "key_ms"))
        cells = ["–" if figure is None else f"{figure:.1f} ms" for figure in figures]
        table.add_row(row["input"], f"{row['n']} of {row['of']}", *cells, str(row["identical"]))
    console().print(table)
    write(result, json_path)
