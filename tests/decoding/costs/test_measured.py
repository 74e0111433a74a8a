"""What a forward costs is known before the first key, and kept up with."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui.clock import VirtualClock
from predtui.decoding.costs.constants import MEASURING_S, SIZES
from predtui.decoding.costs.curve import Curve
from predtui.decoding.costs.instrument import Instrument
from predtui.decoding.costs.measured import measure, recall
from predtui.lab.bench.shared_model import priced
from predtui.llm.scripted import ScriptedModel


@given(st.floats(0.0003, 30.0), st.floats(0.0, 1.0))
def test_one_token_and_many_are_told_apart_on_any_machine(one: float, further: float) -> None:
    clock = VirtualClock()
    model = priced(ScriptedModel(), lambda new, _known: one * (1 + further * (new - 1)), clock)
    model.forward([5, 6, 7])
    began = clock.now()
    instrument = Instrument(clock)
    measure(model, [5, 6, 7], instrument)
    curve = instrument.costs
    for size in (1, 16):
        assert curve.seconds(size) == pytest.approx(one * (1 + further * (size - 1)), rel=1e-3)
    largest = one * (1 + further * (max(SIZES) - 1))
    assert clock.now() - began <= MEASURING_S + one + largest


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PREDTUI_CACHE_DIR", str(tmp_path))
    return tmp_path


def costs_of(seconds: float, further: float, name: str) -> tuple[Curve, int]:
    """As a stage that is opened has them, and the forwards that this took."""
    clock = VirtualClock()
    model = priced(ScriptedModel(), lambda new, _known: seconds * (1 + further * (new - 1)), clock)
    model.forward([5, 6, 7])
    before = model.counters.forwards
    instrument = Instrument(clock)
    recall(model, [5, 6, 7], instrument, name)
    return instrument.costs, model.counters.forwards - before


@pytest.mark.usefixtures("cache")
def test_what_was_measured_once_is_known_the_next_time() -> None:
    first, forwards = costs_of(0.01, 0.1, "known")
    assert forwards > 1
    again, forwards = costs_of(0.012, 0.1, "known")
    assert forwards == 1
    assert [again.seconds(size) for size in SIZES] == pytest.approx([first.seconds(size) for size in SIZES])
    assert costs_of(0.012, 0.1, "other")[1] > 1
    slower, forwards = costs_of(0.02, 0.3, "known")
    assert forwards > 1
    assert slower.seconds(16) == pytest.approx(0.02 * (1 + 0.3 * 15))
    assert costs_of(0.02, 0.3, "known")[1] == 1


@pytest.mark.parametrize("verdict", ["{}", "[]", '{"1": 0.01}', '{"1": "x", "16": 2}', '{"1": -1, "16": 2}', "7"])
def test_what_is_remembered_and_makes_no_sense_is_measured(cache: Path, verdict: str) -> None:
    costs_of(0.01, 0.1, "damaged")
    file = cache / "costs.json"
    entries = json.loads(file.read_text())
    for entry in entries.values():
        entry["verdict"] = json.loads(verdict)
    file.write_text(json.dumps(entries))
    curve, forwards = costs_of(0.01, 0.1, "damaged")
    assert forwards > 1
    assert curve.seconds(16) == pytest.approx(0.01 * (1 + 0.1 * 15))
