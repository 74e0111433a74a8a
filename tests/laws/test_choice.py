"""The chooser among drafters: never far behind plain decoding, near the best arm in the end, and lossless whatever.

On a virtual clock: a forward over n tokens takes 1 + ``further`` (n - 1) s, a token of a draft what its arm takes.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predtui.clock import VirtualClock
from predtui.decoding.accept import ExactMatch
from predtui.decoding.assembly import make_decoder
from predtui.decoding.costs.instrument import Instrument
from predtui.decoding.costs.looking import Looking
from predtui.decoding.costs.paced import PacedDrafter
from predtui.decoding.draft import Draft, Verification
from predtui.decoding.drafters.auto import Arm, Auto
from predtui.decoding.parts import Parts
from predtui.decoding.sampler import Greedy
from predtui.decoding.speculative import Speculative
from predtui.lab.bench.shared_model import priced
from predtui.llm.base import LoadedModel
from predtui.llm.load import load
from predtui.llm.rows import ArrayRows, Rows
from predtui.llm.scripted import ScriptedModel
from predtui.registry import DRAFTERS

PROMPT, REPLY = 20, 60


class Reciter(ScriptedModel):
    """Says what ``words`` have at each place, whatever the context."""

    def __init__(self, words: Sequence[int]) -> None:
        super().__init__(context=len(words) - 1)
        self._said = np.eye(self.vocab_size, dtype=np.float32)[list(words)]

    def forward(self, tokens: Sequence[int], last: int = 1) -> Rows:
        kept = min(len(self._memory), len(tokens) - last)
        self.counters.forwards += 1
        self.counters.tokens += len(tokens) - kept
        self._memory = list(tokens)
        return ArrayRows(self._said[len(tokens) - last + 1 : len(tokens) + 1])


@dataclass
class Seer:
    """Knows what comes, and errs with a chance for each token; asked, it takes its time."""

    words: Sequence[int]
    clock: VirtualClock
    right: float
    token_s: float
    says: float = 1.0
    """In how many places it has something to say."""
    rng: random.Random = field(default_factory=lambda: random.Random(7))
    places: int | None = None
    """Which half of the places it is right in, and says so; None: it says nothing of that."""

    def propose(self, context: Sequence[int], budget: int, position: int = 0) -> Draft:
        if random.Random(len(context) // 10).random() > self.says:
            return Draft(())
        truth = self.words[len(context) : len(context) + budget]
        self.clock.advance(self.token_s * len(truth))
        if self.places is not None:
            knows = len(context) // 10 % 2 == self.places
            words = truth if knows else [4 + (word + 1) % 40 for word in truth]
            return Draft(tuple(words), chances=tuple((0.95 if knows else 0.3) ** (n + 1) for n in range(len(words))))
        return Draft(tuple(word if self.rng.random() < self.right else 4 + (word + 1) % 40 for word in truth))

    def observe(self, verification: Verification) -> None:
        """It knows already."""

    def reset(self) -> None:
        """It forgets nothing."""


Sight = tuple[float, float, float]
"""Right, seconds a token, says."""


def speeds(
    arms: Sequence[Sight],
    further: float,
    replies: int,
    single: int | None = None,
    places: Sequence[int | None] = (),
    looks: bool = True,
) -> tuple[float, Auto | None]:
    """Tokens a second, plain decoding's being 1, of all arms, by their ``places``, or of a ``single`` one."""
    clock, rng = VirtualClock(), random.Random(3)
    words = [rng.randrange(4, 44) for _ in range(PROMPT + REPLY + 2)]
    instrument = Instrument(clock)
    known = places or [None] * len(arms)
    seers = [Seer(words, clock, *sight, places=place) for sight, place in zip(arms, known, strict=True)]
    model = priced(Reciter(words), lambda new, _known: 1 + further * (new - 1), clock)
    auto = Auto([Arm(str(n), seer, instrument, False) for n, seer in enumerate(seers)], instrument, False, looks)
    chosen = auto if single is None else PacedDrafter(seers[single], instrument, False)
    decoder = Speculative(model, chosen, ExactMatch(Greedy()), instrument)
    for _ in range(replies):
        model.forget()
        assert list(decoder.generate(words[:PROMPT], REPLY, lambda _: False)) == words[PROMPT : PROMPT + REPLY]
    plain = replies * (1 + further * (PROMPT - 1) + REPLY - 1)
    return plain / clock.now(), auto


sights = st.tuples(
    st.sampled_from([0.0, 0.2, 0.5, 0.8, 0.95]), st.sampled_from([0.0, 0.05, 0.3, 1.0]), st.sampled_from([0.1, 1.0])
)


