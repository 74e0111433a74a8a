"""Builds Zonos from the settings: checkpoint, codec and voice, and a warning where it is too slow here.

Must not know of turns.
"""

from __future__ import annotations

import time

import torch

from predtui.errors import PredtuiError
from predtui.settings import TtsSettings
from predtui.tts.zonos import speakers
from predtui.tts.zonos.checkpoint import USUAL, WEIGHTS, find, load_model
from predtui.tts.zonos.codec import load_codec
from predtui.tts.zonos.graphs import GraphedSteps
from predtui.tts.zonos.phonemes import check_language
from predtui.tts.zonos.quantize import quantize
from predtui.tts.zonos.sampling import SamplingOptions
from predtui.tts.zonos.speech import failure
from predtui.tts.zonos.synthesizer import CALM, EMOTIONS, Manner, ZonosSynthesizer, positions

PHONEMES_A_WORD = 15 * 60 / 175
"""Makes 175 words per minute Zonos' usual 15 phonemes per second."""
TRIED_FRAMES = 4
"""Frames that are timed when the engine opens."""


def load(options: TtsSettings) -> ZonosSynthesizer:
    """The engine of the settings: in bfloat16 on a GPU where there is one, else in float32 on the CPU. Raises
    PredtuiError, with what to do, where something is missing, does not fit or is not known."""
    manner = manner_of(options)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    folder = find(options.model or USUAL, "config.json", WEIGHTS)
    try:
        model = load_model(folder, device, torch.bfloat16 if device == "cuda" else torch.float32)
        if options.int8:
            quantize(model.backbone)
        codec = load_codec(options.codec, device)
        step = (
            GraphedSteps(model, positions(model, codec, manner)).step if device == "cuda" and options.graphs else None
        )
        engine = ZonosSynthesizer(model, codec, manner, sampling_of(options), step)
    except (RuntimeError, MemoryError) as error:
        raise failure(error) from error
    engine.advice = _advice(engine, device)
    return engine


def manner_of(options: TtsSettings) -> Manner:
    """Raises PredtuiError for an unknown language, voice or emotion."""
    check_language(options.language)
    return Manner(
        language=options.language,
        speaker=speakers.load(options.speaker) if options.speaker else None,
        emotion=emotions(options.emotion),
        rate=options.rate * PHONEMES_A_WORD / 60,
        pitch_std=options.pitch_std,
        carries=options.carries,
        seconds=options.seconds,
    )


def sampling_of(options: TtsSettings) -> SamplingOptions:
    return SamplingOptions(
        temperature=options.temperature,
        linear=options.linear,
        confidence=options.confidence,
        quadratic=options.quadratic,
        top_p=options.top_p,
        top_k=options.top_k,
        min_p=options.min_p,
        seed=options.seed,
    )


def emotions(text: str) -> dict[str, float]:
    """Weights by emotion, parsed from text such as "happiness=0.6 neutral=0.4"; ``CALM`` for an empty text. Raises
    PredtuiError for an unknown emotion, a weight that is no finite number from 0 on, or no weight above 0."""
    weights: dict[str, float] = {}
    for word in text.replace(",", " ").split():
        name, _, value = word.partition("=")
        try:
            weights[name] = float(value)
        except ValueError:
            weights[name] = -1.0
    if any(name not in EMOTIONS or not 0 <= value < float("inf") for name, value in weights.items()):
        raise PredtuiError(f"tts.emotion = {text!r} cannot be read.", f'Write "neutral=1"; of {", ".join(EMOTIONS)}.')
    if weights and not sum(weights.values()):
        raise PredtuiError(f"tts.emotion = {text!r} has no weight above 0.", 'Write "neutral=1".')
    return weights or dict(CALM)


def _advice(engine: ZonosSynthesizer, device: str) -> str:
    """A warning where the forwards alone take longer than the speech does."""
    speech = engine.synthesize("ready")
    next(speech)
    start = time.perf_counter()
    for _ in range(TRIED_FRAMES):
        next(speech)
    factor = (time.perf_counter() - start) / TRIED_FRAMES * engine.frame_rate
    if factor < 1:
        return ""
    return f"Zonos takes {factor:.1f} s for a second of speech on this {device.upper()}. Choose --tts espeak."
