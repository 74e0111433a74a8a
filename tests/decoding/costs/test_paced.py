"""A source is asked for what pays: within the room there is, not while it is paused, and guesses go first."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from predtui.clock import VirtualClock
from predtui.decoding.accept import ExactMatch, verify
from predtui.decoding.costs.constants import PATIENCE
from predtui.decoding.costs.instrument import Instrument
from predtui.decoding.costs.paced import PacedDrafter
from predtui.decoding.costs.spans import DRAFT
from predtui.decoding.draft import Draft, Verification
from predtui.decoding.sampler import Greedy
from predtui.lab.bench.shared_model import priced
from predtui.llm.scripted import ScriptedModel


class Source:
    """Proposes as many wrong tokens as it is asked for, and counts that."""

    def __init__(self, tree: bool = False) -> None:
        self.asked: list[int] = []
        self.observed = 0
        self._tree = tree

    def propose(self, context: Sequence[int], budget: int, position: int = 0) -> Draft:
        self.asked.append(budget)
        return Draft((4,) * budget, (-1, *range(-1, budget - 2))[:budget] if self._tree else ())

    def observe(self, verification: Verification) -> None:
        self.observed += 1

    def reset(self) -> None:
        """Nothing is remembered."""


class Bench:
    """A paced source beside a model whose forwards take a second a token."""

    def __init__(self, source: Source, trees: bool = False, further: float = 1.0) -> None:
        """``further``: seconds of a token beyond the first."""
        clock = VirtualClock()
        instrument = Instrument(clock)
        self.spans = instrument.spans
        self.model = instrument.around(priced(ScriptedModel(2), lambda new, _known: 1.0 + further * (new - 1), clock))
        self.paced = PacedDrafter(source, instrument, trees)
        self.context = [5, 9]

    def step(self, room: int, position: int) -> Draft:
        draft = self.paced.propose(room, position)
        verification = verify(self.model, self.context, draft, ExactMatch(Greedy()), position, lambda _: False)
        self.paced.observe(verification)
        self.context += verification.tokens
        return draft


@given(st.lists(st.integers(0, 9), min_size=1, max_size=40))
def test_no_draft_is_longer_than_the_room_there_is(rooms: list[int]) -> None:
    source = Source()
    bench = Bench(source)
    bench.paced.begin(bench.context, 99, ())
    for position, room in enumerate(rooms):
        assert len(bench.step(room, position).tokens) <= room
    assert 0 not in source.asked
    assert source.observed == len(rooms)


def test_a_source_that_is_always_wrong_is_left_alone_and_says_so() -> None:
    source = Source()
    bench = Bench(source)
    bench.paced.begin(bench.context, 999, ())
    drafted = [bool(bench.step(9, position).tokens) for position in range(200)]
    assert "drafting is off" in bench.paced.note
    first = drafted.index(True)
    off = next(i for i in range(first, 200) if not any(drafted[i : i + PATIENCE]))
    assert off < 20
    assert any(drafted[off + PATIENCE : off + PATIENCE + 3])
    assert sum(drafted) < 12
    assert any(span.worker == DRAFT for span in bench.spans.take(over=True)) == (sum(drafted) > 0)


def test_a_guess_goes_before_the_source_until_none_of_it_is_accepted() -> None:
    source = Source()
    bench = Bench(source)
    said = ScriptedModel(2)
    context = [5, 9]
    for _ in range(20):
        context.append(said.forward(context)[-1].argmax())
    bench.paced.begin(bench.context, 30, ())
    for position in range(4):
        bench.step(0, position)
    source.asked.clear()
    plain = context[len(bench.context) :]
    bench.paced.begin(bench.context, 30, [[4]])
    bench.step(9, 4)  # what a forward costs is measured first
    bench.paced.begin(bench.context, 30, [plain[1:]])
    assert bench.step(9, 5).source == "guess"
    assert not source.asked


class Knowing(Source):
    """Says what comes."""

    def __init__(self, coming: Sequence[int]) -> None:
        super().__init__()
        self._coming = coming

    def propose(self, context: Sequence[int], budget: int, position: int = 0) -> Draft:
        self.asked.append(budget)
        return Draft(tuple(self._coming[len(context) : len(context) + budget]), source="knowing")


def test_a_draft_stands_beside_a_guess_that_often_fails_where_a_wider_forward_costs_little() -> None:
    context = [5, 9]
    for _ in range(90):
        context.append(ScriptedModel(2).forward(context)[-1].argmax())
    wrong = [4 + (token + 1) % 40 for token in context]
    for further, beside in ((0.01, True), (1.0, False)):
        source = Knowing(context)
        bench = Bench(source, trees=True, further=further)
        bench.paced.begin(bench.context, 99, ())
        for position in range(8):
            bench.step(9, position)
        fused = 0
        for _ in range(6):
            at = len(bench.context)
            bench.paced.begin(bench.context, 99, [wrong[at:]])
            draft = bench.step(9, at - 2)
            fused += draft.source == "guess + knowing"
            assert draft.source != "guess + knowing" or bench.context[at] == context[at]
        assert (fused > 0) == beside


def test_a_tree_is_cut_to_its_best_path_where_the_target_evaluates_none() -> None:
    for trees in (False, True):
        bench = Bench(Source(tree=True), trees)
        bench.paced.begin(bench.context, 99, ())
        drafts = [bench.step(9, position) for position in range(6)]
        assert any(draft.tokens for draft in drafts)
        assert any(draft.branches for draft in drafts) == trees
