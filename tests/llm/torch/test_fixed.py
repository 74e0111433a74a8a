"""A cache of fixed size and repeated forwards give what a cache that grows gives, whatever is cut, branches off or is
put aside. Capturing needs a GPU: elsewhere the work is done again."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from inspect import signature
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from predtui.errors import PredtuiError  # noqa: E402
from predtui.llm.base import Preempted  # noqa: E402
from predtui.llm.halt import Halt  # noqa: E402
from predtui.llm.torch import shapes  # noqa: E402
from predtui.llm.torch.fixed import FixedModel, unfixed  # noqa: E402
from predtui.llm.torch.folder import _graphed, wrapped  # noqa: E402
from predtui.llm.torch.graphs import Work  # noqa: E402
from predtui.llm.torch.tree import TorchTreeModel  # noqa: E402
from tests.llm.test_trees import trees  # noqa: E402
from tests.llm.torch.networks import network_of  # noqa: E402

CONTEXT = 100
HANG_S = 30


def again(work: Work) -> Work:
    """A ``Capture`` where nothing can be captured. The result stands in one tensor, as a graph's does."""
    result = work()

    def repeat() -> Any:
        return result.copy_(work())

    return repeat


@pytest.fixture(scope="module")
def pair() -> Iterator[tuple[TorchTreeModel, FixedModel]]:
    """The same network over both caches; narrow shapes, so that there are several."""
    network = network_of("Qwen3")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shapes, "_NARROWEST", 16)
        fixed = FixedModel(network, CONTEXT, capture=again, rest_s=0)
        fixed.graphs.thread.join(HANG_S)
        assert len(fixed.graphs) == len(fixed._shapes) == 5 * len(shapes.SIZES)
        yield TorchTreeModel(network, CONTEXT), fixed
        fixed.close()


def test_the_states_behind_its_rows_are_the_same(pair: tuple[TorchTreeModel, FixedModel]) -> None:
    """Of forwards that were captured before anybody asked, and of one that is too long for it."""
    told = []
    for model in pair:
        model.tell_hidden()
        asked = [model.forward(range(4, 4 + n), last) for n, last in ((9, 2), (10, 1), (90, 70))]
        told.append([*asked, model.forward_tree([*range(4, 14)], [5, 6, 7], [-1, 0, 0])])
        model.forget()
    for one, other in zip(*told, strict=True):
        assert one.hidden.shape == (len(one), pair[0].abilities.hidden)
        assert np.abs(one.hidden - other.hidden).max() < 1e-4


TOKENS = st.lists(st.integers(4, 40), min_size=1, max_size=70)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("forward"), st.integers(0, 80), TOKENS, st.integers(1, 70)),
        st.tuples(st.just("tree"), st.integers(0, 80), TOKENS, trees()),
        st.tuples(st.just("forget"), st.integers(0, 80)),
        st.tuples(st.just("aside"), st.integers(0, 80), TOKENS, trees()),
    ),
    max_size=7,
)


@settings(max_examples=30, deadline=None)
@given(STEPS, st.data())
def test_any_cuts_trees_and_work_aside_give_the_rows_of_a_cache_that_grows(
    pair: tuple[TorchTreeModel, FixedModel], steps: list[tuple[Any, ...]], data: st.DataObject
) -> None:
    said: list[int] = []

    def both(name: str, *given: Any) -> None:
        before = [model.counters.tokens for model in pair]
        theirs, ours = (getattr(model, name)(*given) for model in pair)
        costs = [model.counters.tokens - b for model, b in zip(pair, before, strict=True)]
        assert costs[0] == costs[1]
        if theirs is not None:
            np.testing.assert_allclose(ours.logits, theirs.logits, atol=1e-3)

    both("forget")
    for name, *given_ in steps:
        if name == "forget":
            both("forget", given_[0])
            continue
        asked = [*said[: given_[0]], *given_[1]][:CONTEXT]
        if name == "forward":
            both("forward", asked, min(given_[2], len(asked)))
            said = asked
            continue
        tokens, parents = given_[2]
        asked = asked[: CONTEXT - len(tokens)]
        if name == "tree":
            both("forward_tree", asked, tokens, parents)
            node = data.draw(st.integers(-1, len(tokens) - 1))
            path: list[int] = []
            while node >= 0:
                path, node = [tokens[node], *path], parents[node]
            said = [*asked, *path]
        else:
            aside = [model.aside(said, 0) for model in pair]
            for one in aside:
                one.__enter__()
            both("forward_tree", asked, tokens, parents)
            both("forward", asked)
            for one in aside:
                one.__exit__(None, None, None)
    if said:
        both("forward", [*said, 5][-CONTEXT:])


