"""Words in a user's mouth, at no forward: the prior as it is written, the user's own words above it."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui.errors import PredtuiError
from predtui.lab.training.arpa import Backoff, estimate
from predtui.predgen.lookahead.userwords import UserWords
from predtui.predgen.lookahead.wordprior import BEGIN, END, WordPrior
from predtui.state.events import Message

WORDS = ["a", "ab", "abc", "b", "ba", "c's", "cab"]
Written = tuple[Backoff, WordPrior]


@pytest.fixture(scope="module")
def write(tmp_path_factory: pytest.TempPathFactory) -> Callable[[list[list[str]]], Written]:
    path = tmp_path_factory.mktemp("prior") / "words.arpa"

    def written(sentences: list[list[str]]) -> Written:
        model = estimate(sentences, dict.fromkeys([*WORDS, END], 1 / (len(WORDS) + 1)))
        path.write_text(model.arpa(), encoding="ascii")
        return model, WordPrior(path)

    return written


word = st.sampled_from(WORDS)
sentences = st.lists(st.lists(word, max_size=6), min_size=1, max_size=6)


@given(sentences, st.lists(word, max_size=3), st.sampled_from(["a", "ab", "b", "c", "cab", "z"]))
def test_the_prior_says_what_its_file_says(
    write: Callable[[list[list[str]]], Written], said: list[list[str]], before: list[str], begun: str
) -> None:
    model, prior = write(said)
    history = (BEGIN, *before)
    found = prior.following(history, begun)
    assert found.keys() == {word for word in WORDS if word.startswith(begun)}
    for name, share in found.items():
        assert math.isclose(math.log10(share), model.log10(name, history), abs_tol=5e-4)


@given(sentences, st.lists(word, max_size=3))
def test_with_nothing_begun_it_knows_what_was_seen_there(
    write: Callable[[list[list[str]]], Written], said: list[list[str]], before: list[str]
) -> None:
    model, prior = write(said)
    history = (BEGIN, *before)
    found = prior.following(history, "")
    assert found
    for name, share in found.items():
        assert math.isclose(math.log10(share), model.log10(name, history), abs_tol=5e-4)


@given(st.lists(sentences, max_size=3), st.lists(word, max_size=3), st.sampled_from(["", "a", "C"]), st.integers(1, 4))
def test_words_are_ranked_and_agree_with_what_is_begun(
    write: Callable[[list[list[str]]], Written],
    turns: list[list[list[str]]],
    before: list[str],
    begun: str,
    count: int,
) -> None:
    _, prior = write([["a", "b"]])
    history = [Message("user", " ".join(one)) for turn in turns for one in turn]
    user, again = UserWords(prior), UserWords(prior)
    for end in range(len(history) + 1):
        user.learn(history[:end])
    again.learn(history)
    found = user.words(" ".join(before), begun, count)
    assert found == again.words(" ".join(before), begun, count)
    assert len({name for name, _ in found}) == len(found) <= count
    assert all(name.startswith(begun) and name != END for name, _ in found)
    shares = [share for _, share in found]
    assert shares == sorted(shares, reverse=True)
    assert sum(shares) < 1.001


def test_the_words_of_the_user_come_before_those_of_others(write: Callable[[list[list[str]]], Written]) -> None:
    _, prior = write([["a", "b", "a", "ba"]])
    user = UserWords(prior)
    general = [name for name, _ in user.words("a", "b", 2)]
    user.learn([Message("user", "Is a Berlin near?"), Message("assistant", "a bonn is"), Message("user", "A Berlin.")])
    assert user.words("is A", "b", 1)[0][0] == "berlin"
    assert user.words("is a", "", 1)[0][0] == "Berlin"
    assert "bonn" not in [name for name, _ in user.words("a", "b", 9)]
    user.learn([])
    assert [name for name, _ in user.words("a", "b", 2)] == general


@pytest.mark.parametrize("content", [None, "", "\\1-grams:\n-1\ta\n", "\\data\\\n\\end\\\n"])
def test_a_file_of_another_form_is_refused(tmp_path: Path, content: str | None) -> None:
    path = tmp_path / "words.arpa"
    if content is not None:
        path.write_text(content, encoding="ascii")
    with pytest.raises(PredtuiError, match="trigram"):
        WordPrior(path)
