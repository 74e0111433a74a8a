"""PredGen's methods at the keyboard: each types the same dialogues into an app of its own, and hears the reply.

Must not know how a method works, or how a turn is drawn.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from predtui.config import load
from predtui.lab.bench.keyboard import Asked, Scene, Terminal
from predtui.lab.bench.methods import Method
from predtui.lab.bench.paired import foretold
from predtui.lab.bench.records import TurnRecord
from predtui.lab.bench.shared_model import forward_ms
from predtui.lab.bench.streams import Dialogue, Stream
from predtui.predgen.options import SpeculationOptions
from predtui.runtime.build import resolved
from predtui.settings import TtsSettings
from predtui.state.events import Baseline, ReplyCommitted, ReplyFinished
from predtui.state.stage import StageSpec

UNTYPED = ("mic", "asr")
"""Stages that no key needs."""


def run_on_screen(
    methods: Mapping[str, Method],
    dialogues: Sequence[Dialogue],
    options: SpeculationOptions,
    speech: TtsSettings | None = None,
) -> Iterator[TurnRecord]:
    """Every dialogue by every method, methods interleaved, an app for each dialogue. Without speculation a prompt is
    pasted and ended at once, so that there is nothing to speculate on.

    Raises PredtuiError where the app cannot answer.
    """
    one = forward_ms(options)
    for number, dialogue in enumerate(dialogues):
        for name, method in methods.items():
            for record in _held(name, method, dialogue, options, speech):
                yield replace(record, dialogue=number, forward_ms=one)


def _held(
    name: str, method: Method, dialogue: Dialogue, options: SpeculationOptions, speech: TtsSettings | None
) -> Iterator[TurnRecord]:
    with Terminal(scene(method, options, speech)) as app:
        for number, stream in enumerate(dialogue.turns, 1):
            asked = app.ask(stream.text, stream.delay if method.speculates else 0.0)
            yield record(name, options, number, stream, asked)


def scene(method: Method, options: SpeculationOptions, speech: TtsSettings | None = None) -> Scene:
    """The app with the model as the method has it."""
    settings = resolved(load({}), embedded=True)
    llm = replace(settings.llm, pause_ms=1000 * method.pause_s, model=options.model, verifier=options.verifier)
    spec = StageSpec("llm", "predtui.predgen.stage:create", method.over(options))
    return Scene(replace(settings, llm=llm, tts=speech or settings.tts), (spec,), without=UNTYPED)


def record(name: str, options: SpeculationOptions, number: int, stream: Stream, asked: Asked) -> TurnRecord:
    """What came of turn ``number``; milliseconds count from the Enter key. Nobody counts the model's forwards before
    the end of the input, nor the synthesiser's."""
    reply = asked.turn.reply or ReplyFinished()
    committed = next((event.time for event in asked.events if isinstance(event, ReplyCommitted)), None)
    plain = asked.turn.baseline or Baseline()
    return TurnRecord(
        method=name,
        model=options.model,
        seed=options.seed,
        dialogue=0,
        round=number,
        prompt=reply.prompt,
        reply=reply.text,
        outcome=reply.outcome,
        ttfs_ms=None if committed is None else round((committed - asked.enter) * 1000, 3),
        nfetfs=reply.nfetfs,
        audio_latency_ms=None if asked.audio_latency_ms is None else round(asked.audio_latency_ms, 3),
        identical=plain.identical,
        logit_gap=round(plain.logit_gap, 4),
        right=stream.right(reply.text) if stream.right else None,
        input_forwards=None,
        foreseen=None,
        tokens=reply.tokens,
        generated=reply.generated,
        speech_forwards=None,
        speech_positions=None,
        forward_ms=0.0,
        foretold=foretold(asked.events),
    )
