"""Which sentences are synthesised ahead: told when they change, the likeliest first, never one twice."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from predtui.predgen.sentences import MOST, Sentences
from predtui.state.events import SentenceAhead


def test_others_follow_the_likeliest() -> None:
    sentences = Sentences()
    told = [
        *sentences.proposed(SentenceAhead(text="a")),
        *sentences.proposed(SentenceAhead(others=("b",))),
        *sentences.proposed(SentenceAhead(others=("a",))),
        *sentences.proposed(SentenceAhead(text="a")),
        *sentences.proposed(SentenceAhead(others=("c",))),
    ]
    assert told == [
        SentenceAhead(text="a"),
        SentenceAhead(text="a", others=("b",)),
        SentenceAhead(text="a", others=("b", "c")),
    ]


def test_what_was_likely_before_more_was_heard_comes_last() -> None:
    sentences = Sentences()
    for sentence in ("a", "b"):
        list(sentences.proposed(SentenceAhead(text=sentence)))
    list(sentences.instead("c"))
    sentences.heard()
    assert list(sentences.likeliest("d")) == [SentenceAhead(text="d", others=("b", "c"))]
    assert list(sentences.instead("e")) == [SentenceAhead(text="d", others=("e", "b", "c"))]
    assert list(sentences.likeliest("c")) == [SentenceAhead(text="c", others=("e", "b"))]


@given(st.lists(st.tuples(st.sampled_from("fio"), st.sampled_from("abcdefgh")), max_size=40))
def test_no_sentence_stands_twice_and_few_do(steps: list[tuple[str, str]]) -> None:
    sentences, last = Sentences(), SentenceAhead()
    for kind, sentence in steps:
        if kind == "o":
            sentences.heard()
        for told in sentences.likeliest(sentence) if kind == "f" else sentences.instead(sentence):
            assert told != last
            assert len({told.text, *told.others}) == 1 + len(told.others) <= 1 + MOST
            last = told