def test_a_forward_that_is_halted_anywhere_leaves_what_was_remembered() -> None:
    network, asks = network_of("Llama"), iter(())
    halt = Halt(lambda: next(asks, None) and halt.set())
    model, plain = FixedModel(network, CONTEXT, halt, capture=None), TorchTreeModel(network, CONTEXT)
    said = [4 + number % 37 for number in range(60)]
    wanted = plain.forward([*said[:30], 7], 2).logits
    for when in range(2):
        asks = iter(())
        model.forward(said[:30])
        asks = iter([*[0] * when, 1])
        with pytest.raises(Preempted):
            model.forward(said)
        halt.clear()
        asks, before = iter(()), model.counters.tokens
        np.testing.assert_allclose(model.forward([*said[:30], 7], 2).logits, wanted, atol=1e-4)
        assert model.counters.tokens - before == 2
    model.close()


def test_no_halt_reaches_a_capture() -> None:
    halt = Halt()
    halt.set()
    model = FixedModel(network_of("Llama"), CONTEXT, halt, again, rest_s=0)
    model.graphs.thread.join(HANG_S)
    assert (len(model.graphs), model.graphs.failure) == (len(model._shapes), "")
    model.close()


def test_nothing_is_captured_before_the_network_rests_and_closing_waits_for_no_rest() -> None:
    model = FixedModel(network_of("Llama"), CONTEXT, capture=again, rest_s=1000)
    model.forward([5, 6, 7])
    assert len(model.graphs) == 0
    assert model.graphs.thread.is_alive()
    model.close()
    assert not model.graphs.thread.is_alive()
    model.close()


def test_what_cannot_be_captured_goes_on_without_and_is_one_line(caplog: pytest.LogCaptureFixture) -> None:
    def refused(_work: Work) -> Work:
        raise RuntimeError("operation not permitted when stream is capturing\nSearch for it.")

    network = network_of("Llama")
    with caplog.at_level(logging.WARNING, "predtui.torch"):
        model = FixedModel(network, CONTEXT, capture=refused, rest_s=0)
        model.graphs.thread.join(HANG_S)
    assert caplog.messages == [
        "forwards of 1 tokens cannot be captured: operation not permitted when stream is capturing"
    ]
    rows, wanted = (one.forward([5, 6, 7], 2).logits for one in (model, TorchTreeModel(network, CONTEXT)))
    np.testing.assert_allclose(rows, wanted, atol=1e-4)
    model.close()


def test_forwards_and_captures_do_not_meet() -> None:
    """Captures all the while, as fast as they come, beside forwards."""
    network = network_of("Llama")
    plain, started = TorchTreeModel(network, CONTEXT), threading.Event()

    def slow(work: Work) -> Work:
        started.set()
        return again(work)

    model = FixedModel(network, CONTEXT, capture=slow, rest_s=0)
    assert started.wait(HANG_S)
    for length in (3, 30, 9, 64, 17, 90, 2):
        asked = [4 + number * length % 37 for number in range(length)]
        np.testing.assert_allclose(model.forward(asked, 2).logits, plain.forward(asked, 2).logits, atol=1e-4)
    model.close()


@pytest.mark.parametrize(
    ("family", "why"),
    [("Llama", ""), ("Mistral", "does not attend to all"), ("Mamba", "does not attend to all")],
)
def test_networks_that_slide_or_keep_a_state_have_no_graphs(family: str, why: str) -> None:
    network = network_of(family)
    assert why in unfixed(network)
    assert bool(why) == bool(unfixed(network))
    assert _graphed(network, "cuda", "auto")[0] == (not why)
    assert not _graphed(network, "cuda", "off")[0]
    if why:
        with pytest.raises(PredtuiError, match=rf"llm.graphs = on, .*{why}"):
            _graphed(network, "cuda", "on")


def test_a_network_that_takes_no_mask_of_ours_has_no_graphs(monkeypatch: pytest.MonkeyPatch) -> None:
    network = network_of("Llama")
    plain = network.forward
    named = signature(plain)

    def ignoring(*given: Any, attention_mask: Any = None, **more: Any) -> Any:
        return plain(*given, **more)

    ignoring.__signature__ = named  # type: ignore[attr-defined]
    monkeypatch.setattr(network, "forward", ignoring)
    assert "mask" in unfixed(network)


def test_where_there_is_no_gpu_graphs_are_refused_or_left() -> None:
    network = network_of("Llama")
    assert _graphed(network, "cpu", "auto") == (False, "")
    for device in ("cpu", "mps", "auto"):
        with pytest.raises(PredtuiError, match="one CUDA GPU"):
            _graphed(network, device, "on")
    assert type(wrapped(network)) is TorchTreeModel


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA GPU")
def test_graphs_on_a_gpu_give_the_rows_of_the_network() -> None:
    network = network_of("Llama").to("cuda", torch.bfloat16)
    model, plain = FixedModel(network, rest_s=0), TorchTreeModel(network)
    model.graphs.thread.join(300)
    assert (len(model.graphs), model.graphs.failure) == (len(model._shapes), "")
    said: list[int] = []
    for length in (1, 1, 1, 5, 17, 64, 100, 3, 1):
        said = [*said[: len(said) - length // 2], *(4 + number % 37 for number in range(length))]
        np.testing.assert_allclose(model.forward(said, 1).logits, plain.forward(said, 1).logits, atol=0.3)
    model.close()
