"""Laws of ``TreeModel``: each node has the logits of its own path, and the branch gone down is paid for once."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from predtui.lab import random_gguf
from predtui.llm.base import ContextOverflow, Preempted, TreeModel, aside, has_trees, never
from predtui.llm.halt import Halt
from predtui.llm.llamacpp.model import LEAVES
from predtui.llm.load import load
from tests import tiny_folder

TOKENS = st.integers(4, 40)
Tree = tuple[list[int], list[int]]


@st.composite
def trees(draw: st.DrawFn) -> Tree:
    """Tokens and parents, no two siblings equal, few enough leaves."""
    edges: list[tuple[int, int]] = []
    for place, token in draw(st.lists(st.tuples(st.integers(0, 99), TOKENS), max_size=LEAVES)):
        edge = place % (len(edges) + 1) - 1, token
        if edge not in edges:
            edges.append(edge)
    return [token for _, token in edges], [parent for parent, _ in edges]


def path_to(tree: Tree, node: int) -> list[int]:
    tokens, parents = tree
    return [] if node < 0 else [*path_to(tree, parents[node]), tokens[node]]


@pytest.fixture(scope="module", params=["scripted", "llama.cpp", "sliding", "torch", "fixed"])
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TreeModel]:
    if request.param == "scripted":
        loaded = load("3", engine="scripted")
    elif request.param == "torch":
        pytest.importorskip("transformers")
        loaded = load(str(tiny_folder.write(tmp_path_factory.mktemp("trees") / "tiny")), "torch", threads=1)
    elif request.param == "fixed":
        pytest.importorskip("transformers")
        from predtui.llm.torch.fixed import FixedModel
        from tests.llm.torch.networks import network_of

        yield FixedModel(network_of("Llama", max_position_embeddings=1024), capture=None)
        return
    elif request.param == "sliding":
        path = random_gguf.write(tmp_path_factory.mktemp("trees") / "tiny", random_gguf.Shape("gemma2", window=8))
        loaded = load(str(path), threads=1)
    else:
        loaded = load(str(request.getfixturevalue("tiny_path")), threads=1)
    assert has_trees(loaded.model)
    yield loaded.model
    loaded.model.close()


@given(context=st.lists(TOKENS, min_size=1, max_size=30), tree=trees(), data=st.data())
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_each_node_has_the_logits_of_its_path_and_a_branch_goes_on(
    model: TreeModel, context: list[int], tree: Tree, data: st.DataObject
) -> None:
    before = model.counters.forwards
    rows = model.forward_tree(context, *tree).logits
    assert model.counters.forwards - before == 1
    assert rows.shape == (1 + len(tree[0]), model.vocab_size)
    path = path_to(tree, data.draw(st.integers(-1, len(tree[0]) - 1)))
    going_on = [*context, *path, *data.draw(st.lists(TOKENS, max_size=3))]
    continued = model.forward(going_on).logits
    model.forget()
    np.testing.assert_allclose(continued, model.forward(going_on).logits, atol=5e-2)
    for node, row in enumerate(rows, -1):
        np.testing.assert_allclose(row, model.forward([*context, *path_to(tree, node)]).logits[0], atol=5e-2)


def test_what_a_branch_holds_is_not_evaluated_again(request: pytest.FixtureRequest) -> None:
    loaded = load(str(request.getfixturevalue("tiny_path")), threads=1)
    model = loaded.model
    assert has_trees(model)
    context = list(range(10, 40))
    model.forward_tree(context, [1, 2, 3, 4, 5], [-1, -1, 0, 1, 3])
    before = model.counters.tokens
    model.forward([*context, 2, 4, 5, 9])
    assert model.counters.tokens - before == 1
    model.forward_tree([*context, 2, 4, 5, 9, 8], [1, 2], [-1, -1])
    model.forget(32)
    before = model.counters.tokens
    model.forward([*context, 2, 4])
    assert model.counters.tokens - before == 1
    model.close()


def test_misshapen_trees_are_refused(model: TreeModel) -> None:
    with pytest.raises(ContextOverflow):
        model.forward_tree([5] * model.context_size, [5], [-1])
    with pytest.raises(ValueError, match="token"):
        model.forward_tree([5], [10**6], [-1])
    with pytest.raises(ValueError, match="tokens"):
        model.forward_tree([], [5], [-1])


def test_llama_cpp_refuses_what_it_cannot_hold(request: pytest.FixtureRequest) -> None:
    model = load(str(request.getfixturevalue("tiny_path")), threads=1).model
    assert has_trees(model)
    with pytest.raises(ValueError, match="leaves"):
        model.forward_tree([5], [6] * (LEAVES + 1), [-1] * (LEAVES + 1))
    with pytest.raises(ValueError, match="parents"):
        model.forward_tree([5], [6, 7], [1, -1])
    model.close()


@given(
    context=st.lists(TOKENS, min_size=1, max_size=20),
    tree=trees(),
    others=st.lists(st.tuples(st.integers(0, 20), st.lists(TOKENS, min_size=1, max_size=20), trees()), max_size=4),
    failing=st.booleans(),
    one=st.booleans(),
)
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_put_aside_is_remembered_again(
    model: TreeModel,
    context: list[int],
    tree: Tree,
    others: list[tuple[int, list[int], Tree]],
    failing: bool,
    one: bool,
) -> None:
    """Whatever is asked within, and however it ends: the next call pays for its own tokens, and answers as ever, those
    of a tree within too."""
    assert model.abilities.spares
    model.forget()
    ahead = [*(path_to(other, len(other[0]) - 1) for *_, other in others[-1:]), [5, 6, 7]]
    new = [token for part in ahead for token in part]
    last = 1 if one else len(new)
    wanted = model.forward([*context, *new], last).logits
    model.forget()
    model.forward_tree(context, *tree).logits if tree[0] else model.forward(context).logits
    with suppress(Preempted), aside(model, context, room=100):
        for shared, rest, another in others:
            asked = [*context[:shared], *rest]
            model.forward_tree(asked, *another) if another[0] else model.forward(asked)
        if failing:
            raise Preempted
    before = model.counters.tokens
    rows = model.forward([*context, *new], last).logits
    assert model.counters.tokens - before == len(new)
    np.testing.assert_allclose(rows, wanted, atol=5e-2)


def test_where_both_do_not_fit_nothing_is_put_aside_and_nothing_fails(model: TreeModel) -> None:
    assert model.abilities.spares
    model.forget()
    half = [4 + number % 30 for number in range(model.context_size - 10)]
    model.forward(half)
    with aside(model, half, room=len(half)):
        model.forward([5, *half[1:]])
    model.forward([*half, 5])


def test_what_is_halted_at_any_time_leaves_the_memory_right() -> None:
    """Long prompts and wide trees of the pocket model, ended whenever it happens, or not at all."""
    halt, over = Halt(), threading.Event()
    halted, fresh = (load("pocket", threads=1, stale=stale).model for stale in (halt, never))
    assert has_trees(halted)
    rng = random.Random(3)

    def interfere() -> None:
        while not over.wait(rng.uniform(0, 0.03)):
            halt.set()

    thread = threading.Thread(target=interfere)
    thread.start()
    said = rng.choices(range(100, 2000), k=60)
    for _ in range(60):
        tokens = said[: rng.randint(10, 60)] + rng.choices(range(100, 2000), k=rng.randint(0, 9))
        parents = [rng.randint(-1, node - 1) for node in range(rng.randint(1, 13))]
        halt.clear()
        with suppress(Preempted):
            halted.forward_tree(tokens, rng.choices(range(100, 2000), k=len(parents)), parents)
            halted.forward(tokens, last=min(8, len(tokens)))
    over.set()
    thread.join()
    halt.clear()
    np.testing.assert_allclose(halted.forward(said, last=8).logits, fresh.forward(said, last=8).logits, atol=5e-2)
    for model in (halted, fresh):
        model.close()
