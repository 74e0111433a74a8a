"""Networks that keep a state, and those whose attention slides: right whatever is asked, and back at little cost."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import llama_cpp
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from predtui.lab.random_gguf import Shape, write
from predtui.llm.base import LanguageModel, Preempted, aside
from predtui.llm.halt import Halt
from predtui.llm.llamacpp import states
from predtui.llm.llamacpp.opening import open_model
from predtui.llm.llamacpp.states import LlamaStateModel
from predtui.llm.rows import Logits
from predtui.llm.sequences import OneByOne, sequences_of

STATEFUL = {
    "mamba": Shape("mamba"),
    "lfm2": Shape("lfm2"),
    "falcon-h1": Shape("falcon-h1"),
    "qwen35": Shape("qwen35", inner=64, state=32),
}
SLIDING = Shape("gemma2", window=8)
ROUNDING = 5e-2
"""Kernels for one token and for many differ by as much, in 16 bits."""
slow = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def tokens(count: int, seed: int = 0) -> list[int]:
    return random.Random(seed).choices(range(256), k=count)


def fresh(model: LanguageModel, asked: list[int], last: int = 1) -> Logits:
    model.forget()
    return model.forward(asked, last).logits


@pytest.fixture(scope="module", params=STATEFUL)
def path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("states") / f"{request.param}.gguf", STATEFUL[request.param])


@pytest.fixture(scope="module")
def models(path: Path) -> Iterator[tuple[LlamaStateModel, LanguageModel]]:
    """One to be asked anything, and one that is asked everything anew."""
    asked, other = open_model(path, 1), open_model(path, 1)
    assert isinstance(asked, LlamaStateModel)
    yield asked, other
    asked.close()
    other.close()


@pytest.fixture(scope="module")
def model(models: tuple[LlamaStateModel, LanguageModel]) -> LlamaStateModel:
    return models[0]


CALLS = st.lists(
    st.tuples(st.integers(1, 120), st.integers(0, 40), st.integers(1, 60), st.one_of(st.none(), st.integers(0, 150))),
    min_size=1,
    max_size=8,
)
"""Tokens of a known text, other tokens behind them, rows, and what is forgotten afterwards."""


@given(calls=CALLS, seed=st.integers(0, 9))
@slow
def test_any_calls_give_the_rows_of_a_fresh_model(
    models: tuple[LlamaStateModel, LanguageModel], calls: list[tuple[int, int, int, int | None]], seed: int
) -> None:
    model, other = models
    known = tokens(120, seed)
    for number, (count, more, last, forgotten) in enumerate(calls):
        asked = [*known[:count], *tokens(more, number)]
        last = min(last, len(asked))
        np.testing.assert_allclose(model.forward(asked, last).logits, fresh(other, asked, last), atol=ROUNDING)
        if forgotten is not None:
            model.forget(forgotten)


def test_a_word_costs_what_it_is_and_not_the_conversation(model: LlamaStateModel) -> None:
    """Prompts as they come while somebody types: a history, some words, a template's end; each verified with a
    candidate, of which some is rejected, then gone on with; and a word that is taken back."""
    history, end = tokens(600), tokens(9, 1)
    model.forget()
    model.forward([*history, *end])
    said: list[int] = []
    costs = []
    for word in range(16):
        said = said[:-3] if word % 5 == 4 else [*said, *tokens(2, word + 2)]
        before = model.counters.tokens
        prompt = [*history, *said, *end]
        candidate = tokens(12, word)
        model.forward([*prompt, *candidate], last=13)
        for length in range(4, 8):
            model.forward([*prompt, *candidate[:4], *tokens(length, 99)])
        costs.append(model.counters.tokens - before)
    assert max(costs) < 120
    assert sum(costs) / len(costs) < 70


def test_what_is_evaluated_is_counted(model: LlamaStateModel) -> None:
    """A fresh prompt costs its tokens, going on costs those that are new, going back at least those that differ."""
    model.forget()
    asked = tokens(400)
    for shape, least, most in (
        (asked, 400, 400),
        ([*asked, 7], 1, 1),
        ([*asked, 7, 8, 9], 2, 2),
        ([*asked[:396], 5], 1, 30),
        ([*asked[:396], 6], 1, 10),
    ):
        before = model.counters.forwards, model.counters.tokens
        model.forward(shape)
        assert model.counters.forwards - before[0] == 1
        assert least <= model.counters.tokens - before[1] <= most


def test_a_halted_state_is_not_used_again(path: Path) -> None:
    halt, over = Halt(), threading.Event()
    model, other = open_model(path, 1, stale=halt), open_model(path, 1)
    rng = random.Random(3)

    def interfere() -> None:
        while not over.wait(rng.uniform(0, 0.002)):
            halt.set()

    thread = threading.Thread(target=interfere)
    thread.start()
    known, halted = tokens(200), 0
    for _ in range(80):
        halt.clear()
        asked = [*known[: rng.randint(1, 200)], *rng.choices(range(256), k=rng.randint(0, 30))]
        try:
            rows = model.forward(asked, last=min(5, len(asked))).logits
        except Preempted:
            halted += 1
        else:
            np.testing.assert_allclose(rows, fresh(other, asked, min(5, len(asked))), atol=ROUNDING)
    over.set()
    thread.join()
    halt.clear()
    assert halted
    np.testing.assert_allclose(model.forward(known).logits, fresh(other, known), atol=ROUNDING)
    for each in (model, other):
        each.close()


def test_copies_are_few_and_bounded_in_memory(model: LlamaStateModel, monkeypatch: pytest.MonkeyPatch) -> None:
    for room, most in ((2**40, states.MOST_COPIES), (1, states.LEAST_COPIES)):
        monkeypatch.setattr(states, "BYTES", room)
        model.forget()
        asked = tokens(900)
        for end in range(10, 900, 10):
            model.forward(asked[:end])
            assert len(model._copies) <= most
        assert len(model._copies) == most
        np.testing.assert_allclose(model.forward(asked[:500]).logits, fresh(model, asked[:500]), atol=ROUNDING)


def test_a_file_is_loaded_once_and_has_room_for_one_state(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loads: list[bytes] = []
    real = llama_cpp.llama_model_load_from_file
    monkeypatch.setattr(
        llama_cpp, "llama_model_load_from_file", lambda name, params: (loads.append(name), real(name, params))[1]
    )
    model = open_model(path, 1)
    assert len(loads) == 1
    assert llama_cpp.llama_n_seq_max(model._context) == 1
    model.close()


def test_without_a_flag_for_states_all_of_the_cache_is_copied(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("predtui.llm.llamacpp.batch._KNOWS_STATES", False)
    model = open_model(path, 1)
    asked = tokens(90)
    model.forward(asked)
    for end in (60, 70, 40, 85):
        back = [*asked[:end], 7, 8]
        rows = model.forward(back, 2).logits
        np.testing.assert_allclose(rows, fresh(model, back, 2), atol=ROUNDING)
        model.forward(asked)
    model.close()


def test_several_continuations_go_through_the_one_state(model: LlamaStateModel) -> None:
    several = sequences_of(model)
    assert isinstance(several, OneByOne)
    contexts = [[*tokens(50), *tokens(3, seed)] for seed in range(4)]
    rows = several.forward_each(contexts).logits
    for row, context in zip(rows, contexts, strict=True):
        np.testing.assert_allclose(row, fresh(model, context)[0], atol=ROUNDING)


@given(calls=CALLS, seed=st.integers(0, 9))
@slow
def test_nothing_is_put_aside_and_what_follows_other_work_is_right(
    models: tuple[LlamaStateModel, LanguageModel], calls: list[tuple[int, int, int, int | None]], seed: int
) -> None:
    """A state has no second sequence to hold it, so that it is not said to be spared: going back pays for itself."""
    model, other = models
    assert not model.abilities.spares
    assert not model.abilities.trees
    asked = tokens(120, seed)
    model.forward(asked)
    with aside(model, asked, 200):
        for number, (count, more, last, forgotten) in enumerate(calls):
            within = [*asked[:count], *tokens(more, number)]
            model.forward(within, min(last, len(within)))
            if forgotten is not None:
                model.forget(forgotten)
    further = [*asked, *tokens(5, seed + 20)]
    np.testing.assert_allclose(model.forward(further, 5).logits, fresh(other, further, 5), atol=ROUNDING)


# --- sliding windows -------------------------------------------------------------------------------------------------


@pytest.fixture(params=["kept whole", "as the library prunes it"])
def sliding(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    if request.param != "kept whole":
        real = llama_cpp.llama_init_from_model

        def pruning(model: int, params: Any) -> Any:
            params.swa_full = False
            return real(model, params)

        monkeypatch.setattr(llama_cpp, "llama_init_from_model", pruning)
    model = open_model(write(tmp_path / "sliding.gguf", SLIDING), 1)
    yield model
    model.close()


def test_what_left_a_sliding_window_is_not_taken_for_known(sliding: LanguageModel) -> None:
    asked = tokens(900)
    sliding.forward(asked)
    for end in (880, 300, 100, 20, 700, 650):
        back = [*asked[:end], 7, 8]
        rows = sliding.forward(back, 2).logits
        np.testing.assert_allclose(rows, fresh(sliding, back, 2), atol=ROUNDING)
        sliding.forward(asked)


def test_with_the_window_kept_whole_going_back_is_free(tmp_path: Path) -> None:
    model = open_model(write(tmp_path / "sliding.gguf", SLIDING), 1)
    asked = tokens(900)
    model.forward(asked)
    before = model.counters.tokens
    model.forward([*asked[:100], 7])
    assert model.counters.tokens - before == 1
    model.close()
