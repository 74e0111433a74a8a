"""Section 4.2.2 over tokens alone: alignment, selective matching, fallback."""

from hypothesis import assume, given
from hypothesis import strategies as st

from predtui.asr.whisperflow.pruning import ReferencePruner

MARK = 0
words = st.lists(st.integers(1, 9), min_size=1, max_size=12)


def shared(one: list[int], other: list[int]) -> int:
    """How many tokens both begin with."""
    length = min(len(one), len(other))
    return next((place for place in range(length) if one[place] != other[place]), length)


def written(pruner: ReferencePruner, truth: list[int], most: int) -> list[int]:
    """How far one hypothesis comes whose likeliest tokens are ``truth``."""
    known: list[int] = []
    while len(known) < len(truth):
        draft = pruner.draft(truth[len(known)], min(most, len(truth) - len(known)))
        if not draft:
            break
        right = shared(draft, truth[len(known) :])
        assert right > 0, "a draft begins with the likeliest token"
        pruner.accept(draft[:right])
        known += draft[:right]
    return known


@given(words, st.integers(1, 12))
def test_a_reference_that_is_right_is_written_by_one_hypothesis(reference: list[int], most: int) -> None:
    assert written(ReferencePruner(reference), reference, most) == reference


@given(words, words, st.integers(1, 12))
def test_the_first_other_token_falls_back(reference: list[int], other: list[int], most: int) -> None:
    truth = [*reference, *other]
    assume(reference[0] not in reference[1:])
    assert written(ReferencePruner(reference), truth, most) == reference


@given(words, st.integers(0, 11))
def test_it_is_aligned_at_the_first_place_of_the_first_token(reference: list[int], cut: int) -> None:
    assume(cut < len(reference))
    truth = reference[cut:]
    first = reference.index(truth[0])
    assert written(ReferencePruner(reference), truth, 99) == truth[: shared(reference[first:], truth)]
    assert not ReferencePruner(reference).draft(10, 99), "a token that the reference has nowhere"


@given(words, st.data())
def test_marks_are_not_matched_wherever_they_stand(plain: list[int], data: st.DataObject) -> None:
    def marked() -> list[int]:
        places = data.draw(st.sets(st.integers(0, len(plain))))
        return [token for place, word in enumerate(plain) for token in ([MARK, word] if place in places else [word])]

    assume(plain[0] not in plain[1:])
    reference, truth = marked(), marked()
    for most in (1, 99):
        assert written(ReferencePruner(reference, {MARK}), truth, most) == truth


def test_an_opening_of_marks_alone_aligns_nothing() -> None:
    pruner = ReferencePruner([MARK, 1, 2, 3], {MARK})
    pruner.accept(pruner.opening(9)[:1])
    assert pruner.draft(2, 9) == [2, 3]
    opened = ReferencePruner([1, 2, 3])
    opened.accept(opened.opening(9)[:1])
    assert not opened.draft(3, 9), "aligned by what was confirmed"
