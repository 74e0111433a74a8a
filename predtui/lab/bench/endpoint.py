"""When a hands-free turn ends: turns that are cut off in a pause against the delay at their end, by fixed silences and
by the model's end-of-turn probability.

Each turn is said by eSpeak NG with pauses inside. The app's own microphone, recogniser and language model stages hear
it in virtual time; what the last two take is measured. Must not know how a probability comes about.
"""

from __future__ import annotations

import logging
import math
import random
import tempfile
import time
import wave
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import median
from typing import Annotated, Any

import numpy as np
import typer
from rich.table import Table

from predtui.asr import stage as asr
from predtui.audio import mic
from predtui.audio.devices import NO_DEVICE
from predtui.clock import RealClock, VirtualClock
from predtui.commands.with_settings import with_settings
from predtui.lab.bench.recording import VOICES, WORDS_A_MINUTE, pocket_prompts
from predtui.lab.bench.report import command, console, machine
from predtui.lab.bench.watch import Gather, Watch
from predtui.lab.commands.options import Json, Seed
from predtui.llm.base import never
from predtui.predgen import stage as predgen
from predtui.runtime.build import resolved
from predtui.runtime.turn_taking import Patience
from predtui.settings import AudioSettings, Settings
from predtui.state.events import EndOfTurn, Listen, SpeechActivity, Transcript, TurnStarted
from predtui.state.stage import Stage, StageContext
from predtui.tts.espeak import EspeakSynthesizer

PAUSE_S, SPREAD = 0.5, 0.6
"""Median of a pause inside a turn in seconds, and the standard deviation of its logarithm: a log-normal distribution,
as pauses in spontaneous speech have (Campione and Veronis, 2002)."""
FIXED_S = 0.8
"""The fixed silence that ours is compared with."""
_SILENCES_S = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, FIXED_S, 1.0, 1.2, 1.5)
_AFTER_S = 3.0
"""Silence at the end."""
_QUIET = 0.01
"""Amplitude, of 1, under which the ends of a part are cut away."""

Silence = Callable[[float | None], float]
"""Seconds that end a turn which is over with this probability."""


@dataclass(frozen=True, slots=True)
class Pause:
    """``seconds`` of silence, infinite at the end of the turn. ``probability``: of the turn's end, None where none
    came; it was there ``after`` seconds of silence."""

    seconds: float
    said: str
    probability: float | None
    after: float

    def ends(self, silence: Silence) -> float:
        """Seconds of silence after which the turn would end here, if it lasts."""
        unknown = silence(None)
        return unknown if self.after >= unknown else max(self.after, silence(self.probability))

    def cuts(self, silence: Silence) -> bool:
        return self.ends(silence) < self.seconds < math.inf


Turn = tuple[Pause, ...]
"""Its pauses that were heard, the last of them its end."""


class Ears:
    """The stages "mic", "asr" and "llm", one hearing the other."""

    def __init__(self, settings: Settings) -> None:
        """Raises PredtuiError where one cannot be opened."""
        self._clock, self._turn = VirtualClock(), 0
        log = logging.getLogger(__name__)
        self._mic: Stage = mic.create(AudioSettings(input=NO_DEVICE))
        self._asr: Stage = asr.create(settings.asr)
        self._llm: Stage = predgen.from_settings(settings.llm)
        for stage, clock in ((self._mic, self._clock), (self._asr, self._clock), (self._llm, RealClock())):
            list(stage.open(StageContext(clock, never, log)))

    def close(self) -> None:
        for stage in (self._llm, self._asr, self._mic):
            stage.close()

    def hear(self, path: Path, pauses: Sequence[tuple[float, float]]) -> Turn:
        """``pauses``: when each begins and how long it lasts, in seconds of the file."""
        self._turn += 1
        start, said, known, found = self._clock.now(), Transcript(), EndOfTurn(), dict[int, Pause]()
        for stage in (self._asr, self._llm):
            list(stage.handle(TurnStarted(turn=self._turn, source="voice")))
        for sound in self._mic.handle(Listen(turn=self._turn, path=str(path))):
            began = time.perf_counter()
            for heard in (
                self._asr.handle(replace(sound, turn=self._turn)) if isinstance(sound, self._asr.accepts) else ()
            ):
                if not isinstance(heard, Transcript) or heard.final:
                    continue
                said = replace(heard, turn=self._turn)
                for out in self._llm.handle(said):
                    known = out if isinstance(out, EndOfTurn) else known
            took = time.perf_counter() - began
            if isinstance(sound, SpeechActivity) and not sound.active:
                at = self._clock.now() - start - sound.quiet
                number = min(range(len(pauses)), key=lambda one: abs(pauses[one][0] - at))
                likely = known.probability if known.prompt and known.prompt == said.prompt else None
                found[number] = Pause(pauses[number][1], said.prompt, likely, sound.quiet + took)
        return tuple(found[number] for number in sorted(found))


def run(settings: Settings, limit: int, seed: int, gather: Gather[Turn] = list) -> dict[str, Any]:
    """The JSON. Raises PredtuiError where a stage cannot be opened."""
    turns = [turn for turn in gather(_turns(settings, limit, seed)) if turn and turn[-1].seconds == math.inf]
    rows = [row(turns, f"fixed {1000 * seconds:.0f} ms", _always(seconds)) for seconds in _SILENCES_S]
    rows.append(row(turns, "by probability", Patience()))
    fixed = row(turns, "", _always(FIXED_S))["cut_off_share"]
    rows.append(row(turns, "as often cut off as by fixed 800 ms", shifted(turns, fixed)))
    pauses = [asdict(pause) for turn in turns for pause in turn]
    return {"command": command(), "machine": machine(), "n": len(turns), "rows": rows, "pauses": pauses}


