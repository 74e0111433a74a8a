"""What a part of the target promises as a draft, and the drafters that choose parts: SWIFT and DEL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui.clock import VirtualClock
from predtui.decoding.accept import ExactMatch, verify
from predtui.decoding.assembly import make_decoder, make_drafter
from predtui.decoding.autoregressive import generate
from predtui.decoding.base import Sampler
from predtui.decoding.costs.instrument import Instrument
from predtui.decoding.draft import Draft
from predtui.decoding.drafters import swift
from predtui.decoding.drafters.dynamic_exit import FIRST, Exit, ExitDrafter
from predtui.decoding.drafters.swift import LEAST, PATIENCE, Search, SwiftDrafter
from predtui.decoding.memory import Allowance
from predtui.decoding.part_draft import LONGEST, Replies, Text, kept, worth
from predtui.decoding.parts import Parts
from predtui.decoding.sampler import Greedy, Seeded
from predtui.errors import PredtuiError
from predtui.lab.bench.shared_model import PricedModel
from predtui.llm.base import LoadedModel
from predtui.llm.load import load
from predtui.llm.scripted import ScriptedModel

SHARES = st.floats(0.05, 1.0)
RATES = st.floats(0.0, 1.0)


def no_end(_token: int) -> bool:
    return False


@given(RATES, SHARES)
def test_what_is_promised_is_the_best_length(rate: float, share: float) -> None:
    """Leviathan et al. 2023, theorem 3.8, over every length."""

    def speed(length: int) -> float:
        return sum(rate**depth for depth in range(length + 1)) / (1 + share * length)

    found = worth(rate, share)
    assert found.speed == pytest.approx(max(speed(length) for length in range(LONGEST + 1)))
    assert found.speed == pytest.approx(speed(found.length))
    assert found.speed >= 1


@given(RATES, RATES, SHARES, SHARES)
def test_a_part_that_says_more_or_takes_less_is_worth_no_less(a: float, b: float, c: float, d: float) -> None:
    assert worth(max(a, b), c).speed >= worth(min(a, b), c).speed
    assert worth(a, min(c, d)).speed >= worth(a, max(c, d)).speed


@given(st.lists(st.integers(4, 50), min_size=1, max_size=9), st.lists(st.integers(4, 50), min_size=1, max_size=9))
def test_kept_is_what_a_draft_of_the_part_would_keep(prompt: list[int], said: list[int]) -> None:
    """Greedily what it would say; at a temperature, on the average over what the target says, the share of its
    probability that is the part's, too."""
    model, text = ScriptedModel(3), Text((*prompt, *said), len(prompt))
    rows = [ScriptedModel(3).forward([*prompt, *said[:place]])[-1] for place in range(len(said))]
    assert kept(model, text) == [float(row.argmax() == token) for row, token in zip(rows, said, strict=True)]
    assert kept(model, text, len(said) - 1) == kept(model, text)[-1:]
    target, (row,) = Seeded(1.0).probabilities(ScriptedModel(4).forward(prompt)[-1]), model.forward(prompt)
    told = [
        kept(model, Text((*prompt, token), len(prompt), (float(np.log(chance)),)))[0]
        for token, chance in enumerate(target)
    ]
    shared = np.minimum(target, Seeded(1.0).probabilities(row)).sum()
    assert float(target @ told) == pytest.approx(shared, rel=1e-3)


@pytest.mark.parametrize("sampler", [Greedy(), Seeded(1.0, seed=2)], ids=["greedy", "sampled"])
def test_a_reply_is_what_follows_its_context(sampler: Sampler) -> None:
    model, replies = ScriptedModel(1), Replies(sampler)
    assert replies.begins() is None
    context = (5, 6, 7)
    for _ in range(2):
        draft = Draft(tuple(generate(model, context, sampler, 2, no_end, position=len(context) - 3)))
        verification = verify(model, context, draft, ExactMatch(sampler), len(context) - 3, no_end)
        replies.heard(verification)
        context = (*context, *verification.tokens)
    assert (replies.now.tokens, replies.now.said) == (context, 6)
    told = [model.forward(context[:place])[-1].logprob(context[place]) for place in range(3, 9)]
    assert replies.now.chances == (() if isinstance(sampler, Greedy) else pytest.approx(told))
    replies.heard(verify(model, (9, 9), Draft(()), ExactMatch(sampler), 0, no_end))
    assert replies.now.said == 1, "another context"
    reply = replies.now
    assert replies.begins() == reply
    assert replies.now.said == 0


