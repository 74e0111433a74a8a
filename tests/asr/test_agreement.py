"""LocalAgreement: stable words only grow, and only by what two rounds share."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from predtui.asr.agreement import LocalAgreement, Word, following, joined, shared

VOCABULARY = ["the", "capital", "of", "france", "Of", "france."]
hypotheses = st.lists(st.lists(st.sampled_from(VOCABULARY), max_size=7), max_size=12)


def timed(texts: list[str]) -> list[Word]:
    return [Word(text, index * 0.3, index * 0.3 + 0.3) for index, text in enumerate(texts)]


@given(hypotheses)
def test_stable_is_a_prefix_of_all_that_follows(rounds: list[list[str]]) -> None:
    words = LocalAgreement()
    before: list[Word] = []
    for texts in rounds:
        words.update(timed(texts))
        assert words.stable[: len(before)] == before
        before = list(words.stable)
    words.finish(timed(rounds[-1] if rounds else []))
    assert words.stable[: len(before)] == before
    assert words.tentative == []


@given(hypotheses)
def test_only_what_two_rounds_share_becomes_stable(rounds: list[list[str]]) -> None:
    words = LocalAgreement()
    for texts in rounds:
        tentative, stable = list(words.tentative), len(words.stable)
        words.update(timed(texts))
        new = words.stable[stable:]
        assert shared(tentative, new) == len(new)
        assert [word.text for word in new + words.tentative] == texts[len(texts) - len(new) - len(words.tentative) :]


@given(hypotheses, st.floats(0, 2))
def test_the_newest_word_waits_until_it_is_old(rounds: list[list[str]], until: float) -> None:
    words = LocalAgreement()
    for texts in rounds:
        known = len(words.stable)
        words.update(timed(texts), until=until)
        if words.stable[known:] and not words.tentative:
            assert words.stable[-1].end <= until


@given(st.lists(st.sampled_from(VOCABULARY), max_size=7))
def test_a_word_that_is_followed_waits_for_nothing(texts: list[str]) -> None:
    words = LocalAgreement()
    for _ in range(2):
        words.update(timed([*texts, "next"]), until=0.0)
    assert joined(words.stable) == " ".join(texts)
    assert joined(words.tentative) == "next"


@given(st.lists(st.sampled_from(VOCABULARY), max_size=6), st.lists(st.sampled_from(VOCABULARY), max_size=6))
def test_an_unchanged_beginning_is_left_off(stable: list[str], rest: list[str]) -> None:
    assert following(timed(stable), timed(stable + rest)) == timed(stable + rest)[len(stable) :]


def test_growing_speech() -> None:
    words = LocalAgreement()
    words.update(timed(["what", "is", "the", "cap"]))
    assert (joined(words.stable), joined(words.tentative)) == ("", "what is the cap")
    words.update(timed(["what", "is", "the", "capital", "off"]))
    assert (joined(words.stable), joined(words.tentative)) == ("what is the", "capital off")
    words.update(timed(["What", "is", "the", "capital", "of", "France"]))
    assert (joined(words.stable), joined(words.tentative)) == ("what is the capital", "of France")
    words.finish(timed(["what", "is", "the", "capital", "of", "france"]))
    assert joined(words.stable) == "what is the capital of france"


def test_a_changed_mind_about_stable_words_repeats_nothing() -> None:
    words = LocalAgreement()
    words.update(timed(["how", "many", "weeks"]))
    words.update(timed(["how", "many", "weeks", "are"]))
    assert joined(words.stable) == "how many weeks"
    words.finish(timed(["oh", "how", "many", "weeks", "are", "in", "june"]))
    assert joined(words.stable) == "how many weeks are in june"


def test_only_stable_words_after_the_cut_are_aligned() -> None:
    words = LocalAgreement(stable=timed(["one", "two"]))
    words.finish([Word("one", 0.7, 0.9), Word("two", 1.0, 1.2)], since=0.6)
    assert joined(words.stable) == "one two one two"


@given(st.floats(0, 600), st.floats(-1e-6, 1e-6))
def test_a_word_that_was_cut_off_does_not_swallow_the_next(begin: float, rounding: float) -> None:
    words = LocalAgreement(stable=[Word("two", begin, begin + 0.3)])
    words.finish([Word("minutes", begin + 0.3, begin + 0.8)], since=begin + 0.3 + rounding)
    assert joined(words.stable) == "two minutes"


@given(st.permutations("abcd"), st.sampled_from("xy"))
def test_a_word_heard_before_the_stable_ones_repeats_none(stable: list[str], invented: str) -> None:
    words = timed([invented, *stable, "z"])
    assert [word.text for word in following(timed(stable), words)] == ["z"]


@given(st.integers(0, 9), st.floats(-1, 4), st.floats(-1, 4))
def test_a_cut_is_a_word_s_end_that_leaves_enough_where_one_does(count: int, since: float, enough: float) -> None:
    words = LocalAgreement(stable=timed(["a"] * count))
    cut = words.cut(since, enough)
    ends = [word.end for word in words.stable if word.end > since]
    assert cut in ends if ends else cut == since
    assert cut <= enough or all(end > enough for end in ends)
