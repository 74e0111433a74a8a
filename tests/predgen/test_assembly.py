"""What the stage works with is what its options say, and what was opened is closed however far it came."""

from __future__ import annotations

import logging
import math
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import pytest

from predtui.clock import VirtualClock
from predtui.decoding.assembly import DecodingOptions
from predtui.decoding.sampler import Independent
from predtui.errors import PredtuiError
from predtui.lab.bench.shared_model import priced
from predtui.llm.base import LoadedModel, never
from predtui.llm.halt import Halt
from predtui.llm.load import load
from predtui.predgen.assembly import Sources, SpeculationParts, assembled
from predtui.predgen.options import SpeculationOptions
from predtui.state.events import Event, StageStatus, Transcript
from predtui.state.stage import StageContext
from tests.curves import curve

OPTIONS = SpeculationOptions(model="5", engine="scripted", system="sys", reply_tokens=120)
CONTEXT = StageContext(VirtualClock(), never, logging.getLogger("test"))


def parts_of(options: SpeculationOptions, sources: Sources | None = None) -> tuple[SpeculationParts, list[Event]]:
    steps, said = assembled(options, sources or Sources(load, load, None, False), CONTEXT, Halt(), ExitStack()), []
    while True:
        try:
            said.append(next(steps))
        except StopIteration as done:
            return done.value, said


def test_costs_are_measured_unless_they_are_known_or_nobody_asks() -> None:
    known = curve(1.0, 0.1)
    assert parts_of(OPTIONS, Sources(load, load, known, False))[0].costs is known
    assert 1 in (parts_of(OPTIONS)[0].costs or ())
    assert parts_of(replace(OPTIONS, policy=False))[0].costs is None


@pytest.mark.parametrize("decoder", ["ar", "speculative"])
def test_costs_are_learnt_from_every_forward_looking_ahead_included(decoder: str) -> None:
    slower = [1.0]

    def lend(*request: Any) -> LoadedModel:
        loaded = load(*request)
        return replace(loaded, model=priced(loaded.model, lambda new, _: slower[0] * new, CONTEXT.clock))

    options = replace(OPTIONS, decoding=DecodingOptions(decoder, "lookup"))
    parts, _ = parts_of(options, Sources(lend, load, None, False))
    assert parts.costs is not None
    assert parts.costs.seconds(1) == pytest.approx(1)
    slower[0] = 3.0
    for _ in parts.lookahead.work((), Transcript(tentative="what is the sun"), never, lambda _: math.inf):
        pass
    assert parts.costs.seconds(1) == pytest.approx(3)


def test_each_step_that_takes_a_while_is_announced_with_its_progress() -> None:
    _, said = parts_of(OPTIONS)
    lines = [event for event in said if isinstance(event, StageStatus)]
    assert [line.message for line in lines[:2]] == ["loading 5", "reading the system prompt"]
    assert lines[-1].progress == 1.0


def test_a_sampler_is_independent_of_positions_only_where_that_is_wanted() -> None:
    sampled = replace(OPTIONS, temperature=0.7, seed=3)
    parts, _ = parts_of(sampled)
    assert parts.plain is parts.sampler
    parts, _ = parts_of(replace(sampled, position_seeded=False))
    assert isinstance(parts.sampler, Independent)
    assert not isinstance(parts.plain, Independent)


def test_a_verifier_has_the_name_that_it_was_chosen_by() -> None:
    parts, _ = parts_of(OPTIONS)
    assert parts.speculator.verifier.name == "greedy"
    assert parts.verifier("top7").name == "top7"
    with pytest.raises(PredtuiError, match="There is no verifier"):
        parts.verifier("psychic")


@pytest.mark.parametrize("wrong", [{"decoding": DecodingOptions("no such decoder")}, {"verifier": "psychic"}])
def test_what_was_opened_is_closed_though_more_could_not_be(wrong: dict[str, object]) -> None:
    closed: list[str] = []

    def lend(*_: object) -> LoadedModel:
        loaded = load("5", engine="scripted")
        loaded.model.close = lambda: closed.append("model")  # type: ignore[method-assign]
        return loaded

    with ExitStack() as opened, pytest.raises(PredtuiError):
        list(assembled(replace(OPTIONS, **wrong), Sources(lend, lend, None, False), CONTEXT, Halt(), opened))  # type: ignore[arg-type]
    assert closed == ["model"]
