"""Input-time speculation commits, token for token, what plain decoding of the final prompt gives.

Over random histories of revisions (words added, dropped, flipped, nothing, far too much) and random pre-emption.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predtui.decoding.autoregressive import Autoregressive, generate
from predtui.decoding.base import Decoder, Sampler
from predtui.decoding.jacobi import Jacobi
from predtui.decoding.sampler import Greedy, Seeded
from predtui.lab.random_gguf import LAYERS, Shape, write
from predtui.llm.base import LoadedModel
from predtui.llm.llamacpp.exactness import known_exact
from predtui.llm.load import load
from predtui.llm.rows import ArrayRow
from predtui.models.shipped import asset
from predtui.predgen.algorithm import Progress, Prompt, Speculator
from predtui.predgen.verifiers import make_verifier
from predtui.predgen.window import Window
from predtui.registry import VERIFIERS
from tests import tiny_folder, tiny_gguf
from tests.curves import curve

REPLY_LIMIT = 40
NEAR_TIE = 0.05
"""Logits closer than this may change places in an engine that is not exact."""

WORDS = ["what", "is", "the", "sun", "of", "a", "no", "3", "Why?", "then,", "über", "how", "many", "legs", "france"]

words = st.lists(st.sampled_from(WORDS), max_size=7)
prompts = words.map(" ".join) | st.just("") | st.just("very long " * 60)
histories = st.lists(st.tuples(prompts, st.none() | st.integers(0, 30), st.booleans()), max_size=6)
"""Revisions: what is said, after how many questions the work on it is stale (None: never), whether all words flip."""
samplers = st.just(Greedy()) | st.builds(
    Seeded, temperature=st.floats(0.3, 2.0), top_k=st.sampled_from([0, 12]), seed=st.integers(0, 99)
)


def after(questions: int | None) -> Callable[[], bool]:
    """Stale from the given question on, and for good."""
    left = iter(range(questions)) if questions is not None else None
    return lambda: left is not None and next(left, None) is None


def plain_reply(loaded: LoadedModel, prompt: list[int], sampler: Sampler, limit: int) -> list[int]:
    limit = min(limit, loaded.model.context_size - len(prompt))
    return list(generate(loaded.model, prompt, sampler, limit, loaded.tokenizer.is_end))


@dataclass(frozen=True)
class Switches:
    """What may be on or off without the reply being another: candidates kept, guesses answered ahead, and what each
    token after the first adds to the cost of a forward (None: nobody asks)."""

    memory: int = 4
    continuations: int = 0
    more: float | None = None
    jacobi: bool = False


switches = st.builds(
    Switches, st.integers(1, 4), st.integers(0, 2), st.sampled_from([None, 0.0, 0.3, 1.0]), st.booleans()
)


def speculate(
    loaded: LoadedModel,
    sampler: Sampler,
    history: list[tuple[str, int | None, bool]],
    final: str,
    on: Switches = Switches(),
    verifier_name: str = "greedy",
) -> tuple[Speculator, list[int], list[Progress]]:
    """Run the revisions, then the final prompt to its end. The final prompt's tokens and all its progress."""
    window = Window(loaded, "sys", REPLY_LIMIT)
    decoder: Decoder = Jacobi(loaded.model, sampler, block=4) if on.jacobi else Autoregressive(loaded.model, sampler)
    verifier = make_verifier(verifier_name, loaded, sampler, None if on.more is None else curve(1.0, on.more))
    speculator = Speculator(loaded, decoder, verifier, REPLY_LIMIT, on.memory, on.continuations)
    for said, stale_after, flip in history:
        said = " ".join(reversed(said.split())) if flip else said
        ends = [final[: len(said) + n] for n in range(1, 1 + on.continuations)]
        for prompt, ahead in [(said, False), *((end, True) for end in ends)]:
            for progress in speculator.advance(Prompt(window.tokens([], prompt), after(stale_after), ahead)):
                if len(progress.tokens) > 25:
                    break
    prompt = window.tokens([], final)
    return speculator, prompt, list(speculator.advance(Prompt(prompt)))


