"""The candidate: how drafts do, and how much was answered ahead."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.content import Content

from predtui.state import events as ev
from predtui.state.reducer import reduce
from predtui.state.turn import Turn
from predtui.tui.widgets.candidate import CandidatePane, Guess
from predtui.words import begins_word
from tests.tui.scenes import fold, speculating


def test_the_candidate_pane_tells_how_drafts_fare_where_there_are_any() -> None:
    draft = ev.Decoding(turn=2, decoder="speculative + model", proposed=4, accepted=3, acceptance_rate=0.81)
    turn = fold([*speculating(), replace(draft, tokens_per_forward=3.4)])
    off = fold([*speculating(), replace(draft, note="drafting is off")])
    lines = [[line.plain for line in drawn(state)] for state in (fold(speculating()), turn, off)]
    assert not any("drafted" in line for line in lines[0])
    assert any("3/4 drafted, 81% · 3.4/forward" in line for line in lines[1])
    assert any("drafting is off" in line for line in lines[2])
    assert all(len(found) == 6 and "kept" in found[-1] for found in lines)


def drawn(turn: Turn) -> list[Content]:
    pane = CandidatePane(turn)
    return pane.draw(pane.read(turn), 70, 6)


def test_the_candidate_tells_how_many_ends_of_the_sentence_were_answered_ahead() -> None:
    continuation = ev.Continuation(turn=2, prompt="what is the sun", sentence="It is a star.")
    headings = []
    for state in (fold(speculating()), fold([*speculating(), continuation, continuation])):
        pane = CandidatePane(state)
        headings.append(pane.heading(pane.read(state)))
    assert headings[1] == (*headings[0], " · 2 ahead")
    assert reduce(fold([*speculating(), continuation]), ev.TurnStarted(turn=3)).continuations == ()


HM = "Okay, the user asks for a capital. France is meant, and its capital is Paris, which lies on the Seine."
THINKING = ev.Candidate(turn=2, revision=6, tokens=31, thought=ev.Thought(HM, 31, 1240.0))
THOUGHT = replace(THINKING, new="It is Paris.", tokens=36)


@pytest.mark.parametrize("width", [12, 30, 70])
@pytest.mark.parametrize("height", [2, 4, 6, 9])
def test_a_thought_has_a_line_of_its_own_with_its_tokens_and_seconds(width: int, height: int) -> None:
    for candidate, name in ((THINKING, "thinking"), (THOUGHT, "thought")):
        pane = CandidatePane(fold([*speculating(), candidate]))
        lines = pane.draw(pane.read(fold([*speculating(), candidate])), width, height)
        assert len(lines) <= height
        assert lines[0].plain.startswith(name)
        told = " ".join(line.plain for line in (lines if name == "thinking" else lines[:1]))
        if width == 70:
            assert "31 tokens · 1.2 s" in lines[0].plain
            assert "the Seine." in told, "its last words"
            assert all(line.cell_length <= width for line in lines)
        if width == 70 and height >= 6:
            assert f"{candidate.tokens - 31} tokens" in lines[-1].plain, "the guess's own"


def test_a_reply_without_a_thought_has_no_line_for_one() -> None:
    assert not any("thought" in line.plain for line in drawn(fold(speculating())))


WAYS = [
    ev.Continuation(turn=2, prompt=f"what is the capital {way}", sentence="It lies on a river that is long and wide.")
    for way in ("of france", "of spain and of the largest country there is", "off")
]
MADE = ev.SpeechReady(turn=2, text=WAYS[0].sentence, chunks=5)


def foreseen(ms: float) -> list[ev.Event]:
    stamp = {"turn": 2, "revision": 7}
    prompt = "what is the capital of"
    return [
        ev.Continuation(turn=2, revision=6, prompt=prompt, sentence="It is.", forwards=9, ms=ms),
        ev.Transcript(**stamp, stable=prompt, unfinished=False),
        ev.Verdict(**stamp, outcome="accept", accepted=4, of=4, forwards=0, ms=0.5),
    ]


@pytest.mark.parametrize("width", [24, 44, 70])
@pytest.mark.parametrize("height", range(1, 12))
@pytest.mark.parametrize("more", [WAYS, [*WAYS, MADE], [*WAYS, *foreseen(90.0)]], ids=["ways", "made", "came"])
def test_what_may_come_takes_no_line_from_the_guess(width: int, height: int, more: list[ev.Event]) -> None:
    without, turn = fold(speculating()), fold([*speculating(), *more])
    pane = CandidatePane(turn)
    plain = [line.plain for line in pane.draw(pane.read(without), width, height)]
    lines = [line.plain for line in pane.draw(pane.read(turn), width, height)]
    assert len(lines) <= height
    assert all(len(line) <= width for line in lines if line not in plain)
    kept = [line for line in plain if line.strip()]
    assert [line for line in lines if line in kept] == kept
    if height == 11:
        assert sum(" → " in line for line in lines) == 3


def test_what_came_true_is_told_with_what_it_saved_and_which_it_was() -> None:
    turn = fold([*speculating(), *foreseen(90.0)])
    pane = CandidatePane(turn)
    assert pane.heading(pane.read(turn))[1:] == (("saved 90 ms", "$success"),)
    told = [line.plain for line in drawn(turn)]
    assert "✓ came true: what is the capital of" in told
    pane.set_reactive(CandidatePane.figured, True)
    assert "✓ came true: what is the capital of · saved 9 NFE" in [
        line.plain for line in pane.draw(pane.values, 60, 11)
    ]


@pytest.mark.parametrize(("width", "state"), [(70, "♪ 5 chunks ready"), (30, "♪ 5")])
def test_each_way_says_how_far_its_reply_is(width: int, state: str) -> None:
    turn = fold([*speculating(), *WAYS[:1], MADE])
    pane = CandidatePane(turn)
    [way] = [line.plain for line in pane.draw(pane.read(turn), width, 9) if " → " in line.plain]
    assert way.endswith(state)


TEXT = st.text(st.sampled_from("Madrid's .,是ก\u0301 ab-"), max_size=12)


@given(TEXT, TEXT, TEXT)
def test_no_mark_stands_within_a_word_and_every_letter_is_there(kept: str, new: str, rejected: str) -> None:
    pane = CandidatePane(Turn())
    guess = Guess(1, 3, kept, new, "", None, 0)
    line = _text(pane, guess)
    words = "".join((kept + new).split())
    assert re.sub(r"[✓+✗\s]", "", line) == words
    at = 0
    for mark in re.finditer(r"([✓+]) | ", line):
        at = len(re.sub(r"[✓+\s]", "", line[: mark.start()]))
        spaces = [place for place, _ in enumerate(words) if _spaced(kept + new, place)]
        if mark[1] and at:
            assert at in spaces or begins_word(words, at)
    assert ("✗" in _text(pane, guess._replace(rejected=rejected))) == bool(rejected.strip())


def _text(pane: CandidatePane, guess: Guess) -> str:
    return "\n".join(line.plain for line in pane.draw(guess, 200, 3))


def _spaced(text: str, place: int) -> bool:
    """Whether a space stands in ``text`` before the letter that is the one of this number, spaces not counted."""
    letters = [at for at, letter in enumerate(text) if not letter.isspace()]
    return place > 0 and text[letters[place] - 1].isspace()


@pytest.mark.parametrize(
    ("kept", "new", "rejected", "shown"),
    [
        ("Spain is M", "adrid.", "", "✓ Spain is + Madrid."),
        ("M", "adrid.", "", "+ Madrid."),
        ("Spain is M", "adrid.", "ilan.", "✓ Spain is + Madrid. ✗ Milan."),
        ("It is Paris", ". Enjoy", "", "✓ It is Paris. + Enjoy"),
        ("It is Paris", ".", "", "✓ It is Paris."),
        ("It is", " Paris.", " Rome.", "✓ It is + Paris. ✗ Rome."),
        ("首都", "是北京", "", "✓ 首都 + 是北京"),
    ],
)
def test_a_part_that_begins_within_a_word_is_marked_before_it(kept: str, new: str, rejected: str, shown: str) -> None:
    assert _text(CandidatePane(Turn()), Guess(1, 3, kept, new, rejected, None, 0)) == shown


def test_the_letters_of_a_divided_word_keep_their_own_style() -> None:
    (line,) = CandidatePane(Turn()).draw(Guess(1, 3, "Spain is M", "adrid.", "", None, 0), 200, 3)
    styled = {line.plain[span.start : span.end]: span.style for span in line.spans}
    assert (styled["M"], styled["adrid."]) == (".kept", ".new")
