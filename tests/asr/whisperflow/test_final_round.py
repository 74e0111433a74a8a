"""When the last round over a sound is known before its end."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from predtui.asr.whisperflow.final_round import FinalRound
from predtui.asr.whisperflow.rounds import FlowOptions, Outcome, Round
from predtui.asr.whisperflow.search import Effort
from predtui.asr.whisperflow.stream import RATE, Snapshot
from predtui.asr.whisperflow.transcription import Transcription


def over(seconds: float, ended: bool, start: float = 0.0) -> Round:
    return Round(Snapshot(np.zeros(round(seconds * RATE), np.float32), start, ""), (), ended, 5)


def outcome(one: Round) -> Outcome:
    return Outcome(one, Transcription((), 0.0, 0.0, 0.0, Effort()), 0.1, 1.0)


@given(st.booleans(), st.sampled_from([0, 1600]), st.booleans(), st.integers(1, 9))
def test_only_a_round_in_the_last_ones_window_is_it(wider: bool, ending: int, ended: bool, seconds: int) -> None:
    options = FlowOptions(pad_last_to=100 if wider else 0, ending=ending)
    final = FinalRound(options)
    one = over(seconds, ended)
    final.begun(one)
    final.done(outcome(one))
    same = ended or not (wider or ending)
    assert len(options.sound(one.snapshot.samples, ended)) == seconds * RATE + ending * ended
    assert final.covers(seconds) == same
    assert final.knows(one.snapshot) == same
    assert not final.covers(seconds + 1)
    assert not final.knows(over(seconds + 1, ended).snapshot)
    assert not final.knows(over(seconds, ended, start=1.0).snapshot)


def test_a_newer_round_takes_its_place_and_one_given_up_covers_nothing() -> None:
    final = FinalRound(FlowOptions(pad_last_to=100))
    last, newer = over(1.0, ended=True), over(2.0, ended=False)
    for one in (last, newer):
        final.begun(one)
        final.done(outcome(one))
    assert not final.knows(last.snapshot)
    final.given_up()
    assert not final.covers(0.5)