@given(st.integers(1, 40), st.sets(st.integers(0, 39)), st.integers(0, 99))
def test_a_search_ends_and_keeps_the_first_layer(layers: int, needed: set[int], seed: int) -> None:
    search, values, tries = Search(layers, seed), {frozenset[int](): 0}, 0
    while not search.over:
        skipped = search.next()
        assert skipped not in values
        assert 0 < min(skipped) <= max(skipped) < layers
        values[skipped] = len(skipped) - 3 * len(skipped & needed)
        search.judged(skipped, values[skipped] > values[search.best])
        tries += 1
    assert values[search.best] == max(values.values())
    assert tries <= (layers + 1) * max(PATIENCE, 2 * layers)


@pytest.fixture
def target() -> LoadedModel:
    """At the price of a second a forward."""
    loaded = load("5", "scripted")
    return replace(loaded, model=PricedModel(loaded.model, lambda _new, _known: 1.0, VirtualClock()))


def parts_of(target: LoadedModel, sampler: Sampler) -> tuple[Parts, Instrument]:
    clock = target.model._clock  # type: ignore[attr-defined]
    instrument = Instrument(clock)
    return Parts(target, sampler, instrument=instrument), instrument


@pytest.mark.parametrize("sampler", [Greedy(), Seeded(0.8, seed=3)], ids=["greedy", "sampled"])
@pytest.mark.parametrize("name", ["swift", "del"])
def test_the_reply_is_that_of_plain_decoding(name: str, sampler: Sampler, target: LoadedModel) -> None:
    parts, _ = parts_of(target, sampler)
    decoder = make_decoder("speculative", parts, name)
    for prompt in ([5, 9, 13], [8, 20, 31, 44], [5, 9, 13, 17], [40]) * 3:
        plain = list(generate(target.model, prompt, sampler, 60, no_end))
        assert list(decoder.generate(prompt, 60, no_end)) == plain


def replied(
    drafter: SwiftDrafter | ExitDrafter, target: LoadedModel, instrument: Instrument, prompt: list[int]
) -> None:
    """A reply of 60 tokens, each by a forward without a draft."""
    model, context = instrument.around(target.model), list(prompt)
    drafter.reset()
    for position in range(60):
        drafter.propose(context, 4, position)
        verification = verify(model, context, Draft(()), ExactMatch(Greedy()), position, no_end)
        drafter.observe(verification)
        context += verification.tokens


class Layers(ScriptedModel):
    """Of eight layers, of which the last two say nothing, and each other all."""

    def __init__(self) -> None:
        super().__init__(5)
        self._layers = 8
        self.opened: list[list[int]] = []

    def part(self, layers: Sequence[int]) -> ScriptedModel:
        self.opened.append([*layers])
        part = ScriptedModel(5 if {*range(6)} <= {*layers} else 6)
        part._layers, part._table, part._habits = len(layers), 9 * part._table, 9 * part._habits  # sure of itself
        return part


def test_swift_finds_the_layers_that_say_nothing_and_not_during_the_first_reply() -> None:
    model, clock = Layers(), VirtualClock()
    target = replace(load("5", "scripted"), model=PricedModel(model, lambda _new, _known: 1.0, clock))
    instrument = Instrument(clock)
    drafter = make_drafter("swift", Parts(target, Greedy(), instrument=instrument))
    assert isinstance(drafter, SwiftDrafter)
    replied(drafter, target, instrument, [9, 10])
    assert not model.opened
    assert not drafter.propose([9, 10], 5, 0).tokens
    for number in range(40):
        replied(drafter, target, instrument, [9 + number, 10])
    assert drafter.search.over
    assert drafter.search.best == {6, 7}
    assert len(drafter.propose([9, 10], 5, 0).tokens) > 0
    tries = len(model.opened)
    replied(drafter, target, instrument, [9, 10])
    assert len(model.opened) == tries, "what is found is found"
    assert all(layers[0] == 0 for layers in model.opened)


