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
from predtui.decoding.sampler import Independent, Seeded
from predtui.errors import PredtuiError
from predtui.lab.bench.shared_model import priced
from predtui.llm.base import LoadedModel, never
from predtui.llm.load import load
from predtui.llm.templates import JinjaTemplate
from predtui.predgen.assembly import Sources, SpeculationParts, assembled
from predtui.predgen.options import SpeculationOptions
from predtui.predgen.preemption import Preemption
from predtui.settings import LlmSettings
from predtui.state.events import Event, Notice, StageStatus, Transcript
from predtui.state.stage import StageContext
from tests.curves import curve

OPTIONS = SpeculationOptions(model="5", engine="scripted", system="sys", reply_tokens=120)
CONTEXT = StageContext(VirtualClock(), never, logging.getLogger("test"))
PREEMPTION = Preemption(CONTEXT.clock, True, lambda: None)


def parts_of(options: SpeculationOptions, sources: Sources | None = None) -> tuple[SpeculationParts, list[Event]]:
    steps, said = assembled(options, sources or Sources(load, load, None, False), CONTEXT, PREEMPTION, ExitStack()), []
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
        list(assembled(replace(OPTIONS, **wrong), Sources(lend, lend, None, False), CONTEXT, PREEMPTION, opened))  # type: ignore[arg-type]
    assert closed == ["model"]


def test_what_a_template_refuses_is_told_of_once() -> None:
    refusing = JinjaTemplate(
        "{% for m in messages %}{% if m.role == 'system' or (m.role == 'user') != (loop.index0 % 2 == 0) %}"
        "{{ raise_exception('no') }}{% endif %}{{ m.content }}{% endfor %}"
    )

    def lend(*request: Any) -> LoadedModel:
        return replace(load(*request), template=refusing)

    _, said = parts_of(OPTIONS, Sources(lend, load, None, False))
    (notice,) = (event for event in said if isinstance(event, Notice))
    assert "takes no system prompt" in notice.text
    assert "in turn" in notice.text
    assert not any(isinstance(event, Notice) for event in parts_of(OPTIONS)[1])


def test_sampler_and_system_prompt_are_those_of_the_settings() -> None:
    chosen = LlmSettings(engine="scripted", model="5", temperature=0.7, top_k=3, top_p=0.9, min_p=0.1, system="kurz!")
    parts, _ = parts_of(SpeculationOptions.of(chosen))
    assert parts.plain == parts.sampler == Seeded(0.7, 3, 0.9, 0.1)
    assert "kurz!" in parts.loaded.tokenizer.decode(parts.window.tokens((), "was ist das"))
    parts, _ = parts_of(SpeculationOptions.of(replace(chosen, system="")))
    assert "voice assistant" in parts.loaded.tokenizer.decode(parts.window.tokens((), "was ist das"))
