"""A draft that learns: never another reply, no work while somebody waits, and nothing is lost but the very latest."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predtui.decoding import learner as learner_of
from predtui.decoding import learnt
from predtui.decoding.accept import ExactMatch, verify
from predtui.decoding.assembly import DecodingOptions, assemble, make_decoder, make_drafter
from predtui.decoding.autoregressive import generate
from predtui.decoding.base import Sampler
from predtui.decoding.draft import Draft
from predtui.decoding.lead import MOST
from predtui.decoding.learner import Learner
from predtui.decoding.online import FIELDS, LIKELY, RANK, Adapter, Places, joined, places
from predtui.decoding.parts import Parts
from predtui.decoding.recall import Recall
from predtui.decoding.sampler import Greedy, Seeded
from predtui.errors import PredtuiError
from predtui.llm.base import LoadedModel, Preempted, never
from predtui.llm.load import load
from predtui.llm.rows import ArrayRows

VOCABULARY = load("1", engine="scripted").model.vocab_size
contexts = st.lists(st.integers(4, VOCABULARY - 1), min_size=1, max_size=20)
samplers = st.just(Greedy()) | st.builds(Seeded, temperature=st.floats(0.3, 2.0), seed=st.integers(0, 99))


def no_end(_token: int) -> bool:
    return False


def pair(sampler: Sampler | None = None, folder: Path | None = None, draft: str = "2") -> tuple[Parts, Learner]:
    """A draft that says other things than the target, "1", and what it learns with."""
    parts = Parts(load("1", engine="scripted"), sampler or Greedy(), load(draft, engine="scripted"), learnt=folder)
    parts = replace(parts, drafter=make_drafter("osd", parts))
    (found,) = parts.learners
    assert isinstance(found, Learner)
    return parts, found


def reply(parts: Parts, context: Sequence[int], limit: int) -> list[int]:
    return list(make_decoder("speculative", parts).generate(context, limit, no_end))


def taught(parts: Parts, learner: Learner, prompts: Sequence[Sequence[int]]) -> None:
    for prompt in prompts:
        reply(parts, prompt, 20)
        while learner.learn(never):
            pass


def some_places(many: int = 9, width: int = 5, seed: int = 0) -> Places:
    random = np.random.default_rng(seed)
    logits = random.standard_normal((many, 40)).astype(np.float32) * 2
    hidden = random.standard_normal((many, width)).astype(np.float32)
    tails = random.integers(40, size=(many, 3)).tolist()
    recalled = [(int(one), int(two)) for one, two in random.integers(-1, 40, size=(many, 2))]
    found = places(logits, hidden, tails, recalled, random.integers(40, size=many).tolist())
    return found.at(found.answers >= 0)


def stirred(width: int = 5) -> Adapter:
    """No weight is 0."""
    adapter, random = Adapter(width), np.random.default_rng(1)
    for weight in adapter.weights.values():
        weight += 0.3 * random.standard_normal(weight.shape).astype(np.float32)
    return adapter


def test_gradients_are_those_of_autograd() -> None:
    import torch

    seen, adapter = some_places(40), stirred()
    given = {name: torch.tensor(getattr(seen, name)) for name in FIELDS}
    weights = {name: torch.tensor(weight, requires_grad=True) for name, weight in adapter.weights.items()}
    hidden = given["hidden"] / (given["hidden"].square().mean(1, keepdim=True) + 1e-6).sqrt()
    z = torch.nn.functional.silu(hidden @ weights["state"] + weights["grams"][given["grams"]].sum(1))
    copy = z @ weights["copy"][:-1] + weights["copy"][-1]
    rows = weights["output"][given["tokens"] % len(weights["output"])]
    moved = (rows * z[:, None]).sum(2) + (given["copied"] * copy[:, None]).sum(2)
    logits = torch.cat([given["base"][:, :-1] + moved, given["base"][:, -1:]], 1)
    loss = torch.nn.functional.cross_entropy(logits, given["answers"])
    loss.backward()
    assert adapter.loss(seen) == pytest.approx(loss.item(), rel=1e-4)
    for name, gradient in adapter.gradients(seen).items():
        whole = np.zeros_like(adapter.weights[name])
        which = {"grams": seen.grams.ravel(), "output": seen.tokens.ravel() % len(whole)}.get(name)
        if which is None:
            whole = gradient
        else:
            np.add.at(whole, which, gradient)
        expected = weights[name].grad
        assert expected is not None
        np.testing.assert_allclose(whole, expected.numpy(), rtol=1e-3, atol=1e-6)


@given(st.integers(1, 40), st.integers(0, 99))
def test_places_tell_what_the_draft_says(vocabulary: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    logits = random.standard_normal((3, vocabulary)).astype(np.float32)
    recalled = [(int(one), int(two)) for one, two in random.integers(-1, vocabulary, size=(3, 2))]
    answers = random.integers(vocabulary, size=3).tolist()
    seen = places(logits, np.zeros((3, 0), np.float32), [(), (1,), (1, 2, 3)], recalled, answers)
    np.testing.assert_allclose(np.exp(seen.base).sum(axis=1), 1, atol=1e-4)
    chances = np.exp(logits - np.logaddexp.reduce(logits, axis=1, keepdims=True))
    for row in range(3):
        there = seen.base[row, :-1] > seen.base.min()
        tokens = seen.tokens[row, there].tolist()
        assert len({*tokens}) == len(tokens) >= min(vocabulary, LIKELY)
        np.testing.assert_allclose(np.exp(seen.base[row, :-1][there]), chances[row, tokens], atol=1e-5)
        for number, token in enumerate(recalled[row]):
            assert seen.tokens[row, seen.copied[row, :, number] > 0].tolist() == ([token] if token >= 0 else [])
        assert (seen.answers[row] >= 0) == (answers[row] in tokens)
        assert seen.answers[row] < 0 or seen.tokens[row, seen.answers[row]] == answers[row]


def test_steps_lower_the_loss() -> None:
    seen, adapter = some_places(60), Adapter(5)
    assert not adapter.moved(seen).any(), "nothing is learnt"
    before = adapter.loss(seen)
    for _ in range(60):
        adapter.step(seen)
    assert adapter.loss(seen) < 0.5 * before


@given(samplers, contexts, st.integers(0, 40), st.integers(0, 99), st.booleans())
@settings(max_examples=40, deadline=None)
def test_whatever_is_learnt_replies_stay_the_same(
    sampler: Sampler, context: list[int], limit: int, seed: int, learns: bool
) -> None:
    parts, learner = pair(sampler)
    random = np.random.default_rng(seed)
    for weight in learner.adapter.weights.values():
        weight += random.standard_normal(weight.shape).astype(np.float32)
    learner.studied = 1
    for _ in range(2):
        assert reply(parts, context, limit) == [*generate(parts.target.model, context, sampler, limit, no_end)]
        while learns and learner.learn(never):
            pass


@given(contexts, st.integers(1, 8))
@settings(max_examples=20, deadline=None)
def test_what_is_drafted_at_a_temperature_was_drawn_from_what_is_told(context: list[int], budget: int) -> None:
    """So that speculative sampling stays exact."""
    sampler = Seeded(1.0, seed=3)
    parts, learner = pair(sampler)
    for weight in learner.adapter.weights.values():
        weight += 10 * np.random.default_rng(2).standard_normal(weight.shape).astype(np.float32)
    learner.studied = 1
    draft = parts.needed_drafter().propose(context, budget)  # type: ignore[call-arg, arg-type]
    plain = make_drafter("model", parts).propose(context, budget)
    assert draft.source == "osd"
    assert draft.q is not None
    assert plain.q is not None
    assert not np.allclose(draft.q[0], plain.q[0])
    np.testing.assert_allclose(draft.q.sum(axis=1), 1)
    assert all(q[token] > 0 for q, token in zip(draft.q, draft.tokens, strict=True))


def test_what_was_said_before_is_foretold_better() -> None:
    parts, learner = pair()
    prompts = [[5, 6, 7 + number % 4] for number in range(12)]
    taught(parts, learner, prompts)
    assert learner.studied == len(prompts)
    seen = joined(list(learner._latest))
    assert learner.adapter.loss(seen) < 0.7 * Adapter(seen.hidden.shape[1]).loss(seen)
    assert not learner.lead.behind


@given(st.integers(0, 9999), st.floats(0, 0.5), contexts)
def test_of_draft_and_adapter_the_surer_speaks(seed: int, scale: float, context: list[int]) -> None:
    _, learner = pair()
    random, recall = np.random.default_rng(seed), Recall()
    for weight in learner.adapter.weights.values():
        weight += np.float32(scale) * random.standard_normal(weight.shape).astype(np.float32)
    learner.studied = 1
    recall.read(context)
    width = len(learner.adapter.weights["state"])
    logits, hidden = (random.standard_normal((1, size)).astype(np.float32) for size in (VOCABULARY, width))
    rows = ArrayRows(3 * logits, hidden)
    told = learner.adapted(recall, context, (), rows)
    assert told.logprob(told.argmax()) > rows[0].logprob(rows[0].argmax()) - 1e-3


def test_what_hardly_ever_came_into_question_stays_as_likely() -> None:
    """A thousand times a token was likely by a millionth, and did not come: that is no reason not to draft it."""
    logits = np.array([[9.0, 5.0, -5.0]], np.float32)
    seen = places(logits, np.ones((1, 4), np.float32), [(7,)], [(-1, -1)], [1])
    adapter, rare = Adapter(4), seen.tokens[0].tolist().index(2)
    for _ in range(1000):
        adapter.step(seen)
    moved = adapter.moved(seen)[0]
    assert moved[seen.answers[0]] - moved[seen.tokens[0].tolist().index(0)] > 4
    assert abs(moved[rare]) < 0.1


@given(st.integers(0, 99))
@settings(max_examples=20, deadline=None)
def test_what_is_good_for_nothing_is_soon_not_followed(seed: int) -> None:
    """Beside a draft that is always right, whatever weights the adapter has."""
    parts, learner = pair(draft="1")
    random, right = np.random.default_rng(seed), []
    for weight in learner.adapter.weights.values():
        weight += 3 * random.standard_normal(weight.shape).astype(np.float32)
    learner.studied, context = 1, [5, 6, 7]
    for _ in range(30):
        draft = parts.needed_drafter().propose(context, 4)  # type: ignore[call-arg, arg-type]
        found = verify(parts.target.model, context, draft, ExactMatch(Greedy()), 0, no_end)
        parts.needed_drafter().observe(found)
        right.append(found.path == tuple(range(len(draft.tokens))))
        context += found.tokens
    assert right.count(False) <= MOST + 1
    assert any(right)


@given(st.integers(0, 30))
@settings(max_examples=15, deadline=None)
def test_no_piece_begins_where_it_is_stale(pieces: int) -> None:
    parts, learner = pair()
    reply(parts, [5, 6, 7], 20)
    for _ in range(pieces):
        learner.learn(never)
    assert parts.draft is not None
    counters, pending = replace(parts.draft.model.counters), learner.pending
    before = {name: weight.copy() for name, weight in learner.adapter.weights.items()}
    assert learner.learn(lambda: True) == pending
    assert parts.draft.model.counters == counters
    assert all((before[name] == weight).all() for name, weight in learner.adapter.weights.items())


def test_a_piece_reads_few_tokens_and_what_is_preempted_is_left() -> None:
    parts, learner = pair()
    context = list(range(5, 45))
    for _ in range(12):
        found = verify(parts.target.model, context, Draft(()), ExactMatch(Greedy()), 0, no_end)
        learner.heard(found)
        context += found.tokens
    assert parts.draft is not None
    model = parts.draft.model
    while learner.pending:
        before = model.counters.tokens
        learner.learn(never)
        assert model.counters.tokens - before <= learner_of.PIECE
    assert model.counters.tokens == len(context) - 1
    reply(parts, [5, 6, 7], 20)

    def preempted(*_: object) -> None:
        raise Preempted

    model.forward = preempted  # type: ignore[assignment, method-assign]
    assert not learner.learn(never)
    assert not learner.pending


@given(st.lists(st.integers(1, 50), min_size=1, max_size=learner_of.REPLIES))
@settings(max_examples=15, deadline=None)
def test_a_piece_reads_few_tokens_though_other_replies_were_studied_since(lengths: list[int]) -> None:
    """The draft then remembers the reply before, not what it drafted last."""
    parts, learner = pair()
    for number, length in enumerate(lengths):
        reply(parts, [5 + number, *range(6, 6 + length)], 12)
    assert parts.draft is not None
    while learner.pending:
        before = parts.draft.model.counters.tokens
        learner.learn(never)
        assert parts.draft.model.counters.tokens - before <= learner_of.PIECE


def test_others_choices_teach_nothing_where_they_are_not_the_targets_own() -> None:
    parts, learner = pair()
    found = verify(parts.target.model, [5, 6], Draft(()), ExactMatch(Greedy()), 0, no_end)
    learner.heard(replace(found, lossless=False))
    assert not learner.pending
    learner.heard(found)
    assert learner.pending


def test_what_is_kept_drafts_the_same_again(tmp_path: Path) -> None:
    parts, learner = pair(folder=tmp_path)
    taught(parts, learner, [[5, 6, 7 + number % 4] for number in range(6)])
    learner.close()
    (file,) = tmp_path.iterdir()
    assert os.name == "nt" or stat.S_IMODE(file.stat().st_mode) == 0o600
    assert file.stat().st_size < 4 << 20
    again, known = pair(folder=tmp_path)
    assert known.studied == 6
    assert not known.notes
    for context in ([5, 6, 7], [9, 9], [5, 6, 8, 4, 4]):
        first, second = (one.needed_drafter().propose(context, 8) for one in (parts, again))  # type: ignore[call-arg, arg-type]
        assert first.tokens == second.tokens
        assert first.chances == second.chances
    taught(parts, learner, [[4, 4]])  # and a crash
    assert pair(folder=tmp_path)[1].studied == 6


def test_it_is_kept_now_and_then(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learner_of, "KEEP_EVERY", 2)
    parts, learner = pair(folder=tmp_path)
    taught(parts, learner, [[5, 6]])
    assert not list(tmp_path.iterdir())
    taught(parts, learner, [[5, 7]])
    assert pair(folder=tmp_path)[1].studied == 2


@pytest.mark.parametrize("damage", ["cut", "foreign", "shapes", "nan", "text"])
def test_a_file_that_cannot_be_used_is_set_aside(tmp_path: Path, damage: str) -> None:
    _, learner = pair(folder=tmp_path)
    file = learner._file
    assert file is not None
    adapter = Adapter(7) if damage == "shapes" else learner.adapter
    if damage == "nan":
        adapter.weights["copy"][0, 0] = np.nan
    replace(file, pair="another" if damage == "foreign" else file.pair).save(adapter, 3)
    if damage == "foreign":
        os.replace(tmp_path / "another.safetensors", file.path)
    elif damage == "cut":
        file.path.write_bytes(file.path.read_bytes()[:100])
    elif damage == "text":
        file.path.write_text("hello", encoding="utf-8")
    parts, known = pair(folder=tmp_path)
    assert known.studied == 0
    assert not known.adapter.weights["copy"].any()
    assert str(file.path) in known.notes[0]
    assert "set aside" in known.notes[0]
    assert not file.path.exists()
    assert len(list(tmp_path.iterdir())) == 1
    taught(parts, known, [[5, 6]])
    known.close()
    assert pair(folder=tmp_path)[1].studied == 1
    assert learnt.discard(tmp_path) == 2
    assert not list(tmp_path.iterdir())


def test_what_a_killed_process_was_writing_is_forgotten_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def killed(*_: object) -> None:
        raise OSError("killed")

    with monkeypatch.context() as patch:
        for name in ("replace", "unlink"):
            patch.setattr(learnt.os, name, killed)
        with pytest.raises(OSError, match="killed"):
            learnt.File(tmp_path, "it").save(Adapter(3), 1)
    assert [*tmp_path.iterdir()]
    assert learnt.discard(tmp_path) == 1
    assert not [*tmp_path.iterdir()]


def test_a_full_disk_loses_nothing_and_is_told_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parts, learner = pair(folder=tmp_path)
    taught(parts, learner, [[5, 6]])
    learner.close()
    (file,) = tmp_path.iterdir()
    kept = file.read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    for prompt in ([5, 7], [5, 8]):
        taught(parts, learner, [prompt])
        learner.close()
    assert len(learner.notes) == 1
    assert "No space left on device" in learner.notes[0]
    assert [*tmp_path.iterdir()] == [file]
    assert file.read_bytes() == kept
    monkeypatch.undo()
    learner.close()
    assert pair(folder=tmp_path)[1].studied == 3


@pytest.mark.parametrize("learns", [True, False])
def test_the_setting_decides(learns: bool, tmp_path: Path) -> None:
    folder = tmp_path / "learnt"
    options = DecodingOptions("speculative", "osd", learnt=str(folder) if learns else "")

    def loader(*_: object) -> LoadedModel:
        return load("2", engine="scripted")

    assembly = assemble(options, load("1", engine="scripted"), Greedy(), loader=loader)
    assert [*assembly.decoder.generate([5, 6], 9, no_end)]
    assert assembly.learn(never) == learns
    while assembly.learn(never):
        pass
    assembly.close()
    assert folder.exists() == learns
    assert not assembly.notes()


def test_another_vocabulary_is_refused() -> None:
    target, draft = load("1", engine="scripted"), load("pocket-draft", threads=1)
    parts = Parts(target, Greedy(), draft)
    with pytest.raises(PredtuiError, match="vocabularies differ"):
        make_drafter("osd", parts)
    assert learnt.pair(target, draft) != learnt.pair(target, target)
    draft.model.close()


def test_an_adapter_is_small() -> None:
    assert Adapter(1024).nbytes < 4 << 20
    assert RANK <= 32


def test_at_the_end_the_last_reply_is_learnt_too(tmp_path: Path) -> None:
    parts, learner = pair(folder=tmp_path)
    reply(parts, [5, 6, 7], 20)
    learner.close()
    assert pair(folder=tmp_path)[1].studied == learner.studied == 1
