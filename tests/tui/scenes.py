"""Turns for the screen's tests: scripted events folded by the reducer, and a driver that remembers what it is asked."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

from predtui.audio.found import Found, Level, Say, Told
from predtui.runtime.manner import Manner
from predtui.runtime.typing import Typed
from predtui.state import events as ev
from predtui.state.exchange import Exchange
from predtui.state.reducer import reduce
from predtui.state.turn import Turn


def fold(events: Iterable[ev.Event], turn: Turn | None = None) -> Turn:
    state = turn or Turn()
    for event in events:
        state = reduce(state, event)
    return state


def by_path(path: str) -> dict[str, str]:
    """The settings of a model, as the app wants to be told."""
    return {"llm.model": path}


def machine() -> list[ev.Event]:
    """All stages ready, one sample of the machine."""
    stages = ("mic", "asr", "llm", "tts", "player")
    return [
        *(ev.StageStatus(stage=name, state="ready", time=1.0) for name in stages),
        ev.Usage(
            time=1.0,
            cpu=43.0,
            memory_mb=612.0,
            stages=(("asr", 8.0, 96.0), ("llm", 31.0, 214.0), ("tts", 2.0, 41.0)),
        ),
    ]


def first_exchange() -> list[ev.Event]:
    """A finished turn before the one on screen."""
    return [
        ev.TurnStarted(turn=1, time=2.0),
        ev.Transcript(turn=1, revision=1, time=2.5, stable="how many legs has a spider", unfinished=False, final=True),
        ev.ReplyCommitted(turn=1, revision=1, time=2.6, index=0, text="A spider has eight legs."),
        ev.ReplyFinished(
            turn=1, revision=1, time=2.7, prompt="how many legs has a spider", text="A spider has eight legs."
        ),
        ev.Playback(turn=1, revision=1, time=2.7, state="started"),
        ev.Playback(turn=1, revision=1, time=3.7, state="finished"),
    ]


QUESTION = ["what", "is", "the", "capital", "of", "france"]


def speculating(words: int = 5) -> list[ev.Event]:
    """A spoken turn under way: ``words`` heard, guesses verified at each."""
    events: list[ev.Event] = [ev.TurnStarted(turn=2, time=10.0, source="voice")]
    for count in range(1, words + 1):
        at = 10.0 + 0.4 * count
        stamp = {"turn": 2, "revision": count}
        stable, tentative = " ".join(QUESTION[: count - 1]), QUESTION[count - 1]
        outcome = "reject" if count < 3 else "partial" if count < 5 else "accept"
        accepted = {1: 0, 2: 0, 3: 3, 4: 5}.get(count, 12)
        events += [
            ev.Work(**stamp, stage="asr", start=at - 0.12, end=at),
            ev.Transcript(**stamp, time=at, stable=stable, tentative=tentative),
            ev.Work(**stamp, stage="llm", start=at + 0.01, end=at + 0.09 + 0.05 * (count % 3)),
            ev.Verdict(
                **stamp, time=at + 0.1, outcome=outcome, accepted=accepted,
                of=0 if count == 1 else 14 if count < 5 else 12,
                forwards=1 if accepted == 12 else 14 - accepted, ms=6.1 if accepted == 12 else 22.4 + count,
            ),
            ev.Candidate(
                **stamp, time=at + 0.1, prompt=stable,
                kept="The capital of "[: accepted * 5], new="France is Paris. It lies on the Seine.",
                rejected="Spain is Madrid." if count > 2 else "", tokens=14, complete=True,
            ),
            ev.Work(**stamp, stage="tts", start=at + 0.2, end=at + 0.26),
        ]  # fmt: skip
    return events


def answered() -> list[ev.Event]:
    """The same turn spoken to its end, answered, and measured without speculation."""
    stamp: dict[str, Any] = {"turn": 2, "revision": 7}
    text = "The capital of France is Paris. It lies on the Seine."
    return [
        *speculating(6),
        ev.Endpoint(**stamp, time=12.9),
        ev.Transcript(**stamp, time=12.91, stable=" ".join(QUESTION), unfinished=False, final=True),
        ev.Verdict(**stamp, time=12.92, outcome="accept", accepted=12, of=12, forwards=1, ms=6.1, final=True),
        ev.Candidate(
            **stamp, time=12.92, prompt=" ".join(QUESTION),
            kept="The capital of France is Paris.", new=" It lies on the Seine.", tokens=20, complete=True,
        ),
        ev.ReplyCommitted(**stamp, time=12.917, index=0, text="The capital of France is Paris."),
        ev.SpeechChunk(**stamp, time=12.918, index=0, pcm=b"\0\0"),
        ev.Playback(**stamp, time=12.921, state="started"),
        ev.ReplyCommitted(**stamp, time=12.99, index=1, text=" It lies on the Seine."),
        ev.ReplyFinished(
            **stamp, time=13.0, prompt=" ".join(QUESTION),
            text=text, sentences=2, tokens=20, forwards=9, ttfs_ms=6.1, nfetfs=1, outcome="accept",
        ),
        ev.Work(**stamp, stage="llm", start=12.91, end=13.0),
        ev.Work(**stamp, stage="tts", start=13.0, end=13.1),
        ev.Playback(**stamp, time=15.4, state="playing", seconds=2.4),
        ev.Baseline(**stamp, time=15.5, ttfs_ms=64.0, nfetfs=8, first_sentence="The capital of France is Paris."),
        ev.BaselineSpeech(**stamp, time=15.6, ms=18.9),
    ]  # fmt: skip


SOUND: tuple[Told, ...] = (
    Say("A voice is playing: be quiet, and listen."),
    Level(-41.0),
    Found("loudspeaker", "found", "has played 5 seconds of a voice", needed=True),
    Found(
        "echo", "missing", "the microphone hears the loudspeaker, and its echo is not cancelled.",
        "Turn it down, or take headphones: hands-free, a reply might hear itself.",
    ),
    Say("Now say something."),
    Level(-27.0),
)  # fmt: skip
"""A sound check under way."""


class ScriptedDriver:
    """Emits events when asked to, and keeps every line typed in ``lines``, whether utilisation is seen in ``watched``,
    every other request in ``asked``."""

    def __init__(self, events: Iterable[ev.Event] = ()) -> None:
        self.state = fold(events)
        self.asked: list[tuple[Any, ...]] = []
        self.lines: list[Typed] = []
        self.watched: list[bool] = []
        self.listeners: list[Callable[[ev.Event], None]] = []
        self.fails: Exception | None = None

    def subscribe(self, listener: Callable[[ev.Event], None]) -> None:
        self.listeners.append(listener)

    def emit(self, *events: ev.Event) -> None:
        for event in events:
            self.state = reduce(self.state, event)
            for listener in self.listeners:
                listener(event)

    def start(self) -> None:
        self.asked.append(("start",))
        if self.fails:
            raise self.fails

    def stop(self) -> None:
        self.asked.append(("stop",))

    def type_line(self, typed: Typed) -> None:
        self.lines.append(typed)

    def talk(self, on: bool) -> None:
        self.asked.append(("talk", on))

    def silence(self) -> None:
        self.asked.append(("silence",))

    def resume(self, session: int = 0, exchanges: tuple[Exchange, ...] = ()) -> None:
        self.asked.append(("resume", session, exchanges))

    def watch(self, on: bool) -> None:
        self.watched.append(on)

    def configure(self, verifier: str = "") -> None:
        self.asked.append(("configure", verifier))

    def conduct(self, manner: Manner) -> None:
        self.asked.append(("conduct", manner))

    def replace_stage(self, name: str, options: Any) -> None:
        self.asked.append(("replace", name, options))

    def restart_stage(self, name: str = "") -> None:
        self.asked.append(("restart", name))

    def renew_stage(self, name: str) -> None:
        self.asked.append(("renew", name))


def utilised(seconds: int = 60, cores: int = 8, gpu: bool = True) -> list[ev.Event]:
    """A turn in which the machine was busy, sampled each second."""
    events: list[ev.Event] = [ev.TurnStarted(turn=3, time=20.0)]
    for second in range(seconds):
        wave = 0.5 + 0.5 * math.sin(second / 6)
        tokens = sum(round(40 * (0.5 + 0.5 * math.sin(at / 6))) for at in range(second + 1))
        events += [
            ev.Candidate(turn=3, time=20.0 + second, generated=tokens, forwards=tokens // 3, tokens=12),
            ev.Usage(
                time=20.0 + second, cpu=10.0 + 70 * wave, memory_mb=640.0, watts=12.0 + 40 * wave,
                gpu=90 * wave if gpu else None, gpu_memory_mb=2048.0 + 900 * wave if gpu else None,
                gpu_watts=40.0 + 200 * wave if gpu else None, gpu_celsius=40.0 + 25 * wave if gpu else None,
                cores=tuple(100 * abs(math.sin((second + 7 * core) / (5 + core))) for core in range(cores)),
                stages=(
                    ("ui", 3.0, 90.0), ("mic", 0.0, 40.0), ("asr", 8.0 + 30 * wave, 96.0),
                    ("llm", 30.0 + 150 * wave, 214.0 + 20 * second), ("tts", 2.0 + 40 * wave, 41.0),
                    ("player", 1.0, 38.0),
                ),
            ),
        ]  # fmt: skip
    return events
