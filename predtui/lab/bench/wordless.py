"""``predtui bench noise``: sounds without a word for the one who listens, through the app's own microphone stage, in
every recogniser. Must not know how a recogniser works.
"""

from __future__ import annotations

import logging
import tempfile
import wave
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
import typer
from rich.table import Table

from predtui.asr.stage import create as recogniser
from predtui.audio.devices import NO_DEVICE
from predtui.audio.mic import create as microphone
from predtui.audio.resample import RATE, to_pcm
from predtui.clock import VirtualClock
from predtui.errors import PredtuiError
from predtui.lab.bench import report
from predtui.lab.commands.options import Json
from predtui.lab.training.asr.corpus import manner
from predtui.lab.training.asr.speech import speak
from predtui.lab.training.asr.voices import TRAINED
from predtui.registry import RECOGNISERS
from predtui.settings import AsrSettings, AudioSettings
from predtui.state.events import Listen, Transcript, TurnStarted
from predtui.state.stage import StageContext

Samples = npt.NDArray[np.float64]
Sound = Callable[[float, np.random.Generator], Samples]
"""Seconds and randomness, to samples at 16 kHz."""

LOUD, SPEECH = 0.1, 0.1
"""Root mean square of noises, and of somebody who speaks into the microphone."""
TALKERS, BELOW_DB = 6, 20.0
"""Of the babble: how many, and how far below ``SPEECH``."""


def silence(seconds: float, rng: np.random.Generator) -> Samples:
    return np.zeros(_count(seconds))


def white(seconds: float, rng: np.random.Generator) -> Samples:
    return LOUD * rng.standard_normal(_count(seconds))


def pink(seconds: float, rng: np.random.Generator) -> Samples:
    """As loud in each octave as in the next."""
    spectrum = np.fft.rfft(rng.standard_normal(_count(seconds)))
    return _level(np.fft.irfft(spectrum / np.sqrt(np.maximum(1, np.arange(len(spectrum)))), _count(seconds)), LOUD)


