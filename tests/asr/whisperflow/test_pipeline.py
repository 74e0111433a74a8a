"""Two executors: every round comes out once, in order, and a busy encoder is seen."""

import threading

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from predtui.asr.whisperflow.model import Encoded
from predtui.asr.whisperflow.pipeline import Pipeline
from predtui.asr.whisperflow.rounds import FlowOptions, Round, RoundRunner
from predtui.asr.whisperflow.search import Effort
from predtui.asr.whisperflow.stream import Snapshot
from predtui.asr.whisperflow.transcription import Transcription


class Job:
    def __init__(self, number: float) -> None:
        self.number = number

    def step(self) -> bool:
        return True

    def advance(self, tokens: float) -> None:
        pass

    def result(self) -> Transcription:
        return Transcription((), 0.0, -self.number, 1.0, Effort())


class Model:
    """Hears the first sample of each sound; encodes when it is let."""

    seconds = 1.0

    def __init__(self) -> None:
        self.let = threading.Event()

    def encode(self, samples, tail, pad_to=0) -> Encoded:
        self.let.wait(60)
        return Encoded(float(samples[0]), 1, float(samples[0]))

    def decode_job(self, encoded, prompt, reference, beam=5, pruning="forward") -> Job:
        return Job(encoded.states)


def over(number: int) -> Round:
    return Round(Snapshot(np.full(10, number, np.float32), 0.0, ""), (), ended=False, beam=5)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 8), st.integers(0, 8))
def test_every_round_comes_once_and_in_order(first: int, later: int) -> None:
    model = Model()
    model.let.set()
    pipeline = Pipeline(RoundRunner(model, FlowOptions(), lambda: 0.0), lambda: 0.0)
    for number in range(first):
        pipeline.submit(over(number))
    outcomes = pipeline.done(wait=True)
    for number in range(first, first + later):
        pipeline.submit(over(number))
    outcomes += pipeline.done(wait=False)
    outcomes += pipeline.done(wait=True)
    assert [-one.heard.mean_logprob for one in outcomes] == [one.gflops for one in outcomes] == [*range(first + later)]
    assert pipeline.done(wait=True) == []


def test_it_is_busy_while_the_newest_round_is_encoded() -> None:
    model = Model()
    pipeline = Pipeline(RoundRunner(model, FlowOptions(), lambda: 0.0), lambda: 0.0)
    assert not pipeline.busy
    pipeline.submit(over(1))
    assert pipeline.busy
    assert pipeline.done(wait=False) == []
    model.let.set()
    assert len(pipeline.done(wait=True)) == 1
    pipeline.submit(over(2))
    pipeline.forget()
    assert not pipeline.busy
    assert pipeline.done(wait=True) == []