@given(st.lists(sights, min_size=1, max_size=12), st.sampled_from([0.0, 0.1, 0.5, 1.0]), st.sampled_from([1, 4, 12]))
@settings(max_examples=25, deadline=None)
def test_never_below_plain_decoding_by_more_than_three_percent(arms: list[Sight], further: float, replies: int) -> None:
    """Over the first replies of a session, too; but for what a wrong idea of the costs of drafts may cost once."""
    speed, _ = speeds(arms, further, replies)
    once = 12.0 / (replies * REPLY)
    assert speed >= 0.97 - once


@pytest.mark.parametrize("further", [0.0, 0.3])
@pytest.mark.parametrize(
    "arms",
    [
        [(0.2, 0.0, 1.0), (0.9, 0.05, 1.0), (0.5, 0.0, 1.0)],
        [(0.95, 0.0, 0.3), (0.6, 0.1, 1.0), (0.0, 0.0, 1.0), (0.1, 0.3, 1.0)],
        [(0.5, 0.3, 1.0), (0.7, 0.02, 1.0)],
        [(0.0, 0.0, 1.0)] * 9 + [(0.8, 0.02, 1.0)],
    ],
)
def test_comes_within_five_percent_of_the_best_arm_in_hindsight(arms: list[Sight], further: float) -> None:
    best = max(speeds(arms, further, 60, single)[0] for single in range(len(arms)))
    assert speeds(arms, further, 60)[0] >= 0.95 * best


def test_of_arms_that_say_what_they_know_the_right_one_is_chosen_in_each_place() -> None:
    arms = [(0.0, 0.0, 1.0), (0.0, 0.0, 1.0)]
    alone = [speeds(arms, 0.1, 40, single, (0, 1))[0] for single in range(2)]
    assert speeds(arms, 0.1, 40, places=(0, 1))[0] >= 1.2 * max(alone)


def test_where_what_comes_cannot_be_compared_no_draft_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Looking, "on", lambda *_: pytest.fail("looked at a draft"))
    monkeypatch.setattr(Looking, "at_others", lambda *_: pytest.fail("looked at an arm"))
    speeds([(0.0, 0.0, 1.0)] * 2, 0.1, 4, places=(0, 1), looks=False)


def test_no_arm_is_shown_a_reply_before_it_is_told_that_one_begins() -> None:
    """One that is hardly ever asked is shown whole replies: it may keep to what the present one has in common."""

    @dataclass
    class Strict(Seer):
        told: bool = False
        shown: int = 0

        def propose(self, context: Sequence[int], budget: int, position: int = 0) -> Draft:
            assert self.told, "another reply"
            self.shown += position == REPLY
            return super().propose(context, budget, position)

        def reset(self) -> None:
            self.told = True

    clock, words = VirtualClock(), [4 + number % 40 for number in range(PROMPT + REPLY + 2)]
    instrument, seers = Instrument(clock), [Strict(words, clock, *sight) for sight in [(0.9, 0.0), (0.0, 0.1)]]
    model = priced(Reciter(words), lambda new, _known: new, clock)
    auto = Auto([Arm(str(n), seer, instrument, False) for n, seer in enumerate(seers)], instrument, False)
    decoder = Speculative(model, auto, ExactMatch(Greedy()), instrument)
    for _ in range(40):
        for seer in seers:
            seer.told = False
        model.forget()
        list(decoder.generate(words[:PROMPT], REPLY, lambda _: False))
    assert sum(seer.shown for seer in seers)


def test_where_no_arm_pays_it_does_without_and_says_so() -> None:
    speed, auto = speeds([(0.0, 0.5, 1.0), (0.1, 1.0, 1.0)], 1.0, 12)
    assert speed >= 0.97
    assert auto is not None
    assert "drafting is off" in auto.note


def test_every_drafter_that_these_models_can_feed_is_an_arm() -> None:
    """Read off the registry, so that one that is added later is, too."""
    target, draft = load("1", engine="scripted"), load("2", engine="scripted")

    def names(loaded: LoadedModel | None) -> set[str]:
        chosen = make_auto(Parts(target, Greedy(), loaded))
        return {arm.name for arm in chosen.arms}

    unfed = {"datastore", "heads", "layers", "idle", "soft"}
    with_draft = {name for name, entry in DRAFTERS.items() if not entry.needs & unfed} - {"auto"}
    assert names(draft) >= with_draft
    assert not any("layers" in DRAFTERS[name].needs for name in names(draft)), "a part takes memory of its own"
    assert names(None) == {name for name in names(draft) if "draft" not in DRAFTERS[name].needs}
    assert make_decoder("speculative", Parts(target, Greedy()), "auto")


def make_auto(parts: Parts) -> Auto:
    made = DRAFTERS.factory("auto")(parts)
    assert isinstance(made, Auto)
    return made
