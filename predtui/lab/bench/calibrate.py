"""Measures what a forward and a first sound cost on this machine. Must not know what the prices are used for."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import median

from predtui.lab import profiles as profile
from predtui.lab.bench.report import console, machine
from predtui.lab.profiles import THIS_MACHINE, HardwareProfile
from predtui.llm.base import LanguageModel
from predtui.llm.load import load
from predtui.settings import TtsSettings
from predtui.tts.base import Synthesizer
from predtui.tts.stage import synthesizer

TOKENS = (1, 2, 4, 8, 16, 32, 64, 128)
CONTEXTS = (0, 64, 256, 1024, 3072)
PREFILL = 256
SENTENCE = "The capital of France is Paris, which lies on the river Seine."


def measure(model: str, engine: str, threads: int, repeats: int) -> HardwareProfile:
    """The profile of this machine with that model and the default voice: medians of ``repeats``.

    Raises PredtuiError where either cannot be loaded.
    """
    loaded = load(model, engine, threads or None)
    try:
        tokens, contexts = _sizes(loaded.model.context_size)
        table = [[1000 * forward(loaded.model, new, known, repeats) for new in tokens] for known in contexts]
        prefill = min(PREFILL, loaded.model.context_size)
        rate = prefill / forward(loaded.model, prefill, 0, repeats)
    finally:
        loaded.model.close()
    voice = synthesizer(TtsSettings())
    first, speech_rate = _speech(voice, repeats)
    return HardwareProfile(
        name=THIS_MACHINE,
        source=f"predtui calibrate: {loaded.name} in {loaded.engine} on the {loaded.device}, {machine(threads)}",
        tokens=tokens,
        context=contexts,
        forward_ms=tuple(tuple(round(ms, 4) for ms in row) for row in table),
        prefill_rate=round(rate, 1),
        first_audio_ms=round(1000 * first, 4),
        speech_rate=round(speech_rate, 1),
    )


def cost_coefficients(model: str, draft: str, engine: str, threads: int, repeats: int) -> dict[int, float]:
    """DuoDecoding's c by tokens of context: the time of a forward of ``model`` over that of its draft in llama.cpp."""
    target, small = load(model, engine, threads or None), load(draft, threads=threads or None)
    try:
        contexts = _sizes(min(target.model.context_size, small.model.context_size))[1]
        return {
            known: forward(target.model, 1, known, repeats) / forward(small.model, 1, known, repeats)
            for known in contexts
        }
    finally:
        target.model.close()
        small.model.close()


def _sizes(context: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """New and known tokens that fit into ``context`` together."""
    tokens = tuple(size for size in TOKENS if size <= context)
    return tokens, tuple(known for known in CONTEXTS if known + tokens[-1] <= context)


def forward(
    model: LanguageModel, new: int, known: int, repeats: int, now: Callable[[], float] = time.perf_counter
) -> float:
    """Median seconds of a forward over ``new`` tokens after ``known`` remembered ones, with logits at each of the new
    as verification asks for them; a first one does not count. ``now``: the clock."""
    rng = random.Random(known)
    tokens = [rng.randrange(model.vocab_size) for _ in range(known + new)]

    def timed() -> float:
        if known:
            model.forward(tokens[:known])
        model.forget(known)
        return _seconds(lambda: model.forward(tokens, last=new).logits, now)

    return median([timed() for _ in range(repeats + 1)][1:])


def _speech(voice: Synthesizer, repeats: int) -> tuple[float, float]:
    """Median seconds to the first chunk of a sentence, and seconds of sound a second in the chunks after it."""
    firsts, rates = [], []
    for _ in range(repeats + 1):
        chunks = voice.synthesize(SENTENCE)
        firsts.append(_seconds(lambda: next(chunks)))  # noqa: B023 - called before the next turn of the loop
        rest: list[bytes] = []
        spent = _seconds(lambda: rest.extend(chunks))  # noqa: B023
        rates.append(sum(map(len, rest)) / 2 / voice.rate / max(spent, 1e-6))
    voice.close()
    return median(firsts[1:]), median(rates[1:])


def _seconds(work: Callable[[], object], now: Callable[[], float] = time.perf_counter) -> float:
    start = now()
    work()
    return now() - start


def main(model: str, engine: str, threads: int = 0, repeats: int = 9, out: Path | None = None, draft: str = "") -> None:
    """Measure, print, write to ``out``, or to the profile ``this-machine``; with a ``draft``, print c as well."""
    told = cost_coefficients(model, draft, engine, threads, repeats) if draft else {}
    found = measure(model, engine, threads, repeats)
    if told:
        found = replace(found, draft_speed=round(median(told.values()), 2))
    path = out or profile.user_profiles() / f"{THIS_MACHINE}.toml"
    profile.write(found, path)
    screen = console()
    screen.print(found.source, soft_wrap=True)
    for known, row in zip(found.context, found.forward_ms, strict=True):
        prices = ", ".join(f"{new}: {ms:.2f}" for new, ms in zip(found.tokens, row, strict=True))
        screen.print(f"forward after {known} tokens, ms by new tokens  {prices}", soft_wrap=True)
    screen.print(f"prefill {found.prefill_rate:.0f} tokens/s, first sound {found.first_audio_ms:.1f} ms")
    if told:
        ratios = ", ".join(f"{known}: {ratio:.1f}" for known, ratio in told.items())
        screen.print(f"draft budget c by tokens of context  {ratios}", soft_wrap=True)
    screen.print(f"written to {path}", soft_wrap=True)