@pytest.mark.parametrize("verifier", [entry.choice for entry in VERIFIERS.values() if entry.lossless])
@given(histories, prompts, samplers, st.integers(0, 5), switches)
@settings(max_examples=100, deadline=None)
def test_commits_what_plain_decoding_gives(
    verifier: str,
    history: list[tuple[str, int | None, bool]],
    final: str,
    sampler: Sampler,
    seed: int,
    on: Switches,
) -> None:
    loaded = load(str(seed), engine="scripted", context=160)
    speculator, prompt, steps = speculate(loaded, sampler, history, final, on, verifier)
    plain = plain_reply(load(str(seed), engine="scripted", context=160), prompt, sampler, REPLY_LIMIT)
    assert list(steps[-1].tokens) == list(speculator.candidate) == plain
    assert steps[-1].ended
    assert all(step.lossless for step in steps)


@pytest.mark.parametrize("verifier", [entry.choice for entry in VERIFIERS.values()])
@given(histories, prompts, samplers, st.integers(0, 5), switches)
@settings(max_examples=50, deadline=None)
def test_no_verifier_calls_a_reply_lossless_that_plain_decoding_does_not_give(
    verifier: str,
    history: list[tuple[str, int | None, bool]],
    final: str,
    sampler: Sampler,
    seed: int,
    on: Switches,
) -> None:
    loaded = load(str(seed), engine="scripted", context=160)
    speculator, prompt, steps = speculate(loaded, sampler, history, final, on, verifier)
    plain = plain_reply(load(str(seed), engine="scripted", context=160), prompt, sampler, REPLY_LIMIT)
    assert steps[-1].ended
    assert list(steps[-1].tokens) == list(speculator.candidate)
    assert len(steps[-1].tokens) <= REPLY_LIMIT
    if all(step.lossless for step in steps):
        assert list(steps[-1].tokens) == plain


@given(histories, prompts, samplers, st.integers(0, 5), switches, st.lists(st.text("etaoi ", min_size=1, max_size=3)))
@settings(max_examples=50, deadline=None)
def test_a_reply_ends_at_a_stop_string_as_plain_decoding_would(
    history: list[tuple[str, int | None, bool]],
    final: str,
    sampler: Sampler,
    seed: int,
    on: Switches,
    stops: list[str],
) -> None:
    def opened() -> LoadedModel:
        return replace(load(str(seed), engine="scripted", context=160), stops=tuple(stops))

    speculator, prompt, steps = speculate(opened(), sampler, history, final, on)
    whole = plain_reply(fresh := opened(), prompt, sampler, REPLY_LIMIT)
    heads = (whole[:count] for count in range(1, len(whole)))
    plain = next((head for head in heads if any(stop in fresh.tokenizer.decode(head) for stop in stops)), whole)
    assert list(steps[-1].tokens) == list(speculator.candidate) == plain
    assert steps[-1].ended
    assert all(step.lossless for step in steps)


@given(histories, prompts, samplers)
@settings(max_examples=50, deadline=None)
def test_each_step_costs_one_forward_at_most_and_none_of_a_verification_is_for_nothing(
    history: list[tuple[str, int | None, bool]], final: str, sampler: Sampler
) -> None:
    loaded = load("2", engine="scripted", context=160)
    window = Window(loaded, "sys", REPLY_LIMIT)
    decoder = Autoregressive(loaded.model, sampler)
    speculator = Speculator(loaded, decoder, make_verifier("greedy", loaded, sampler), REPLY_LIMIT)
    counters = loaded.model.counters
    for said, stale_after, _ in [*history, (final, None, False)]:
        before = (counters.forwards, counters.tokens)
        previous = speculator.candidate
        known = {previous, *speculator._candidates.known(REPLY_LIMIT)}
        prompt = Prompt(window.tokens([], said), after(stale_after))
        told = [(step, counters.forwards) for step in speculator.advance(prompt)]
        steps, spent = [step for step, _ in told], [forwards for _, forwards in told]
        if steps:
            assert spent[0] - before[0] <= max(1, len(steps[0].tokens))
            assert all(late - early <= 1 for early, late in pairwise(spent))
        assert (counters.forwards, counters.tokens) >= before
        assert all(step.kept + step.rejected in known for step in steps)
        assert all(late.tokens[: len(early.tokens)] == early.tokens for early, late in pairwise(steps))
        chosen = [len(step.tokens) for step in steps if not step.verifying]
        assert chosen == [chosen[0] + index for index in range(len(chosen))]
        if not steps:
            assert speculator.candidate == previous


