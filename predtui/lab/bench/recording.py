"""Records what the recogniser makes of synthetic speech, partial by partial, with its mistakes and revisions.

The app's own microphone and recogniser stages hear the sound in virtual time, in which recognising costs nothing. Must
not know what the streams are used for.
"""

from __future__ import annotations

import json
import logging
import random
import tempfile
import wave
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from predtui.asr import stage as asr
from predtui.audio import mic
from predtui.audio.devices import NO_DEVICE
from predtui.clock import VirtualClock
from predtui.commands.outputs import writable
from predtui.commands.with_settings import with_settings
from predtui.lab.bench import report
from predtui.lab.bench.streams import POCKET, Dialogue, Stream, dialogues
from predtui.lab.bench.watch import Watch
from predtui.lab.commands.options import Prompts, Seed
from predtui.lab.training.corpus import compose
from predtui.llm.base import never
from predtui.models.shipped import output
from predtui.runtime.build import resolved
from predtui.settings import AsrSettings, AudioSettings, Settings
from predtui.state.events import Listen, Transcript, TurnStarted
from predtui.state.stage import StageContext
from predtui.tts.espeak import EspeakSynthesizer

VOICES = ("en-us", "en-us+f3", "en-us+m2", "en-gb-x-rp")
WORDS_A_MINUTE = (120, 160)
STREAMS = output("streams", "pocket.json")

Partials = list[tuple[str, float]]


class Listener:
    """The stages "mic" and "asr", one hearing the other."""

    def __init__(self, settings: AsrSettings) -> None:
        """Raises PredtuiError where the recogniser cannot be loaded."""
        self._clock = VirtualClock()
        self._turn = 0
        context = StageContext(self._clock, never, logging.getLogger(__name__))
        self._mic = mic.create(AudioSettings(input=NO_DEVICE))
        self._asr = asr.create(settings)
        for stage in (self._mic, self._asr):
            list(stage.open(context))

    def hear(self, path: Path) -> Partials:
        """What the words of the sound file seem to be, and since how many seconds from its beginning; the last is
        what is understood in the end."""
        self._turn += 1
        start = self._clock.now()
        list(self._asr.handle(TurnStarted(turn=self._turn, source="file")))
        partials: Partials = []
        for transcript in self._transcripts(path):
            if transcript.final or not partials or partials[-1][0] != transcript.text:
                partials.append((transcript.text, round(self._clock.now() - start, 2)))
        return partials

    def _transcripts(self, path: Path) -> Iterator[Transcript]:
        for sound in self._mic.handle(Listen(turn=self._turn, path=str(path))):
            if isinstance(sound, self._asr.accepts):
                heard = self._asr.handle(replace(sound, turn=self._turn))
                yield from (out for out in heard if isinstance(out, Transcript))


def record(prompts: Sequence[str], seed: int, settings: AsrSettings) -> Iterator[tuple[str, Partials]]:
    """Each of ``prompts``, said by one of ``VOICES``, with what it was taken for; those of which nothing was understood
    are left out."""
    rng = random.Random(f"recording {seed}")
    listener = Listener(settings)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "prompt.wav"
        for prompt in prompts:
            speak(prompt, path, rng.choice(VOICES), rng.randint(*WORDS_A_MINUTE))
            partials = listener.hear(path)
            if partials and partials[-1][0]:
                yield prompt, partials


def spoken(dialogues: Sequence[Dialogue], seed: int, settings: AsrSettings) -> list[Dialogue]:
    """The same dialogues as a recogniser hears them; turns of which nothing was understood are left out. Raises
    PredtuiError where it cannot be loaded."""
    texts = list(dict.fromkeys(turn.text for dialogue in dialogues for turn in dialogue.turns))
    watch = Watch[tuple[str, Partials]](len(texts), "prompts heard", _as_line)
    heard = dict(watch(record(texts, seed, settings)))
    if watch.stopped:
        raise KeyboardInterrupt
    found = []
    for dialogue in dialogues:
        turns = tuple(
            Stream(tuple((seconds, text) for text, seconds in heard[turn.text]), turn.right)
            for turn in dialogue.turns
            if turn.text in heard
        )
        found += [Dialogue(turns, dialogue.history)] if turns else []
    return found


def pocket_prompts(limit: int, seed: int) -> list[str]:
    """Different held-out prompts in the words of a recogniser: lower case, no marks, no turn before."""
    examples = compose.heldout("slots", 20 * limit, seed)
    said = [example.messages[0].content for example in examples if len(example.messages) == 2]
    plain = [text for text in said if text.islower() and text.replace(" ", "").isalpha() and " " in text]
    return list(dict.fromkeys(plain))[:limit]


def speak(text: str, path: Path, voice: str, rate: int, silence: float = 0.0) -> None:
    """Have eSpeak NG say ``text`` into the WAV file ``path``, in so many words a minute, with seconds of ``silence``
    after it."""
    speaker = EspeakSynthesizer(voice, rate)
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, speaker.rate, 0, "NONE", ""))
        file.writeframes(b"".join(speaker.synthesize(text)))
        file.writeframes(bytes(2 * round(silence * speaker.rate)))


def _as_line(heard: tuple[str, Partials]) -> str:
    prompt, partials = heard
    return f"{prompt} → {partials[-1][0]}"


def main(out: Path, prompts: Sequence[str], seed: int, settings: AsrSettings) -> int:
    """Record, write, print; the exit status."""
    watch = Watch[tuple[str, Partials]](len(prompts), "prompts", _as_line)
    streams = watch(record(prompts, seed, settings))
    lines = [f" {json.dumps(prompt)}: {json.dumps(partials)}" for prompt, partials in streams]
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    right = sum(prompt == partials[-1][0] for prompt, partials in streams)
    report.console().print(
        f"{len(streams)} streams, {right} of them understood to the letter in the end, written to {out}", soft_wrap=True
    )
    return watch.leave({}, None)


@with_settings
def cli(
    settings: Settings,
    out: Annotated[Path, typer.Option(help="Write the streams here.", callback=writable)] = STREAMS,
    prompts: Prompts = "pocket",
    limit: Annotated[int, typer.Option(help="Prompts; 0 takes all of a file.", min=0)] = 200,
    prompts_seed: Seed = 1,
) -> None:
    """``predtui bench record``."""
    if prompts == POCKET:
        texts = pocket_prompts(limit, prompts_seed)
    else:
        said = dialogues(prompts, limit, prompts_seed)
        texts = [turn.text for dialogue in said for turn in dialogue.turns]
    raise typer.Exit(main(out, texts, prompts_seed, resolved(settings, embedded=True).asr))
