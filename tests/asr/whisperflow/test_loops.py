"""Phrases written twice and said once: only those go that nobody had the time to say."""

from hypothesis import given
from hypothesis import strategies as st

from predtui.asr.agreement import Word
from predtui.asr.whisperflow.loops import without_loops
from predtui.asr.whisperflow.transcription import TimedWord


def spoken(text: str, ends: list[float]) -> tuple[TimedWord, ...]:
    return tuple(
        TimedWord(Word(word, end - 0.02, end), (place,))
        for place, (word, end) in enumerate(zip(text.split(), ends, strict=True))
    )


def text(words: tuple[TimedWord, ...]) -> str:
    return " ".join(one.word.text for one in words)


def test_a_phrase_without_time_is_dropped_wherever_it_stands() -> None:
    behind = spoken("is four times three four times three", [16.6, 16.8, 17.8, 18.1, 18.5, 18.52, 18.54])
    assert without_loops(behind) == behind[:4]
    before = spoken("is four times three four times three", [16.6, 16.7, 16.72, 16.74, 17.8, 18.0, 18.3])
    assert without_loops(before) == (before[0], *before[4:])
    often = spoken("a b a b a b now", [1.0, 1.3, 1.8, 1.82, 1.84, 1.86, 2.5])
    assert without_loops(often) == (*often[:2], often[-1])


def test_what_is_said_twice_stays() -> None:
    twice = spoken("four times three four times three", [1.0, 1.4, 1.8, 2.2, 2.6, 3.0])
    assert without_loops(twice) == twice
    single = spoken("no no no", [1.0, 1.02, 1.04])
    assert text(without_loops(single)) == "no no no"


@given(st.lists(st.tuples(st.sampled_from("abc"), st.floats(0.02, 0.4)), max_size=14))
def test_only_repeated_phrases_go(said: list[tuple[str, float]]) -> None:
    ends = [sum(gap for _, gap in said[: place + 1]) for place in range(len(said))]
    words = spoken(" ".join(word for word, _ in said), ends)
    left = without_loops(words)
    assert set(left) <= set(words)
    assert {one.word.text for one in left} == {one.word.text for one in words}
    assert without_loops(left) == left
    slow = spoken(" ".join(word for word, _ in said), [0.3 * place for place in range(len(said))])
    assert without_loops(slow) == slow
