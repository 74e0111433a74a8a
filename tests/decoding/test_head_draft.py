"""Drafts of heads: out of the right state alone, in a tree of their own chances; and files that fit the target."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predtui.clock import VirtualClock
from predtui.decoding import heads
from predtui.decoding.accept import ExactMatch, verify
from predtui.decoding.assembly import DecodingOptions, assemble, make_decoder, make_drafter
from predtui.decoding.costs.instrument import Instrument
from predtui.decoding.draft import Draft
from predtui.decoding.drafters.chimera import Chimera
from predtui.decoding.drafters.clover import Clover
from predtui.decoding.drafters.eagle import Eagle
from predtui.decoding.drafters.falcon import Falcon
from predtui.decoding.drafters.grow import Options
from predtui.decoding.drafters.grow import Path as Tokens
from predtui.decoding.head_draft import CANDIDATES, After, Choose, Frontier, HeadDrafter, likeliest
from predtui.decoding.heads import Array
from predtui.decoding.memory import Allowance
from predtui.decoding.parts import Parts
from predtui.decoding.sampler import Greedy, Seeded
from predtui.errors import PredtuiError
from predtui.llm.base import LoadedModel
from predtui.llm.load import load
from tests.heads import METHODS, heads_of, random_heads


def scripted() -> LoadedModel:
    return load("1", engine="scripted")


def no_end(_token: int) -> bool:
    return False


class Seeing:
    """Guesses what its state itself says next: of the scripted model, whose states are its logits, that is what the
    model says after the token before."""

    def __init__(self, target: LoadedModel) -> None:
        self.tokens = np.arange(target.model.vocab_size)
        self.seen: list[tuple[Array, int]] = []

    def after(self, hidden: Array, context: Sequence[int], choose: Choose) -> After:
        self.seen.append((hidden, context[-1]))
        options = choose(hidden[None], [0])[0]
        return lambda path: () if path else options


@given(st.lists(st.integers(4, 61), min_size=1, max_size=9), st.lists(st.integers(4, 61), max_size=5), st.data())
@settings(deadline=None)
def test_the_state_is_that_behind_the_last_accepted_token(
    context: list[int], others: list[int], data: st.DataObject
) -> None:
    target = scripted()
    target.model.tell_hidden()  # type: ignore[attr-defined]
    guesser = Seeing(target)
    drafter = HeadDrafter(guesser, "it", Greedy(), no_end)
    said = target.model.forward(context)[0].argmax()
    tokens = [*others, said]
    parents = [-1, *(data.draw(st.integers(-1, node - 1)) for node in range(1, len(tokens)))]
    tail = data.draw(st.integers(0, 1)) if len(tokens) - 1 not in parents else 0
    verification = verify(
        target.model, context, Draft(tuple(tokens), tuple(parents), tail=tail), ExactMatch(Greedy()), 0, no_end
    )
    drafter.observe(verification)
    after = [*context, *verification.tokens]
    assert drafter.propose([*after, 5], 8).tokens == ()
    assert drafter.propose(after[:-1], 8).tokens == ()
    assert drafter.propose(after, 8).tokens
    hidden, token = guesser.seen[-1]
    assert token == after[-1]
    assert (hidden == target.model.forward(after[:-1]).logits[0]).all()


def test_without_states_nothing_is_drafted() -> None:
    target = scripted()
    drafter = HeadDrafter(Seeing(target), "it", Greedy(), no_end)
    verification = verify(target.model, [5, 6], Draft(()), ExactMatch(Greedy()), 0, no_end)
    drafter.observe(verification)
    assert drafter.propose([5, 6, *verification.tokens], 8).tokens == ()


@given(st.integers(0, 99), st.integers(1, 12))
def test_the_likeliest_come_first_with_their_chances(seed: int, count: int) -> None:
    logits = np.random.default_rng(seed).normal(size=(3, 12)).astype(np.float32)
    tokens = np.arange(100, 112)
    chances = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    for row, options in zip(chances, likeliest(logits, tokens, count), strict=True):
        best = sorted(range(12), key=lambda place: -row[place])[:count]
        assert [token for token, _ in options] == [100 + place for place in best]
        assert [chance for _, chance in options] == pytest.approx([row[place] for place in best], rel=1e-4)


@pytest.mark.parametrize("sampler", [Greedy(), Seeded(0.8, seed=3)], ids=["greedy", "sampled"])
@pytest.mark.parametrize("guesser", [Eagle, Clover, Chimera], ids=["eagle", "clover", "chimera"])
def test_what_is_looked_at_together_is_what_is_found_one_by_one(
    guesser: type[Eagle] | type[Clover] | type[Chimera], sampler: Greedy | Seeded
) -> None:
    target = scripted()
    made = guesser(random_heads(guesser.__name__.lower(), target))
    drafter = HeadDrafter(made, "it", sampler, no_end)
    hidden = np.random.default_rng(1).normal(size=target.abilities.hidden).astype(np.float32)

    def alone(path: Tokens) -> Options:
        states, logits = made.step(first[None], [(7,)])
        for depth in range(len(path)):
            states, logits = made.step(states, [(7, *path[: depth + 1])])
        return drafter._options(2, logits, [len(path)])[0]

    looks: list[int] = []

    def choose(logits: Array, depths: Sequence[int]) -> list[Options]:
        looks.append(len(depths))
        return drafter._options(2, logits, depths)

    frontier = made.after(hidden, [9, 7, 8, 9, 7], choose)
    assert isinstance(frontier, Frontier)
    _, first = frontier._waiting[()]
    paths: list[Tokens] = [()]
    for number in range(8):
        path = paths[number]
        found = frontier(path)
        expected = alone(path)
        assert [token for token, _ in found] == [token for token, _ in expected]
        assert [chance for _, chance in found] == pytest.approx([chance for _, chance in expected], rel=1e-3)
        paths += [(*path, token) for token, _ in found]
    assert max(looks) > 1
    assert sum(looks) >= 8 > len(looks)


def test_falcon_tells_a_block_of_tokens_at_once() -> None:
    falcon, asked = Falcon(random_heads("falcon", scripted())), list[list[int]]()
    hidden = np.ones(scripted().abilities.hidden, np.float32)

    def choose(logits: Array, depths: Sequence[int]) -> list[Options]:
        asked.append([*depths])
        return [[(token, 0.5) for token in (8, 9)] for _ in depths]

    look = falcon.after(hidden, [5, 6], choose)
    for path in ((), (8,), (9,), (8, 9), (8, 9, 8)):
        assert look(path)
    assert asked == [[0, 1], [2, 3]]


@given(st.lists(st.integers(0, 61), min_size=1, max_size=20), st.lists(st.integers(0, 61), max_size=20), st.data())
@settings(deadline=None, max_examples=30)
def test_what_chimera_keeps_of_a_context_is_what_it_reads_of_the_whole(
    context: list[int], other: list[int], data: st.DataObject
) -> None:
    found, seen = random_heads("chimera", scripted()), list[Array]()
    grown, fresh = Chimera(found), Chimera(found)
    hidden = np.ones(found.width, np.float32)

    def choose(logits: Array, depths: Sequence[int]) -> list[Options]:
        seen.extend(logits)
        return [[] for _ in depths]

    grown.after(hidden, [*context[: data.draw(st.integers(0, len(context)))], *other, 1], choose)
    grown.after(hidden, context[: data.draw(st.integers(1, len(context)))], choose)
    for chimera in (grown, fresh):
        chimera.after(hidden, context, choose)(())
    np.testing.assert_allclose(seen[0], seen[1], atol=1e-4)


@pytest.mark.parametrize("method", METHODS)
def test_a_draft_is_a_tree_within_the_budget_and_ends_at_an_end(method: str) -> None:
    target = scripted()
    end = 20
    drafter = make_drafter(method, Parts(target, Greedy(), heads=heads_of(target)))
    assert isinstance(drafter, HeadDrafter)
    drafter._is_end = lambda token: token < end
    verification = verify(target.model, [5, 6], Draft(()), ExactMatch(Greedy()), 0, no_end)
    drafter.observe(verification)
    for budget in (1, 4, 30):
        draft = drafter.propose([5, 6, *verification.tokens], budget, 1)
        assert 0 < len(draft.tokens) <= min(budget, 16)
        assert len(draft.children(-1)) <= CANDIDATES
        assert all(
            draft.parent(node) < 0 or draft.tokens[draft.parent(node)] >= end for node in range(len(draft.tokens))
        )


@pytest.mark.parametrize("method", METHODS)
def test_each_use_of_the_weights_is_told(method: str) -> None:
    target, looks = scripted(), list[int]()
    parts = Parts(
        replace(target, looked=looks.append), Greedy(), heads=heads_of(target), instrument=Instrument(VirtualClock())
    )
    decoder = make_decoder("speculative", parts, method)
    list(decoder.generate([5, 6], 20, no_end))
    assert looks
    assert method != "medusa" or set(looks) == {3}


def test_heads_come_back_in_16_bits(tmp_path: Path) -> None:
    target = scripted()
    made = random_heads("eagle", target)
    heads.write(made, tmp_path)
    found = heads.load(tmp_path, "eagle", target, lambda one: one)
    assert (found.method, found.width, found.tokenizer) == (made.method, made.width, made.tokenizer)
    assert found.tensors.keys() == made.tensors.keys()
    assert (found.tokens == made.tokens).all()
    assert (found.weight("down.layers.0.weight") == made.weight("down.layers.0.weight").astype(np.float16)).all()


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda one: replace(one, method="hydra"), "are for hydra, not for eagle"),
        (lambda one: replace(one, width=9), "its states have 62 values, and these heads take 9"),
        (lambda one: replace(one, tokenizer="other"), "its tokens are others"),
        (lambda one: replace(one, tensors={**one.tensors, "tokens": one.tokens + 50}), "its tokens are others"),
        (lambda one: replace(one, tensors={**one.tensors, "tokens": one.tokens * 0}), "cannot be read"),
        (lambda one: replace(one, tensors={**one.tensors, "norm": one.tensors["norm"] * np.nan}), "are no numbers"),
        (lambda one: replace(one, tensors={"tokens": one.tokens}), "cannot be read"),
    ],
)
def test_heads_that_do_not_fit_are_refused(
    change: Callable[[heads.Heads], heads.Heads], why: str, tmp_path: Path
) -> None:
    target = scripted()
    heads.write(change(random_heads("eagle", target)), tmp_path)
    with pytest.raises(PredtuiError, match=why) as refused:
        make_drafter("eagle", Parts(target, Greedy(), heads=tmp_path))
    assert "predtui train heads --method eagle" in refused.value.remedy


def test_a_file_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PredtuiError, match="no heads for medusa in"):
        make_drafter("medusa", Parts(scripted(), Greedy(), heads=tmp_path))
    (tmp_path / heads.WEIGHTS).write_bytes(b"\xff" * 40)
    with pytest.raises(PredtuiError, match="cannot be read"):
        make_drafter("medusa", Parts(scripted(), Greedy(), heads=tmp_path))


def test_heads_that_have_no_room_are_refused(tmp_path: Path) -> None:
    target = scripted()
    with pytest.raises(PredtuiError, match="What eagle has learnt takes"):
        make_drafter("eagle", Parts(target, Greedy(), heads=heads_of(target), memory=Allowance(9)))


def test_an_engine_that_tells_no_states_is_refused() -> None:
    target = scripted()
    deaf = replace(target.abilities, hidden=0)
    monkey = replace(target, model=_Deaf(target.model, deaf))  # type: ignore[arg-type]
    with pytest.raises(PredtuiError, match="eagle needs an engine that tells hidden states, which scripted is not"):
        make_drafter("eagle", Parts(monkey, Greedy(), heads=heads_of(target)))


class _Deaf:
    def __init__(self, model: object, abilities: object) -> None:
        self.model, self.abilities = model, abilities


def test_the_option_names_the_folder(tmp_path: Path) -> None:
    target = scripted()
    with pytest.raises(PredtuiError, match=r"no heads for eagle in .*nowhere"):
        assemble(DecodingOptions("speculative", "eagle", heads=str(tmp_path / "nowhere")), target, Greedy())
    assemble(DecodingOptions("speculative", "eagle", heads=str(heads_of(target))), target, Greedy()).close()


@pytest.mark.parametrize("method", METHODS)
def test_what_heads_take_is_counted_and_the_file_is_let_go(method: str) -> None:
    target = scripted()
    target.model.tell_hidden()  # type: ignore[attr-defined]
    made = random_heads(method, target)
    file, place = weakref.ref(made), made.place
    of = getattr(import_module(f"predtui.decoding.drafters.{method}"), method.capitalize())
    guesser = of(made)
    tables = [value for value in vars(guesser).values() if isinstance(value, list)]
    known = [one for one in gc.get_referents(vars(guesser), *tables) if isinstance(one, np.ndarray)]
    assert heads.held(guesser) >= sum(one.nbytes for one in known) > 0
    assert place([10**6]).tolist() == [len(made.tokens)]
    del made, place
    gc.collect()
    assert file() is None
