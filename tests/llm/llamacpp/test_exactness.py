"""A token has the same logits, bit for bit, however it comes to be evaluated: alone or with others, in a tree, after a
roll-back, beside what is put aside, in one of several sequences."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from predtui.llm.llamacpp.opening import open_model
from predtui.llm.llamacpp.repacking import AUTO, STORED
from predtui.llm.llamacpp.tree import LlamaTreeModel
from predtui.llm.rows import Logits
from predtui.llm.sequences import SEQUENCES
from predtui.llm.threads import Cores
from predtui.models.shipped import asset
from tests.llm.test_trees import path_to, trees
from tests.tiny_gguf import QUANTISED, quantise, write

LENGTH = 80
SHIPPED = {"pocket": ("pocket", "target"), "pocket-draft": ("pocket", "draft"), "pocket-cllm": ("cllm",)}
FILES = [*QUANTISED, *SHIPPED]


# Those of several kinds of kernel are evaluated on two threads and with repacked weights, too.
WAYS = [(name, STORED, 1) for name in FILES] + [("BF16", STORED, 2), ("Q4_1", STORED, 2)]
REPACKABLE = [(name, AUTO, 1) for name in ("Q8_0", "Q4_0", "Q4_K", "pocket-cllm")]


@pytest.fixture(scope="module", params=WAYS + REPACKABLE, ids=lambda way: "-".join(map(str, way)))
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LlamaTreeModel]:
    """``AUTO``: repacked where the self-test has survived it."""
    name, weights, threads = request.param
    opened = open_model(file_of(name, tmp_path_factory), threads, context=512, weights=weights)
    assert isinstance(opened, LlamaTreeModel)
    assert opened.exactness.exact
    yield opened
    opened.close()


def file_of(name: str, folders: pytest.TempPathFactory) -> Path:
    if name not in SHIPPED:
        folder = folders.mktemp("exact")
        return quantise(write(folder / "plain.gguf", hidden=256, feed_forward=512), folder / f"{name}.gguf", name)
    path = asset(*SHIPPED[name], "model.gguf")
    if not path.is_file():
        pytest.skip("the pocket models are not there")
    return path


@pytest.fixture(scope="module")
def text(model: LlamaTreeModel) -> list[int]:
    return np.random.default_rng(3).integers(4, 250, LENGTH).tolist()


@pytest.fixture(scope="module")
def rows(model: LlamaTreeModel, text: list[int]) -> Logits:
    model.forget()
    return model.forward(text, LENGTH).logits


ENDS = st.lists(st.integers(1, LENGTH), min_size=1, max_size=6)
settled = settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@given(ends=ENDS, data=st.data())
@settled
def test_after_any_splits_and_roll_backs(
    model: LlamaTreeModel, text: list[int], rows: Logits, ends: list[int], data: st.DataObject
) -> None:
    for end in ends:
        model.forget(data.draw(st.integers(0, LENGTH)))
        last = data.draw(st.integers(1, min(end, 20)))
        np.testing.assert_array_equal(model.forward(text[:end], last).logits, rows[end - last : end])


@given(threads=st.integers(1, 4), ends=ENDS)
@settled
def test_on_any_number_of_threads(
    model: LlamaTreeModel, text: list[int], rows: Logits, threads: int, ends: list[int]
) -> None:
    asked, model._cores = model._cores, cast(Cores, SimpleNamespace(threads=threads))
    for end in ends:
        model.forget(end // 2)
        np.testing.assert_array_equal(model.forward(text[:end]).logits[0], rows[end - 1])
    model._cores = asked


@given(start=st.integers(1, LENGTH - 20), tree=trees(), data=st.data())
@settled
def test_in_trees_and_after_them(
    model: LlamaTreeModel, text: list[int], rows: Logits, start: int, tree: object, data: st.DataObject
) -> None:
    """Trees of whatever tokens; and such as hold what the text goes on with, in any order of their nodes."""
    tokens, parents = tree  # type: ignore[misc]
    got = model.forward_tree(text[:start], tokens, parents).logits
    for node in range(-1, len(tokens)):
        path = path_to((tokens, parents), node)
        model.forget()
        np.testing.assert_array_equal(got[node + 1], model.forward([*text[:start], *path]).logits[0])
    np.testing.assert_array_equal(got[0], rows[start - 1])
    going = text[start : start + data.draw(st.integers(1, 6))]
    mixed, above = braided(going, [(token + 1) % 250 for token in going], data.draw(st.integers(0, 6)))
    model.forward_tree(text[:start], mixed, above)
    before = model.counters.tokens
    end = start + len(going) + 1
    np.testing.assert_array_equal(model.forward(text[:end]).logits[0], rows[end - 1])
    assert model.counters.tokens - before == 1
    np.testing.assert_array_equal(model.forward(text[: end + 5], 5).logits, rows[end : end + 5])


def braided(going: list[int], wrong: list[int], first: int) -> tuple[list[int], list[int]]:
    """Tokens and parents of a tree of both, ``first`` nodes of what goes on before they take turns."""
    tokens: list[int] = []
    parents: list[int] = []
    last, astray = -1, -1
    for depth, token in enumerate(going):
        if depth >= first:
            tokens, parents = [*tokens, wrong[depth]], [*parents, last if depth == first else astray]
            astray = len(tokens) - 1
        tokens, parents = [*tokens, token], [*parents, last]
        last = len(tokens) - 1
    return tokens, parents


@given(kept=st.integers(1, LENGTH), ends=ENDS)
@settled
def test_beside_what_is_put_aside_and_after_it(
    model: LlamaTreeModel, text: list[int], rows: Logits, kept: int, ends: list[int]
) -> None:
    model.forward(text[:kept])
    with model.aside(text[:kept], 200):
        for end in ends:
            model.forward([*text[: end // 2], 5, 6])
            np.testing.assert_array_equal(model.forward(text[:end]).logits[0], rows[end - 1])
    last = min(kept, 3)
    np.testing.assert_array_equal(model.forward(text[:kept], last).logits, rows[kept - last : kept])


@given(steps=st.lists(st.lists(st.integers(1, LENGTH), min_size=1, max_size=SEQUENCES), min_size=1, max_size=4))
@settled
def test_in_sequences_side_by_side(
    model: LlamaTreeModel, text: list[int], rows: Logits, steps: list[list[int]]
) -> None:
    several = model.sequences()
    for ends in steps:
        got = several.forward_each([text[:end] for end in ends]).logits
        np.testing.assert_array_equal(got, rows[[end - 1 for end in ends]])
        astray = several.forward_each([[*text[:end], 7, end] for end in ends]).logits
        model.forget()
        np.testing.assert_array_equal(astray[0], model.forward([*text[: ends[0]], 7, ends[0]]).logits[0])
    several.close()
