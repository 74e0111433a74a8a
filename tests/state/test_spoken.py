"""The word of a reply that is being said, and what was heard of it by then."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from predtui.state import events as ev
from predtui.state.reducer import reduce
from predtui.state.spoken import said_by, said_within, with_marks
from predtui.state.turn import Turn

SENTENCES = ("The sun is a star.", " It is made of hydrogen.")
MARKS = tuple(ev.WordMark(at, 0.3 * number) for number, at in enumerate([1, 4, 7, 12, 15], 1))
"""Of the second: one after the other, the first after 0.3 s."""


def spoken(within: float, silenced: bool = False) -> Turn:
    """The second sentence is being said."""
    stamp = {"turn": 1, "revision": 2}
    events: list[ev.Event] = [
        ev.TurnStarted(turn=1, time=1.0),
        ev.Transcript(**stamp, time=2.0, stable="what is the sun", unfinished=False, final=True),
        *(ev.ReplyCommitted(**stamp, time=2.1, index=index, text=text) for index, text in enumerate(SENTENCES)),
        ev.SpeechChunk(**stamp, time=2.1, index=0, pcm=b"\0\0"),
        ev.SpeechChunk(**stamp, time=2.1, index=1, pcm=b"\0\0", words=MARKS[:3]),
        ev.SpeechChunk(**stamp, time=2.1, index=1, pcm=b"\0\0", words=MARKS[2:]),
        ev.Playback(**stamp, time=2.2, state="started"),
        ev.Playback(**stamp, time=5.0, state="playing", index=1, seconds=2.0 + within, within=within, of=2.0),
        *([ev.Interrupt(turn=1, revision=3, time=5.0)] if silenced else []),
    ]
    turn = Turn()
    for event in events:
        turn = reduce(turn, event)
    return turn


def test_the_word_that_is_being_said() -> None:
    turn = spoken(0.95)
    begin, end = turn.saying
    assert turn.reply_text[begin:end] == "made"
    assert spoken(0.1).saying == (0, 0), "before the first mark nothing is"


def test_a_sentence_without_marks_shows_none() -> None:
    turn = reduce(spoken(0.5), ev.Playback(turn=1, revision=2, time=5.1, state="playing", index=0, within=0.5))
    assert turn.saying == (0, 0)


def test_a_reply_that_is_silenced_is_remembered_to_the_word_that_was_being_said() -> None:
    assert spoken(0.1, True).heard == "The sun is a star."
    assert spoken(0.3, True).heard == "The sun is a star. It"
    assert spoken(1.3, True).heard == "The sun is a star. It is made of"
    assert spoken(1.9, True).heard == "The sun is a star. It is made of hydrogen."


@given(st.floats(0, 2), st.floats(0, 2))
def test_what_was_heard_is_a_beginning_that_grows(one: float, other: float) -> None:
    less, more = (spoken(within, True).heard or "" for within in sorted((one, other)))
    assert more.startswith(less)
    assert "The sun is a star. It is made of hydrogen.".startswith(less)


@given(st.text("ab .巴", min_size=1), st.lists(st.tuples(st.integers(0, 20), st.floats(0, 3))), st.floats(0, 3))
def test_a_word_lies_in_its_sentence(sentence: str, marks: list[tuple[int, float]], seconds: float) -> None:
    begin, end = said_by(sentence, [ev.WordMark(min(at, len(sentence) - 1), s) for at, s in marks], seconds)
    assert 0 <= begin <= end <= len(sentence)


def test_a_sentence_that_the_reply_does_not_have_has_no_place() -> None:
    assert said_within("Another reply.", SENTENCES, 1, (1, 3)) == (0, 0)


def test_marks_that_are_told_again_count_once() -> None:
    assert with_marks(MARKS[:3], MARKS) == MARKS
    assert with_marks((), MARKS) == MARKS