def test_tries_take_a_share_of_the_time_and_one_that_is_dear_is_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    for price, dear in ((0.01, False), (10.0, True)):
        model, clock = Layers(), VirtualClock()
        target = replace(load("5", "scripted"), model=PricedModel(model, lambda _new, _known, p=price: p, clock))
        instrument = Instrument(clock)
        drafter = make_drafter("swift", Parts(target, Greedy(), instrument=instrument))
        assert isinstance(drafter, SwiftDrafter)
        monkeypatch.setattr(drafter, "propose", lambda *_: Draft(()))
        for number in range(4):
            replied(drafter, target, instrument, [9 + number, 10])
        assert drafter._spent <= swift.SHARE * drafter._worked + 5 * price
        assert len(model.opened) == 1 if dear else len(model.opened) > 4


def test_a_reply_that_is_too_short_says_nothing_of_a_part(target: LoadedModel) -> None:
    parts, instrument = parts_of(target, Greedy())
    drafter = make_drafter("swift", parts)
    model = instrument.around(target.model)
    for _ in range(3):
        drafter.reset()
        for position in range(LEAST // 4):
            drafter.observe(verify(model, [5] * (3 + position), Draft(()), ExactMatch(Greedy()), position, no_end))
    assert not target.model._parts  # type: ignore[attr-defined]


def test_del_drafts_with_the_exit_that_promises_most_and_no_further() -> None:
    model = Layers()
    held = {count: model.part(range(count)) for count in (2, 4, 6)}
    drafter = ExitDrafter(held, 8, Greedy(), no_end)
    drafter.reset()
    context, asked = [9, 10], []
    for position in range(60):
        asked.append(len(drafter.propose(context, 20, position).tokens))
        verification = verify(model, context, Draft(()), ExactMatch(Greedy()), position, no_end)
        drafter.observe(verification)
        context += verification.tokens
    assert not any(asked[:FIRST]), "nothing is known yet"
    assert drafter._chosen is not None
    assert drafter._chosen.part is held[6]
    assert 0 < asked[-1] <= drafter._chosen.worth.length
    assert held[2].counters.forwards == 2, "after 12 tokens, and 24 more"


def test_the_rate_of_an_exit_forgets() -> None:
    one = Exit(ScriptedModel(1), 0.5)
    one.learn([1.0] * 50)
    high = one.worth.speed
    one.learn([0.0] * 400)
    assert one.worth.length == 0
    assert high > 1.5


def test_parts_have_to_fit_what_may_be_held(target: LoadedModel) -> None:
    for name in ("swift", "del"):
        with pytest.raises(PredtuiError, match=f"What {name} drafts with takes"):
            make_drafter(name, Parts(target, Greedy(), memory=Allowance(100)))


def test_an_engine_without_parts_is_refused() -> None:
    class Whole(ScriptedModel):
        @property
        def abilities(self):  # type: ignore[no-untyped-def]
            return replace(super().abilities, layers=0)

    loaded = replace(load("1", "scripted"), model=Whole(1))
    for name in ("swift", "del", "kangaroo"):
        with pytest.raises(PredtuiError, match=f"The drafter {name} needs an engine that can leave out layers"):
            make_drafter(name, Parts(loaded, Greedy()))


def test_a_part_has_its_share_of_the_price_and_forgets_with_the_model(target: LoadedModel) -> None:
    clock = target.model._clock  # type: ignore[attr-defined]
    part = target.model.part([0, 1, 3])  # type: ignore[attr-defined]
    part.forward([5, 6, 7])
    assert clock.now() == pytest.approx(0.75)
    target.model.forget()
    before = part.counters.tokens
    part.forward([5, 6, 7])
    assert part.counters.tokens == before + 3
