"""Text as pieces: however it is cut on its way, here it is cut in the same way; a conversation is read back whole."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predtui.llm.base import LoadedModel
from predtui.llm.remote.pieces import Marked, Pieces, cut
from predtui.llm.rows import Unanswered
from predtui.state.events import Message
from tests.llm.remote.chat import chatting
from tests.predgen.distant import Network

texts = st.text(st.sampled_from("ab Z3_.,?!\n'é法国。ก\u0301\x04-"), max_size=40) | st.text(max_size=20)
clean = texts.map(lambda text: text.translate(dict.fromkeys(range(1, 5), " ")))
ROLES = ("system", "user", "assistant")
messages = st.lists(st.builds(Message, st.sampled_from(ROLES), clean), max_size=5)


@given(texts, st.lists(st.integers(0, 40), max_size=8))
def test_however_a_text_arrives_its_pieces_are_the_same(text: str, cuts: list[int]) -> None:
    places = sorted({0, len(text), *(place for place in cuts if place < len(text))})
    chunks = [text[start:end] for start, end in pairwise(places)]
    assert [*cut(iter(chunks))] == [*cut(iter([text]))]


def test_the_end_of_a_sentence_is_not_held_back() -> None:
    asked: list[int] = []

    def arriving() -> Iterator[str]:
        for number, text in enumerate(("It is", " so", ".")):
            asked.append(number)
            yield text
        raise AssertionError("more was asked for")

    come = ""
    for piece in cut(arriving()):
        come += piece
        if piece == ".":
            break
    assert come == "It is so."


@given(clean)
def test_text_is_read_back_from_its_pieces(text: str) -> None:
    pieces = Pieces()
    assert pieces.decode(pieces.encode(text)) == text
    assert pieces.encode(text) == pieces.encode(text, special=True)


def test_marks_are_pieces_of_a_prompt_and_never_of_what_is_said() -> None:
    pieces = Pieces()
    assert pieces.decode(pieces.encode("a\x04b")) == "ab"
    assert pieces.is_end(pieces.encode("\x04", special=True)[0])
    assert [*cut(iter(["a\x04", "b"]))] == ["a", " b"]


@given(messages, clean)
def test_a_conversation_is_read_back_with_the_reply_that_is_begun(said: list[Message], begun: str) -> None:
    pieces = Pieces()
    tokens = [*pieces.encode(Marked().render(said), special=True), *pieces.encode(begun)]
    assert pieces.messages(tokens) == [*said, Message("assistant", begun)]


def reply(loaded: LoadedModel, begun: list[int], limit: int = 40) -> list[int]:
    prompt = loaded.prompt_tokens([Message("user", "what is the sun")])
    return list(loaded.model.generate([*prompt, *begun], limit))  # type: ignore[attr-defined]


@pytest.mark.parametrize("continues", [True, False])
@given(st.integers(0, 30), st.integers(1, 9), st.integers(1, 40))
@settings(max_examples=25, deadline=None)
def test_a_reply_that_is_begun_is_gone_on_with(continues: bool, begun: int, chunk: int, limit: int) -> None:
    loaded = chatting(5, continues, chunk, Network())
    whole = reply(loaded, [])
    known = whole[: min(begun, len(whole) - 1)]
    room = min(limit, len(whole) - len(known))
    assert reply(loaded, known, room) == whole[len(known) :][:room]


def test_a_reply_that_is_begun_in_other_words_ends_there() -> None:
    loaded = chatting(5, False, 3, Network())
    other = loaded.tokenizer.encode("quite another reply")
    (end,) = reply(loaded, other)
    assert loaded.tokenizer.is_end(end)


def test_what_is_given_up_is_counted_and_what_has_ended_is_not() -> None:
    network = Network()
    loaded = chatting(5, True, 3, network)
    counters = loaded.model.counters
    whole = reply(loaded, [])
    assert (counters.forwards, counters.cancelled, counters.generated) == (1, 0, len(whole))
    reply(loaded, [], limit=2)
    assert (counters.forwards, counters.cancelled) == (2, 0)
    arriving = loaded.model.generate(loaded.prompt_tokens([Message("user", "no")]), 40)  # type: ignore[attr-defined]
    next(arriving)
    arriving.close()
    assert (counters.forwards, counters.cancelled, network.open) == (3, 1, 0)


def test_nothing_is_told_but_text() -> None:
    loaded = chatting(5, True, 3, Network())
    assert (loaded.name, loaded.abilities.proof) == ("far", "text")
    with pytest.raises(Unanswered):
        loaded.model.forward([1])