def shifted(turns: Sequence[Turn], cut_off: float) -> Patience:
    """Ours, so much less or more patient that no more turns are cut off than that share, and hardly fewer."""
    for step in range(-60, 121):
        one = replace(Patience(), even=Patience().even + step / 100)
        if row(turns, "", one)["cut_off_share"] <= cut_off:
            return one
    return replace(Patience(), even=Patience().most)


def fitting(turns: Sequence[Turn]) -> Iterator[tuple[Patience, dict[str, Any]]]:
    """Those whose median delay is less than that of all which cut off as few turns; the fewest first."""
    every = (replace(Patience(), even=e / 20, steepness=s / 50) for e in range(1, 13) for s in range(4, 13))
    rows = sorted(((one, row(turns, "", one)) for one in every), key=lambda pair: pair[1]["cut_off_share"])
    least = math.inf
    for one, found in rows:
        if found["p50_delay_ms"] < least:
            least = found["p50_delay_ms"]
            yield one, found


def row(turns: Sequence[Turn], name: str, silence: Silence) -> dict[str, Any]:
    """``silence``'s share of turns cut off inside, and its delays from the end of the speech to that of the turn."""
    delays = [1000 * turn[-1].ends(silence) for turn in turns]
    return {
        "silence": name,
        "cut_off_share": sum(any(pause.cuts(silence) for pause in turn) for turn in turns) / max(1, len(turns)),
        "p50_delay_ms": median(delays) if delays else 0.0,
        "mean_delay_ms": sum(delays) / max(1, len(delays)),
        "p95_delay_ms": float(np.quantile(delays, 0.95)) if delays else 0.0,
    }


def _always(seconds: float) -> Silence:
    return lambda _probability: seconds


def _turns(settings: Settings, limit: int, seed: int) -> Iterator[Turn]:
    rng = random.Random(f"endpoint {seed}")
    ears = Ears(settings)
    try:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "turn.wav"
            for prompt in pocket_prompts(limit, seed):
                yield ears.hear(path, say(prompt, path, rng))
    finally:
        ears.close()


def say(text: str, path: Path, rng: random.Random) -> list[tuple[float, float]]:
    """Have eSpeak NG say ``text`` into a WAV file with one or two pauses between its words and a long one behind it;
    when each begins and how long it lasts."""
    words = text.split()
    gaps = sorted(rng.sample(range(1, len(words)), min(rng.choice((1, 2)), len(words) - 1)))
    parts = [" ".join(words[begin:end]) for begin, end in zip([0, *gaps], [*gaps, len(words)], strict=True)]
    speaker = EspeakSynthesizer(rng.choice(VOICES), rng.randint(*WORDS_A_MINUTE))
    pauses, sound = list[tuple[float, float]](), list[bytes]()
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, speaker.rate, 0, "NONE", ""))
        for number, part in enumerate(parts):
            sound.append(_trimmed(b"".join(speaker.synthesize(part))))
            last = number == len(parts) - 1
            seconds = _AFTER_S if last else min(max(rng.lognormvariate(math.log(PAUSE_S), SPREAD), 0.15), 3.0)
            pauses.append((sum(map(len, sound)) / 2 / speaker.rate, math.inf if last else seconds))
            sound.append(bytes(2 * round(seconds * speaker.rate)))
        file.writeframes(b"".join(sound))
    return pauses


def _trimmed(pcm: bytes) -> bytes:
    """Without the silence at both ends."""
    loud = np.flatnonzero(np.abs(np.frombuffer(pcm, "<i2")) > _QUIET * 2**15)
    return pcm[2 * loud[0] : 2 * loud[-1] + 2] if loud.size else b""


def as_line(turn: Turn) -> str:
    """A turn in a line."""
    told = ("–" if pause.probability is None else f"{pause.probability:.2f}" for pause in turn)
    return f"{' '.join(told):<16} {turn[-1].said if turn else '(nothing heard)'}"


def main(settings: Settings, limit: int, seed: int, fit: bool, json_path: Path | None) -> int:
    """Measure, print, write; the exit status."""
    watch: Watch[Turn] = Watch(limit, "turns", as_line)
    heard: list[Turn] = []

    def gather(turns: Iterable[Turn]) -> list[Turn]:
        heard.extend(watch(turns))
        return heard

    found = run(settings, limit, seed, gather)
    table = Table(title=f"End of turn: {found['n']} turns with pauses inside", caption=found["machine"])
    for name in ("silence", "turns cut off", "delay, median", "mean", "95 %"):
        table.add_column(name, justify="left" if name == "silence" else "right")
    for one in found["rows"]:
        delays = (f"{one[name]:.0f} ms" for name in ("p50_delay_ms", "mean_delay_ms", "p95_delay_ms"))
        table.add_row(one["silence"], f"{one['cut_off_share']:.1%}", *delays)
    console().print(table)
    if fit:
        for one, its in fitting([turn for turn in heard if turn and turn[-1].seconds == math.inf]):
            console().print(f"{one}: {its['cut_off_share']:.1%} cut off, {its['p50_delay_ms']:.0f} ms")
    return watch.leave(found, json_path)


@with_settings
def cli(
    settings: Settings,
    limit: Annotated[int, typer.Option(help="Turns.", min=1)] = 200,
    prompts_seed: Seed = 1,
    fit: Annotated[bool, typer.Option("--fit", help="Print what fits these turns best.")] = False,
    json: Json = None,
) -> None:
    """``predtui bench endpoint``."""
    raise typer.Exit(main(resolved(settings, embedded=True), limit, prompts_seed, fit, json))
