"""What docs/models.md says of the families that people run: a row is a family, a column one of these tests."""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np
import pytest

from predtui.decoding.sampler import Greedy
from predtui.llm.base import LoadedModel, common_prefix
from predtui.llm.load import inspect, load
from predtui.llm.templates import JinjaTemplate
from predtui.llm.thinking import with_thinking
from predtui.runtime.typing import Typed, read
from predtui.state.events import Message
from tests.laws.test_lossless import differs_by_near_tie, plain_reply, speculate
from tests.llm.families import CONTEXT, FAMILIES, Family, write

GREEDY = Greedy()
ROUNDING = 0.02
"""Kernels for one token and for many differ by as much, as a share of how far logits are apart."""
TALK = [
    Message("system", "Be kind to those who ask."),
    Message("user", "Is it warm?"),
    Message("assistant", "It is."),
    Message("user", "how hot is the"),
]


@pytest.fixture(scope="module", params=FAMILIES, ids=str)
def family(request: pytest.FixtureRequest) -> Family:
    chosen: Family = request.param
    return chosen


@pytest.fixture(scope="module")
def path(family: Family, tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(write(tmp_path_factory.mktemp("families") / "model.gguf", family))


@pytest.fixture(scope="module")
def loaded(path: str) -> Iterator[LoadedModel]:
    loaded = load(path, threads=1, weights="stored")
    yield loaded
    loaded.model.close()


def mark(loaded: LoadedModel, text: str) -> int:
    """The special token of that text."""
    return loaded.tokenizer.encode(text, special=True)[-1]


def test_loads(family: Family, path: str, loaded: LoadedModel) -> None:
    assert f"({family.arch}," in inspect(path)
    assert loaded.model.context_size == CONTEXT
    assert loaded.model.forward(loaded.prompt_tokens(TALK)).finite


def test_template(family: Family, loaded: LoadedModel) -> None:
    """System prompt, history and partial prompt stand in it once and in order, behind one BOS at most."""
    text, tokens = loaded.template.render(TALK), loaded.prompt_tokens(TALK)
    said = [message.content for message in TALK]
    places = [text.find(content) for content in said]
    assert sorted(places) == places
    assert [text.count(content) for content in said] == [1] * len(said), text
    if family.bos:
        bos, wanted = mark(loaded, family.bos), family.begins or "bos_token" in family.template
        assert [at for at, token in enumerate(tokens) if token == bos] == [0] * wanted
    for further in ("how hot is the sun", "how"):
        other = loaded.prompt_tokens([*TALK[:-1], Message("user", further)])
        assert common_prefix(tokens, other) > len(other) - 60, "a word changes what comes after it alone"


def test_ends(family: Family, loaded: LoadedModel) -> None:
    """Every token that ends a reply does, and no other one."""
    ends = {token for token in range(loaded.model.vocab_size) if loaded.tokenizer.is_end(token)}
    assert ends == {mark(loaded, text) for text in family.ends}


def test_thinking(family: Family, loaded: LoadedModel) -> None:
    """A model that thinks is asked without a thought by what its template knows or by a thought that is over, and
    asked with one as its template says; any other is asked as it was."""
    off, on = (with_thinking(loaded, mode, 100) for mode in ("off", "on"))
    assert bool(off.thinking) == bool(on.thinking) == bool(family.answers)
    asked = loaded.template.render(TALK)
    assert off.template.render(TALK).endswith(family.answers)
    assert (off.template.render(TALK) == asked) == (not family.answers)
    assert on.template.render(TALK) == asked
    if family.bos:
        assert off.prompt_tokens(TALK).count(mark(loaded, family.bos)) <= 1


def test_refusals(family: Family, loaded: LoadedModel) -> None:
    """What the template refuses is met with what it accepts, and told of."""
    assert isinstance(loaded.template, JinjaTemplate)
    notes = " ".join(loaded.template.notes)
    assert family.note in notes
    assert bool(family.note) == bool(notes), notes
    interrupted = [Message("user", "one"), Message("user", "two"), Message("assistant", ""), Message("user", "three")]
    text = loaded.template.render([TALK[0], *interrupted])
    assert text.find("one") < text.find("two") < text.find("three")


def test_roll_back(loaded: LoadedModel) -> None:
    """Any order of calls gives what a fresh model gives, and pays for what is new alone."""
    model, rng = loaded.model, random.Random(1)
    base = rng.choices(range(1, 256), k=100)
    for _ in range(12):
        asked = base[: rng.randint(1, 100)] + rng.choices(range(1, 256), k=rng.randint(0, 20))
        last = rng.randint(1, min(8, len(asked)))
        reused = model.forward(asked, last).logits.copy()
        model.forget()
        fresh = model.forward(asked, last).logits
        assert np.abs(reused - fresh).max() <= ROUNDING * np.ptp(fresh)
    model.forward(base)
    before = model.counters.tokens
    model.forward([*base[:80], 3, 4])
    assert model.counters.tokens - before == 2


def test_lossless(loaded: LoadedModel) -> None:
    """A line that is typed letter by letter gets the reply of plain decoding."""
    near_ties = 0
    for line in ("what is the capital of france?", "how do I boil an egg"):
        asked = dict.fromkeys(read(Typed(line[:count])).prompt for count in range(len(line)))
        speculator, prompt, steps = speculate(loaded, GREEDY, [(said, None, False) for said in asked], line)
        loaded.model.forget()
        plain = plain_reply(loaded, prompt, GREEDY, 40)
        near_ties += differs_by_near_tie(loaded, GREEDY, prompt, plain, list(speculator.candidate))
        assert steps[-1].ended
    assert near_ties <= 1
