"""Ways to stream Whisper, by name: what is taken away is off, and a step is the method's, the run's or the default."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from predtui.errors import PredtuiError
from predtui.lab.bench.asr_methods import DEFAULT_STEPS, AsrBench, flow_options, parsed, step_seconds

BENCH = AsrBench(parsed("whisperflow"), Path("model"))
MODEL = cast(Any, SimpleNamespace(window=300, seconds=3.0, large=False))
HUSH = np.zeros(80, np.float32)


def options(name: str) -> Any:
    return flow_options(parsed(name)[0], BENCH, MODEL, HUSH)


def test_what_a_name_takes_away_is_off() -> None:
    whole = options("whisperflow")
    assert (len(whole.tail), whole.pruning, whole.pipelined, whole.pad_to) == (80, "forward", True, 0)
    assert options("whisperflow-beam") == replace(whole, pruning="off")
    assert not options("whisperflow-pipeline").pipelined
    padded = options("whisperflow-hush")
    assert (len(padded.tail), padded.pad_to) == (0, 300)


def test_whisper_streaming_is_the_core_without_what_whisperflow_adds() -> None:
    plain = options("whisper-streaming")
    assert (len(plain.tail), plain.pruning, plain.pipelined, plain.pad_to) == (0, "off", False, 300)


def test_a_step_is_the_methods_or_the_runs_or_the_default() -> None:
    own, plain = parsed("whisper-streaming@0.5,whisper-streaming")
    assert step_seconds(own, replace(BENCH, step=2.0)) == 0.5
    assert step_seconds(plain, replace(BENCH, step=2.0)) == 2.0
    assert step_seconds(plain, BENCH) == DEFAULT_STEPS["whisper-streaming"]


def test_a_hush_word_that_is_missing_is_asked_for() -> None:
    with pytest.raises(PredtuiError, match="no hush word") as caught:
        flow_options(parsed("whisperflow")[0], BENCH, MODEL, None)
    assert caught.value.remedy == "Make one: predtui train hush"
