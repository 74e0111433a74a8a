"""Every engine can what it declares, and no more: over templates in published structures, roll-back, trees, ends and
thoughts. Engines are those of ``tried``; an engine or a kind of server that is not among them fails here."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from predtui.clock import VirtualClock
from predtui.decoding.assembly import make_decoder
from predtui.decoding.autoregressive import generate
from predtui.decoding.costs.instrument import Instrument
from predtui.decoding.parts import Parts
from predtui.decoding.sampler import Greedy
from predtui.errors import PredtuiError
from predtui.llm.abilities import Rollback
from predtui.llm.around import ModelAround
from predtui.llm.base import LanguageModel, LoadedModel, common_prefix, has_trees
from predtui.llm.forcing import with_forced_endings
from predtui.llm.layers import has_layers
from predtui.llm.llamacpp.exactness import known_exact
from predtui.llm.rows import ArrayRows, Rows, Unanswered
from predtui.llm.thinking import SpelledTokenizer, fragment, with_thinking
from predtui.predgen.reply_text import ReplyText
from predtui.predgen.verifiers import make_verifier
from predtui.registry import LLM_ENGINES, SERVERS
from predtui.state.events import Message
from tests.laws.test_lossless import REPLY_LIMIT, differs_by_near_tie, speculate
from tests.llm.tried import ENGINES, LETTERS, Tried

ROUNDING = 0.03
"""Kernels for one token and for many differ by as much, as a share of how far logits are apart."""
ASKED = [Message("system", "be kind"), Message("user", "hot"), Message("assistant", "no"), Message("user", "a sun")]
FEW = settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(scope="module", params=ENGINES, ids=str)
def tried(request: pytest.FixtureRequest) -> Tried:
    chosen: Tried = request.param
    return chosen


@pytest.fixture(scope="module")
def opened(tried: Tried, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LoadedModel]:
    with tried.open(tmp_path_factory.mktemp("contract")) as loaded:
        yield loaded


@pytest.fixture
def loaded(opened: LoadedModel) -> LoadedModel:
    opened.model.forget()
    return opened


def close(one: Rows, other: Rows) -> bool:
    """Whether rows are the same but for rounding, as far as they tell."""
    if isinstance(other, ArrayRows):
        return bool(np.abs(one.logits - other.logits).max() <= ROUNDING * np.ptp(other.logits))
    return [row.top(3) for row in one] == [row.top(3) for row in other]


def said(loaded: LoadedModel, prompt: Sequence[int], limit: int = 12) -> list[int]:
    return list(generate(loaded.model, prompt, Greedy(), limit, loaded.tokenizer.is_end))


def some(loaded: LoadedModel, count: int, seed: int) -> list[int]:
    """Tokens of text."""
    letters = [token for letter in "etaoinshrdlu" for token in loaded.tokenizer.encode(letter)]
    return random.Random(seed).choices(letters, k=count)


def mark(loaded: LoadedModel, text: str) -> int:
    return loaded.tokenizer.encode(text, special=True)[-1]


def test_every_engine_and_every_kind_of_server_is_tried() -> None:
    assert {tried.engine for tried in ENGINES} == set(LLM_ENGINES)
    assert {tried.server for tried in ENGINES} - {""} == set(SERVERS)


def test_it_declares_what_is_expected_of_it(tried: Tried, loaded: LoadedModel) -> None:
    can = loaded.abilities
    declared = (can.verifies, can.rollback, can.trees, can.tokenises, can.generates)
    expected = (tried.verifies, tried.rollback, tried.trees, tried.tokenises, tried.engine == "remote")
    assert declared == expected


def test_it_has_what_it_declares_and_nothing_else(loaded: LoadedModel) -> None:
    can = loaded.abilities
    methods = {
        "forward_tree": can.trees,
        "generate": can.generates,
        "leave": can.shares,
        "aside": can.spares,
        "window": can.windows,
        "tell_hidden": can.hidden > 0,
    }
    assert {name: hasattr(loaded.model, name) for name in methods} == methods
    assert not can.soft or hasattr(loaded.model, "soften")
    assert not can.layers or (hasattr(loaded.model, "part") and hasattr(loaded.model, "part_bytes"))


def test_a_model_around_it_can_exactly_the_same(loaded: LoadedModel) -> None:
    thinker = with_thinking(loaded, "on", 20)
    around = Instrument(VirtualClock()).around(with_forced_endings(thinker))
    assert around.abilities == replace(thinker, model=around).abilities == loaded.abilities


def test_states_stand_behind_the_same_logits(tried: Tried, tmp_path: Path) -> None:
    """One prompt after another, rows of their ends and trees over them, with the states and without."""
    folders = [tmp_path / name for name in ("plain", "telling")]
    for folder in folders:
        folder.mkdir()
    with tried.open(folders[0]) as plain, tried.open(folders[1]) as telling:
        if not telling.abilities.hidden:
            return
        telling.model.tell_hidden()  # type: ignore[attr-defined]
        pairs = [*zip(*([*_asked(loaded)] for loaded in (plain, telling)), strict=True)]
        output = tried.output(telling) if tried.output else None
        for without, told in pairs:
            assert without.hidden is None
            states = told.hidden
            assert states is not None
            assert states.dtype == np.float32
            assert states.shape == (len(told), telling.abilities.hidden)
            assert states[1:].shape == told[1:].hidden.shape  # type: ignore[union-attr]
            assert (without.logits == told.logits).all() if _exact(telling) else close(without, told)
            if output is not None:
                assert close(ArrayRows(states @ output), told)


def test_a_part_of_all_layers_is_the_whole_and_keeps_a_cache_of_its_own(loaded: LoadedModel) -> None:
    model = loaded.model
    if not has_layers(model):
        return
    text, layers = some(loaded, 40, 4), range(model.abilities.layers)
    whole, fewer = model.part(layers), model.part(layers[:1])
    assert (whole.vocab_size, whole.abilities) == (model.vocab_size, replace(model.abilities, layers=len(layers)))
    assert model.part_bytes(layers) >= model.part_bytes(layers[:1]) > 0
    for part in (whole, fewer):
        part.tell_hidden()  # type: ignore[attr-defined]
    for end in (20, 40, 30):
        known, rows = model.counters.tokens, whole.forward(text[:end], 5)
        told = fewer.forward(text[:end], 5)
        assert model.counters.tokens == known
        assert close(model.forward(text[:end], 5), rows)
        assert rows.hidden is not None
        assert told.hidden is not None
        assert rows.hidden.shape == told.hidden.shape == (5, model.abilities.hidden)
        assert not close(rows, told)
    fewer.close()
    assert close(model.forward(text, 5), whole.forward(text, 5)), "closing one leaves the others"
    for wrong in ([], [len(layers)], [-1, 0], [1, 0], [0, 0]):
        with pytest.raises(ValueError, match="layers"):
            model.part(wrong)
    whole.close()


def _exact(loaded: LoadedModel) -> bool:
    """Whether it says the same in whatever pieces a prompt is evaluated."""
    return loaded.engine in ("scripted", "numpy") or known_exact(loaded.model)


def _asked(loaded: LoadedModel) -> Iterator[Rows]:
    """What it says at the ends of some texts, and after trees where it takes them."""
    text = some(loaded, 90, 3)
    for length, last in ((90, 1), (60, 7), (61, 1), (61, 61), (40, 3)):
        yield loaded.model.forward(text[:length], last)
        if has_trees(loaded.model):
            yield loaded.model.forward_tree(text[:length], text[60:64], [-1, 0, 0, -1])


def test_rows_tell_what_is_declared(loaded: LoadedModel) -> None:
    can, prompt = loaded.abilities, loaded.prompt_tokens(ASKED)
    if not can.tokenises:
        with pytest.raises(Unanswered):
            loaded.model.forward(prompt)
        return
    (row,) = loaded.model.forward(prompt)
    likeliest = row.top(can.top)
    assert len(likeliest) == len(set(likeliest)) == can.top
    assert row.argmax() == likeliest[0]
    assert [row.rank(token) for token in likeliest[:5]] == [*range(min(5, can.top))]
    if can.whole:
        assert row.logits.shape == (loaded.model.vocab_size,)
    else:
        with pytest.raises(Unanswered):
            row.logits  # noqa: B018 - it is the question


def test_rows_after_given_tokens_are_told_where_that_is_declared(loaded: LoadedModel) -> None:
    """Those of one forward are those of a forward each; an engine that regenerates refuses."""
    prompt = loaded.prompt_tokens(ASKED)
    if loaded.abilities.verifies == "regenerates":
        with pytest.raises(Unanswered):
            loaded.model.forward(prompt, 2)
        return
    together = loaded.model.forward(prompt, 4)
    for row in range(4):
        alone = loaded.model.forward(prompt[: len(prompt) - 3 + row])
        assert close(together[row : row + 1], alone)


@given(known=st.integers(0, 14), wrong=st.integers(0, 3), seed=st.integers(0, 9))
@FEW
def test_a_candidate_is_kept_as_far_as_plain_decoding_says_it(
    loaded: LoadedModel, known: int, wrong: int, seed: int
) -> None:
    """Verified, or generated anew and compared: what is kept is the beginning that both share."""
    prompt = loaded.prompt_tokens([*ASKED[:-1], Message("user", "sun"[: 1 + seed % 3])])
    plain = said(loaded, prompt)
    candidate = (*plain[:known], *some(loaded, wrong, seed))
    if loaded.abilities.verifies == "exact":
        found = [*make_verifier("greedy", loaded, Greedy()).verify(prompt, [candidate])]
        kept = sum(len(one.accepted) for one in found)
        accepted = [token for one in found for token in one.accepted]
        assert accepted == list(candidate[:kept])
        assert kept == common_prefix(candidate, plain) or tie(loaded, prompt, plain, kept)
    else:
        with pytest.raises(PredtuiError, match="needs the"):
            make_verifier("top3", loaded, Greedy())
        begun = plain[:known]
        if not (begun and loaded.tokenizer.is_end(begun[-1])):
            assert [*begun, *said(loaded, [*prompt, *begun], 12 - len(begun))] == plain


def tie(loaded: LoadedModel, prompt: list[int], plain: list[int], at: int) -> bool:
    """Whether what stands at ``at`` of the plain reply is about as likely as something else."""
    row = loaded.model.forward([*prompt, *plain[:at]])[-1]
    second = row.top(2)[-1]
    return row.gap(second) <= ROUNDING * 10


CALLS = st.lists(st.tuples(st.integers(1, 80), st.integers(0, 12), st.integers(1, 6)), min_size=2, max_size=6)
"""Tokens of a known text, other tokens behind them, and rows."""


@given(calls=CALLS)
@example([(50, 0, 1), (55, 6, 1), (55, 5, 1), (55, 4, 1), (20, 2, 3), (80, 0, 6)])
@FEW
def test_any_calls_give_the_rows_of_a_fresh_model_at_the_declared_cost(
    loaded: LoadedModel, calls: list[tuple[int, int, int]]
) -> None:
    can, model, base = loaded.abilities, loaded.model, some(loaded, 80, 1)
    if not can.tokenises:
        return
    model.forget()
    before, parted, got = list[int](), 0, list[tuple[list[int], int, Rows]]()
    for number, (count, more, last) in enumerate(calls):
        other = [*loaded.tokenizer.encode("etaoin"[number]), *some(loaded, more, number)]
        asked = [*base[:count], *other[:more]]
        last = min(last, len(asked)) if can.verifies == "exact" else 1
        shared = min(common_prefix(before, asked), len(asked) - last)
        known = model.counters.tokens
        got.append((asked, last, model.forward(asked, last)))
        spent = model.counters.tokens - known - (len(asked) - shared)
        if not can.generates:  # what a server evaluates, nobody knows
            assert spent in affordable(can.rollback, shared, len(before), parted)
        before, parted = asked, shared
    for asked, last, rows in got:
        model.forget()
        assert close(rows, model.forward(asked, last))


def affordable(rollback: Rollback, shared: int, before: int, parted: int) -> range | tuple[int, ...]:
    """How many tokens more than those that differ a call may evaluate which shares so many with the one ``before``,
    that had itself ``parted`` from its predecessor."""
    if rollback == "none":
        return 0, shared
    if rollback == "any" or shared == before:
        return (0,)
    return range(rollback if shared == parted else shared + 1)


@given(nodes=st.lists(st.tuples(st.integers(-1, 5), st.integers(0, 3)), min_size=1, max_size=7), data=st.data())
@FEW
def test_a_tree_has_the_rows_of_its_paths(
    loaded: LoadedModel, nodes: list[tuple[int, int]], data: st.DataObject
) -> None:
    context, model = some(loaded, 20, 3), loaded.model
    if not has_trees(model):
        with pytest.raises(PredtuiError, match="The decoder lookahead needs an engine that"):
            make_decoder("lookahead", Parts(loaded, Greedy()))
        return
    letters = [token for letter in "etao" for token in loaded.tokenizer.encode(letter)[-1:]]
    edges: list[tuple[int, int]] = []
    for parent, letter in nodes:
        edge = (min(parent, len(edges) - 1), letters[letter])
        edges += [edge] if edge not in edges else []
    parents, tree = [parent for parent, _ in edges], [token for _, token in edges]
    rows = model.forward_tree(context, tree, parents)
    paths = [list[int]()]
    for token, parent in zip(tree, parents, strict=True):
        paths.append([*paths[parent + 1], token])
    going_on = data.draw(st.sampled_from(paths))
    next_one = [*context, *going_on, letters[0]]
    assert close(model.forward(next_one), fresh(loaded, next_one))
    for row, path in enumerate(paths):
        assert close(rows[row : row + 1], fresh(loaded, [*context, *path]))


def fresh(loaded: LoadedModel, tokens: list[int]) -> Rows:
    loaded.model.forget()
    return loaded.model.forward(tokens)


@given(text=st.text(LETTERS, max_size=30).map(str.strip), cut=st.integers(0, 30))
@FEW
def test_text_survives_the_way_there_and_back(loaded: LoadedModel, text: str, cut: int) -> None:
    tokens = loaded.tokenizer.encode(text)
    assert loaded.tokenizer.decode(tokens) == text
    assert text.startswith(loaded.tokenizer.decode(tokens[:cut]).rstrip("\ufffd"))
    if loaded.abilities.tokenises:
        assert all(0 <= token < loaded.model.vocab_size for token in tokens)


class Ending(ModelAround):
    """Says the end where ``length`` tokens stand."""

    def __init__(self, model: LanguageModel, end: int, length: int) -> None:
        super().__init__(model)
        self._end, self._length = end, length

    def _told(self, rows: Rows, tokens: Sequence[int], last: int) -> Rows:
        logits = rows.logits.copy()
        for row in range(last):
            if len(tokens) - last + 1 + row >= self._length:
                logits[row] = 0
                logits[row, self._end] = 99
        return ArrayRows(logits)


def test_every_mark_that_ends_a_reply_ends_it(tried: Tried, loaded: LoadedModel) -> None:
    tokenizer, prompt = loaded.tokenizer, loaded.prompt_tokens(ASKED)
    if loaded.abilities.generates:
        reply = said(loaded, prompt, 400)
        assert [tokenizer.is_end(token) for token in reply] == [*([False] * (len(reply) - 1)), True]
    ends = [mark(loaded, text) for text in tried.ends]
    if ends:
        assert {token for token in range(loaded.model.vocab_size) if tokenizer.is_end(token)} == {*ends}
    for end in ends:
        whole = replace(loaded, model=Ending(loaded.model, end, len(prompt) + 3))
        reply = said(whole, prompt)
        assert [tokenizer.is_end(token) for token in reply] == [*([False] * (len(reply) - 1)), True]
        assert reply[-1] == end or len(reply) < 4
        assert tokenizer.decode(reply) == tokenizer.decode(reply[:-1])
        assert ReplyText(tokenizer, whole.stops).over(reply)


def test_what_a_person_says_is_none_of_the_templates_marks(tried: Tried, loaded: LoadedModel) -> None:
    for text in tried.marks:
        asked, plain = ([Message("user", f"say {what} now")] for what in (text, "it"))
        counts = [loaded.prompt_tokens(messages).count(mark(loaded, text)) for messages in (asked, plain)]
        assert counts[0] == counts[1], text


@pytest.mark.parametrize("mode", ["off", "on"])
def test_a_thought_is_left_out_or_ends_where_it_has_to(tried: Tried, loaded: LoadedModel, mode: str) -> None:
    thinker = with_thinking(loaded, mode, 6)
    thinking, prompt = thinker.thinking, thinker.template.render(ASKED).rpartition(ASKED[-1].content)[2]
    if not tried.thinks:
        assert thinker.template is loaded.template
        assert loaded.abilities.tokenises == (thinking is None)
        return
    assert thinking is not None
    assert thinking.within == (mode == "on" and thinking.form.within(prompt))
    assert not (mode == "off" and thinking.form.within(prompt)), "it is answered at once"
    opened = fragment(thinker.tokenizer, thinking.form.opens[0])
    begun = [*thinker.prompt_tokens(ASKED), *opened, *some(loaded, thinking.budget, 1)]
    reply = said(replace(thinker, model=with_forced_endings(thinker)), begun, 24)
    spelled = SpelledTokenizer(thinker.tokenizer, thinking).decode(reply)
    assert thinking.form.close in spelled, "its room is used up"
    text = ReplyText(thinker.tokenizer, thinker.stops, replace(thinking, within=True)).text(reply)
    assert not [mark for mark in thinking.form.marks if mark in text]


def test_a_line_that_is_typed_gets_the_reply_of_plain_decoding(loaded: LoadedModel) -> None:
    """The whole loop, verified or generated anew, at every letter."""
    line = "is it hot?"
    history = [(line[:count], None, False) for count in range(1, len(line))]
    speculator, prompt, steps = speculate(loaded, Greedy(), history, line)
    loaded.model.forget()
    plain = said(loaded, prompt, REPLY_LIMIT)
    assert steps[-1].ended
    differs_by_near_tie(loaded, Greedy(), prompt, plain, list(speculator.candidate))
