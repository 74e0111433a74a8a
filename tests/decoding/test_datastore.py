"""Retrieval: what a brute-force search finds, the datastore finds; damaged or foreign ones are refused."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from predtui.decoding import datastore
from predtui.decoding.drafters.rest import LEAST, MATCHES, SHORTEST, UNLIKELY, Foresight, Retrieval
from predtui.errors import PredtuiError
from predtui.llm.load import load

documents = st.lists(st.lists(st.integers(0, 3), max_size=24), min_size=1, max_size=5).filter(any)
contexts = st.lists(st.integers(0, 4), max_size=24)


def brute_force(texts: list[list[int]], context: list[int], least: int = 1) -> tuple[int, list[list[int]]]:
    """The longest match that occurs so often, and what follows each of its occurrences."""
    for length in range(min(datastore.DEPTH, len(context)), 0, -1):
        wanted = context[-length:]
        found = [
            text[end:] for text in texts for end in range(length, len(text) + 1) if text[end - length : end] == wanted
        ]
        if len(found) >= least:
            return length, sorted(found)
    return 0, []


@given(documents, contexts, st.integers(1, 3))
@settings(deadline=None)
def test_finds_what_a_search_of_the_whole_corpus_finds(texts: list[list[int]], context: list[int], least: int) -> None:
    store = datastore.build(texts, "toy")
    length, places = store.longest_match(context, least)
    rows = store.following(places, 30).tolist()
    following = sorted([token for token in row if token != datastore.GAP] for row in rows)
    assert (length, following) == brute_force(texts, context, least)


@given(documents, contexts, st.integers(1, 9))
@settings(deadline=None)
def test_drafts_are_trees_of_the_likeliest_continuations(texts: list[list[int]], context: list[int], n: int) -> None:
    draft = Retrieval(datastore.build(texts, "toy")).propose(context, n)
    length, following = brute_force(texts, context, LEAST)
    if length < SHORTEST:
        assert draft.tokens == ()
        return
    assume(len(following) <= MATCHES)  # of more, it looks at some
    parents = draft.parents or tuple(range(-1, len(draft.tokens) - 1))
    paths: list[list[int]] = []
    for token, parent in zip(draft.tokens, parents, strict=True):
        paths.append([*(paths[parent] if parent >= 0 else []), token])
    every = {tuple(rest[:end]) for rest in following for end in range(1, min(n, len(rest)) + 1)}
    assert len({tuple(path) for path in paths}) == len(paths)
    assert {tuple(path) for path in paths} <= every
    assert draft.chances == pytest.approx([chance(following, path) for path in paths])
    likeliest = sorted((chance(following, [*path]) for path in every), reverse=True)[:n]
    assert draft.chances == pytest.approx([likely for likely in likeliest if likely > UNLIKELY])


def chance(following: list[list[int]], path: list[int]) -> float:
    """Share of those who go on alike, at each step, with half an occurrence that goes on otherwise."""
    times = [sum(rest[:end] == path[:end] for rest in following) for end in range(len(path) + 1)]
    return float(np.prod([times[end] / (times[end - 1] + 0.5) for end in range(1, len(path) + 1)]))


@given(documents, st.lists(st.integers(0, 3), max_size=9), st.lists(st.integers(0, 3), max_size=6))
@settings(deadline=None)
def test_what_lies_ahead_is_what_most_occurrences_go_on_with(
    texts: list[list[int]], context: list[int], taken: list[int]
) -> None:
    corpus = Foresight(datastore.build(texts, "toy"), context)
    for token in taken:
        assert_commonest(corpus, texts, context)
        corpus.take(token)
        context = [*context, token]
    assert_commonest(corpus, texts, context)
    run = corpus.ahead(12, 0.3)
    assert np.prod([chance for _, chance in run]) > 0.3
    known = [*context, *(token for token, _ in run)]
    for end in range(len(context) + 1, len(known) + 1):
        part = known[end - SHORTEST - 1 : end]
        assert any(part == text[i : i + len(part)] for text in texts for i in range(len(text)))


def assert_commonest(corpus: Foresight, texts: list[list[int]], context: list[int]) -> None:
    length, following = brute_force(texts, context, LEAST)
    assume(len(following) <= MATCHES)
    run = corpus.ahead(1, -1.0)
    assert bool(run) == (length >= SHORTEST)
    for token, chance in run:
        firsts = Counter(rest[0] if rest else datastore.GAP for rest in following)
        assert firsts[token] == max(firsts.values())
        more = max(0, 2 * firsts[token] - len(following)) if token != datastore.GAP else 0
        assert more / (len(following) + 0.5) <= chance + 1e-9
        assert chance <= more / (len(following) + 0.05) + 1e-9


def test_a_datastore_is_read_back_as_it_was(tmp_path: Path) -> None:
    target = load("3", "scripted")
    store = datastore.build([[1, 2, 3], [4, 5]], datastore.fingerprint(target))
    datastore.write(store, tmp_path)
    read = datastore.load(tmp_path, target)
    assert isinstance(read.tokens, np.memmap)
    assert read.tokens.tolist() == store.tokens.tolist()
    assert read.places.tolist() == store.places.tolist()


def no_folder(folder: Path) -> None:
    (folder / "datastore.json").unlink()


def cut_short(folder: Path) -> None:
    (folder / "tokens.npy").write_bytes((folder / "tokens.npy").read_bytes()[:-4])


def pickled(folder: Path) -> None:
    np.save(folder / "places.npy", np.array([{}], object), allow_pickle=True)


def unequal(folder: Path) -> None:
    np.save(folder / "places.npy", np.zeros(2, np.int32))


def foreign(folder: Path) -> None:
    about = json.loads((folder / "datastore.json").read_text())
    (folder / "datastore.json").write_text(json.dumps(about | {"vocabulary": "other"}))


def unknown_token(folder: Path) -> None:
    np.save(folder / "tokens.npy", np.array([1, 2, 1 << 30, -1], np.int32))


def negative_token(folder: Path) -> None:
    np.save(folder / "tokens.npy", np.array([1, 2, -7, -1], np.int32))


def place_beyond(folder: Path) -> None:
    np.save(folder / "places.npy", np.array([1, 2, 3, 5], np.int32))


def no_place(folder: Path) -> None:
    np.save(folder / "places.npy", np.array([1, 0, 3, 4], np.int32))


def out_of_order(folder: Path) -> None:
    np.save(folder / "places.npy", np.load(folder / "places.npy")[::-1])


def bad_header(folder: Path) -> None:
    data = (folder / "places.npy").read_bytes()
    (folder / "places.npy").write_bytes(data.replace(b"{", b"(", 1))


def nested(folder: Path) -> None:
    (folder / "datastore.json").write_text("[" * 100_000)


HARMS = [
    no_folder, cut_short, pickled, unequal, foreign, unknown_token, negative_token, place_beyond, no_place,
    out_of_order, bad_header, nested,
]  # fmt: skip


@pytest.mark.filterwarnings("ignore")  # numpy's, of a header that is no Python
@pytest.mark.parametrize("seed", range(40))
def test_a_mutated_datastore_is_refused_or_can_be_asked_anything(seed: int, tmp_path: Path) -> None:
    target, chance = load("3", "scripted"), random.Random(seed)
    datastore.write(datastore.build([[1, 2, 3, 1, 2], [4, 5]], datastore.fingerprint(target)), tmp_path)
    for _ in range(10):
        path = tmp_path / chance.choice(["tokens.npy", "places.npy", "places.npy", "datastore.json"])
        whole = path.read_bytes()
        data = bytearray(whole)
        for _ in range(chance.randint(1, 3)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        path.write_bytes(data)
        with suppress(PredtuiError):
            store = datastore.load(tmp_path, target)
            Retrieval(store).propose([1, 2, 3], 4)
            store.following(store.longest_match([1, 2])[1], 30)
        path.write_bytes(whole)


@pytest.mark.parametrize("harm", HARMS)
def test_what_cannot_be_used_is_refused_with_the_command_that_makes_another(
    harm: Callable[[Path], None], tmp_path: Path
) -> None:
    target = load("3", "scripted")
    datastore.write(datastore.build([[1, 2, 3]], datastore.fingerprint(target)), tmp_path)
    harm(tmp_path)
    with pytest.raises(PredtuiError, match="predtui train rest"):
        datastore.load(tmp_path, target)


def test_the_command_that_makes_one_can_be_typed_as_it_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PREDTUI_STATE_DIR", str(tmp_path))
    scripted = load("3", "scripted")
    pocket, other = replace(scripted, name="pocket"), replace(scripted, name="tiny.Q4_1")
    for target, folder, said in (
        (pocket, datastore.default_folder(), "--model pocket"),
        (pocket, tmp_path / "mine", f"--model pocket --out {tmp_path / 'mine'}"),
        (other, datastore.default_folder(), "--model MODEL"),  # whose name is no path
    ):
        with pytest.raises(PredtuiError) as refused:
            datastore.load(folder, target)
        assert refused.value.remedy == f"Make one with: predtui train rest {said}"


def test_an_empty_corpus_is_refused() -> None:
    with pytest.raises(PredtuiError, match="empty"):
        datastore.build([[], []], "toy")