def music(seconds: float, rng: np.random.Generator) -> Samples:
    """Chords of three notes with four overtones each, two a second, struck and dying away."""
    scale = 220.0 * 2.0 ** (np.array([0, 2, 4, 5, 7, 9, 11, 12, 14, 16]) / 12)
    time = np.arange(RATE // 2) / RATE
    chords = []
    for _ in range(-(-_count(seconds) // len(time))):
        notes = scale[rng.choice(len(scale), 3, replace=False)]
        tones = [np.sin(2 * np.pi * note * k * time) / k**1.5 for note in notes for k in range(1, 6)]
        chords.append(np.sum(tones, axis=0) * np.exp(-3 * time) * np.minimum(1, time * 100))
    return _level(np.concatenate(chords)[: _count(seconds)], LOUD)


def hum(seconds: float, rng: np.random.Generator) -> Samples:
    """Of the mains: 50 Hz and its overtones."""
    time = np.arange(_count(seconds)) / RATE
    return _level(np.sum([np.sin(2 * np.pi * 50 * k * time + k) / k for k in range(1, 12)], axis=0), LOUD)


def knocks(seconds: float, rng: np.random.Generator) -> Samples:
    """On wood, three times in two seconds."""
    out = np.zeros(_count(seconds))
    time = np.arange(RATE // 10) / RATE
    for start in np.sort(rng.integers(0, max(1, len(out) - len(time)), max(1, round(1.5 * seconds)))):
        knock = (rng.standard_normal(len(time)) + np.sin(2 * np.pi * rng.uniform(120, 400) * time)) * np.exp(-60 * time)
        out[start : start + len(time)] += 0.3 * knock
    return np.clip(out, -1.0, 1.0)


def babble(seconds: float, rng: np.random.Generator) -> Samples:
    """Voices that talk with each other, ``BELOW_DB`` below one who speaks to the microphone."""
    out = np.zeros(_count(seconds))
    for _ in range(TALKERS):
        said = np.zeros(0)
        while len(said) < len(out):
            said = np.concatenate(
                [said, speak(str(rng.choice(TALK)), manner(TRAINED, rng)).samples, np.zeros(RATE // 4)]
            )
        out += np.roll(said, int(rng.integers(len(said))))[: len(out)]
    return _level(out, SPEECH * 10 ** (-BELOW_DB / 20))


TALK = (
    "and then she told me that the train was late again",
    "we could meet at the market on saturday if it does not rain",
    "he has been working on that old boat for years",
    "no I do not think that they will come before dinner",
)
SOUNDS: dict[str, Sound] = {
    sound.__name__: sound for sound in (silence, white, pink, music, hum, knocks, babble)
}  # fmt: skip


class Listener:
    """The stages "mic" and "asr" with the recogniser ``engine``, in virtual time. Raises PredtuiError where there is no
    such recogniser here."""

    def __init__(self, engine: str) -> None:
        self._context = StageContext(VirtualClock(), lambda: False, logging.getLogger(__name__))
        self._mic = microphone(AudioSettings(input=NO_DEVICE))
        self._asr = recogniser(AsrSettings(engine=engine))
        self._turn = 0
        for stage in (self._mic, self._asr):
            list(stage.open(self._context))

    def heard(self, samples: Samples) -> str:
        """The final words of a turn that is just this sound."""
        self._turn += 1
        said = ""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "sound.wav"
            with wave.open(str(path), "wb") as file:
                file.setparams((1, 2, RATE, 0, "NONE", ""))
                file.writeframes(to_pcm(samples))
            list(self._asr.handle(TurnStarted(turn=self._turn, source="file")))
            for event in self._mic.handle(Listen(turn=self._turn, path=str(path))):
                if isinstance(event, self._asr.accepts):
                    for told in self._asr.handle(replace(event, turn=self._turn)):
                        said = told.text if isinstance(told, Transcript) else said
        return said


def run(engines: Sequence[str], seconds: float, seed: int) -> dict[str, Any]:
    """What each recogniser hears in each sound."""
    rows = [
        {"engine": engine, "sound": name, "heard": text}
        for engine in engines
        for name, text in _heard(engine, seconds, seed)
    ]
    return {"command": report.command(), "seconds": seconds, "rows": rows}


def _heard(engine: str, seconds: float, seed: int) -> Iterator[tuple[str, str]]:
    try:
        listener = Listener(engine)
    except PredtuiError as error:
        report.console().print(f"{engine}: {error}")
        return
    for number, (name, sound) in enumerate(SOUNDS.items()):
        yield name, listener.heard(sound(seconds, np.random.default_rng([seed, number])))


def cli(
    seconds: Annotated[float, typer.Option(help="Length of each sound.", min=0.1)] = 60.0,
    engines: Annotated[str, typer.Option(help="Recognisers, separated by commas.")] = ",".join(RECOGNISERS.offered()),
    sounds_seed: Annotated[int, typer.Option(help="Seed of the sounds.")] = 0,
    json: Json = None,
) -> None:
    """Silence, noises, music and a babble of voices: no recogniser may hear a word in them."""
    result = run(engines.split(","), seconds, sounds_seed)
    table = Table("recogniser", *SOUNDS, title=f"words heard in {seconds:g} s of what is none")
    for engine in dict.fromkeys(row["engine"] for row in result["rows"]):
        table.add_row(engine, *(str(len(row["heard"].split())) for row in result["rows"] if row["engine"] == engine))
    report.console().print(table)
    report.write(result, json)
    raise typer.Exit(any(row["heard"] for row in result["rows"]))


def _count(seconds: float) -> int:
    return round(seconds * RATE)


def _level(samples: Samples, level: float) -> Samples:
    """``samples`` with the root mean square ``level``."""
    scaled: Samples = samples * (level / (float(np.mean(np.square(samples))) ** 0.5 + 1e-12))
    return scaled
