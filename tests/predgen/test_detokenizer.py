"""Decoding as tokens come is decoding them at once, whatever the tokenizer and wherever a character is cut."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui.llm.base import Tokenizer
from predtui.llm.load import load
from predtui.models.shipped import asset
from predtui.predgen.detokenizer import Detokenizer


class Counting:
    """A tokenizer that counts the tokens that it decodes."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self.encode, self.is_end = tokenizer.encode, tokenizer.is_end
        self.decoded = 0

    def decode(self, tokens: Sequence[int]) -> str:
        self.decoded += len(tokens)
        return self._tokenizer.decode(tokens)


@pytest.fixture(scope="module", params=["llamacpp", "scripted"])
def tokenizer(request: pytest.FixtureRequest) -> Iterator[Tokenizer]:
    pocket = request.param == "llamacpp"
    if pocket and not asset("pocket", "target", "model.gguf").is_file():
        pytest.skip("the pocket model is not there")
    loaded = load("pocket" if pocket else "1", engine=request.param)
    yield loaded.tokenizer
    loaded.model.close()


text = st.text(alphabet="ab é€😀 .\u0301字", max_size=30)


@given(st.data())
def test_what_has_come_by_now_reads_as_if_it_had_come_at_once(tokenizer: Tokenizer, data: st.DataObject) -> None:
    """Also where bytes are no text at all, and where the reply is another one from some token on."""
    anything = st.lists(st.integers(0, 60 if len(tokenizer.encode("é")) < 2 else 3071), max_size=40)
    whole = text.map(tokenizer.encode)
    first, second = (data.draw(st.one_of(whole, anything)) for _ in range(2))
    shared = data.draw(st.integers(0, len(first)))
    detokenizer = Detokenizer(tokenizer)
    for tokens in (first, [*first[:shared], *second]):
        count = 0
        while count < len(tokens):
            count = min(len(tokens), count + data.draw(st.integers(1, 9)))
            assert detokenizer.text(tokens[:count]) == tokenizer.decode(tokens[:count])


@pytest.mark.parametrize("said", ["a word and a number, 12.5, follow each other. " * 12, "naïve café, 5 € 😀 " * 12])
def test_each_token_costs_no_more_than_the_last_few(tokenizer: Tokenizer, said: str) -> None:
    counting = Counting(tokenizer)
    detokenizer, tokens = Detokenizer(counting), tokenizer.encode(said)
    for count in range(1, len(tokens) + 1):
        before = counting.decoded
        detokenizer.text(tokens[:count])
        assert counting.decoded - before <= 30