@given(words.map(" ".join), samplers)
@settings(max_examples=50, deadline=None)
def test_the_same_prompt_again_costs_nothing(said: str, sampler: Sampler) -> None:
    loaded = load("4", engine="scripted")
    speculator, prompt, steps = speculate(loaded, sampler, [], said)
    before = loaded.model.counters.forwards
    again = list(speculator.advance(Prompt(prompt)))
    assert loaded.model.counters.forwards == before
    assert [step.kept for step in again] == [steps[-1].tokens]


@pytest.fixture(
    scope="module", params=["llamacpp", "llamacpp pocket", "llamacpp lfm2", "llamacpp mamba", "torch", "torch pocket"]
)
def real(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LoadedModel]:
    """Each engine with random weights, those of networks that keep a state among them, and with the pocket model."""
    engine, _, name = request.param.partition(" ")
    if engine == "torch":
        pytest.importorskip("transformers")
    if name == "pocket" and not asset("pocket", "target", "model.gguf").is_file():
        pytest.skip("the pocket model is not there")
    path = tmp_path_factory.mktemp("laws") / "tiny"
    if name in LAYERS:
        name = str(write(path, Shape(name)))
    tiny = tiny_folder.write if engine == "torch" else tiny_gguf.write
    loaded = load(name or str(tiny(path)), engine, threads=1)
    yield loaded
    loaded.model.close()


def test_on_real_kernels(real: LoadedModel) -> None:
    """As above; a first difference that comes from a near-tie is told apart from an error."""
    rng = random.Random(5)
    near_ties = 0
    for trial in range(25):
        sampler: Sampler = Greedy() if trial % 2 else Seeded(seed=trial)
        final = rng.choices(WORDS, k=rng.randint(1, 9))
        history = [(" ".join(final[:n]), rng.choice([None, 3, 12]), rng.random() < 0.1) for n in range(len(final) + 1)]
        on = Switches(rng.randint(1, 4), rng.randint(0, 2), rng.choice([None, 0.0, 0.3]))
        speculator, prompt, steps = speculate(real, sampler, history, " ".join(final), on)
        real.model.forget()
        plain = plain_reply(real, prompt, sampler, REPLY_LIMIT)
        near_ties += differs_by_near_tie(real, sampler, prompt, plain, list(speculator.candidate))
        assert steps[-1].ended
    assert near_ties <= 1


def differs_by_near_tie(
    loaded: LoadedModel, sampler: Sampler, prompt: list[int], plain: list[int], reply: list[int]
) -> bool:
    if plain == reply:
        return False
    assert not exact(loaded), "the reply is another one"
    at = next(i for i in range(len(plain)) if plain[i] != reply[i])
    row = loaded.model.forward([*prompt, *plain[:at]]).logits[-1].copy()
    row[reply[at]] += NEAR_TIE
    assert sampler.choose(ArrayRow(row), at) == reply[at], f"token {at} differs and is no near-tie"
    return True


def exact(loaded: LoadedModel) -> bool:
    """Whether its engine says that it gives the same logits however many tokens are evaluated at once."""
    return known_exact(loaded.model)


def test_jacobi_decoding_on_real_kernels(real: LoadedModel) -> None:
    """Without a guess and with a wrong one, greedily and sampled, it yields what plain decoding yields."""
    rng = random.Random(7)
    near_ties = 0
    for trial in range(10):
        sampler: Sampler = Greedy() if trial % 2 else Seeded(seed=trial)
        prompt = Window(real, "sys", REPLY_LIMIT).tokens([], " ".join(rng.choices(WORDS, k=rng.randint(1, 9))))
        guess = rng.choices(range(200), k=rng.choice([0, 30]))
        decoder = Jacobi(real.model, sampler, block=rng.choice([2, 8, 16]))
        reply = list(decoder.generate(prompt, REPLY_LIMIT, real.tokenizer.is_end, guesses=[guess]))
        plain = plain_reply(real, prompt, sampler, REPLY_LIMIT)
        near_ties += differs_by_near_tie(real, sampler, prompt, plain, reply)
        assert decoder.statistics.forwards <= len(reply)
    assert near_ties <= 1
