"""WhisperFlow out of the settings: which model, its hush word, and how its rounds are made. Must not know of turns."""

from __future__ import annotations

import math
import time
from dataclasses import replace

import numpy as np

from predtui.asr.languages import code
from predtui.asr.whisperflow.engine import FlowRecognizer
from predtui.asr.whisperflow.files import find_hush, find_model
from predtui.asr.whisperflow.model import WhisperModel
from predtui.asr.whisperflow.rounds import FlowOptions, Model
from predtui.asr.whisperflow.stream import RATE
from predtui.settings import AsrSettings

SETTLED_SECONDS = 0.4
"""Rounds so soon after each other agree on half a word too: the newest one is stable so long after its end, the others
at once."""
AGREEING_ROUNDS = 3
"""How many have to agree: two of them, so close to each other, agree on a phrase written twice as well."""
HOLD_SECONDS = 3.0
"""What a large model wrote of the newest sound it often writes otherwise once more is said, and in agreement with
itself until then: it knows many words, and guesses."""
WHISPER_SECONDS, UNDERSTOOD = 30.0, -0.6
"""A model that hears less at once than a published Whisper knows few voices and no noise: what it writes of others,
less likely than this in the mean over its tokens, is nothing. Of 60 held-out utterances by voices that it knows none
was below -0.45, of a babble of voices none above -0.7."""
ENDING = RATE // 10
"""Samples of silence after a sound that has ended. Of 120 sounds cut off at their last word's end the pocket Whisper
misheard that word in 18 without, in 9 with this, and of whole ones as many as before."""
LAST_SHARE = 4
"""A large model hears a sound that has ended in a window of so small a part of the one it was trained on, or longer:
nearly as right as in the whole of it, and much sooner."""


def create(settings: AsrSettings) -> FlowRecognizer:
    """Raises PredtuiError as ``load`` does."""
    return FlowRecognizer(*load(settings))


def check(settings: AsrSettings) -> str:
    """The folder of the model. Raises PredtuiError where there is none, or the language is none; fetches nothing."""
    code(settings.language)
    return str(find_model(replace(settings, download=False)))


def load(settings: AsrSettings) -> tuple[WhisperModel, FlowOptions]:
    """The model that ``settings`` name and how it is used. Without a hush word of its own every sound is padded to the
    window, which is slower and never wrong. Raises PredtuiError where there is no such model."""
    language = code(settings.language)
    folder = find_model(settings)
    model = WhisperModel(folder, settings.threads or 1, language, hotwords=settings.hotwords)
    hush = find_hush(folder)
    options = FlowOptions(
        step=settings.step,
        beam=settings.beam,
        tail=np.zeros(0, np.float32) if hush is None else hush,
        pad_to=model.window if hush is None else 0,
        pipelined=settings.pipelined,
        exchange=settings.exchange,
    )
    options = agreeing(options, model)
    _warm(model, options)
    return model, replace(options, measured=_measured(model, options))


def agreeing(options: FlowOptions, model: WhisperModel) -> FlowOptions:
    """``options`` with what makes a word of ``model`` stable, or none at all, and the window of its last round."""
    return replace(
        options,
        rounds=AGREEING_ROUNDS,
        settled=SETTLED_SECONDS,
        hold=HOLD_SECONDS if model.large else 0.0,
        pad_last_to=model.window // LAST_SHARE if model.large else 0,
        ending=0 if model.large else ENDING,
        least=UNDERSTOOD if model.seconds < WHISPER_SECONDS else -math.inf,
    )


def _warm(model: Model, options: FlowOptions) -> None:
    """A round over half a second of silence, in each window: the first sound takes a process up to forty times as long
    as the next."""
    for ended in {options.padding(ended): ended for ended in (False, True)}.values():
        _silence(model, options, ended)


def _measured(model: Model, options: FlowOptions) -> float:
    """Seconds of such a round once the model is warm."""
    begun = time.monotonic()
    _silence(model, options, ended=False)
    return time.monotonic() - begun


def _silence(model: Model, options: FlowOptions, ended: bool) -> None:
    encoded = model.encode(np.zeros(RATE // 2, np.float32), options.tail, options.padding(ended))
    model.decode_job(encoded, "", (), options.beam, options.pruning).result()
