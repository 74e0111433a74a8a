"""One turn out of a recording: what was asked, and what came of it; broken and empty recordings are told of."""

from __future__ import annotations

import pytest

from predtui.errors import PredtuiError
from predtui.state import events as ev
from predtui.state.asked import asked
from predtui.state.exchange import Exchange
from tests.state.test_heard import SPOKEN, pcm


def a_typed_turn(number: int, words: str, *history: ev.Message) -> list[ev.Event]:
    at, so_far = 10.0 * number, words.split()
    return [
        ev.TurnStarted(turn=number, time=at, history=history),
        *(
            ev.Transcript(turn=number, revision=count, time=at + 0.1 * count, stable=" ".join(so_far[:count]))
            for count in range(1, len(so_far) + 1)
        ),
        ev.Transcript(turn=number, revision=9, time=at + 1.0, stable=words, paused=True),
        ev.Transcript(turn=number, revision=9, time=at + 2.0, stable=words, unfinished=False, final=True),
        ev.ReplyCommitted(turn=number, revision=9, time=at + 2.1, text=f"{words}: yes."),
        ev.Baseline(turn=number, revision=9, time=at + 5.0, ttfs_ms=40.0),
    ]


SESSION = [
    *a_typed_turn(1, "is it so"),
    *a_typed_turn(2, "and now", ev.Message("user", "is it so"), ev.Message("assistant", "is it so: yes.")),
    ev.TurnStarted(turn=3, time=40.0),
    ev.Transcript(turn=3, revision=1, time=40.1, stable="half a"),
]


def test_a_turn_is_all_that_was_typed_and_all_that_came_of_it() -> None:
    first = asked(SESSION, 1)
    assert [line.text for line in first.lines] == ["is", "is it", "is it so", "is it so"], "a pause is no key"
    assert first.turn.reply_text == "is it so: yes."
    assert first.turn.baseline, "what was measured afterwards belongs to it"
    assert first.before == ()
    assert first.seconds == pytest.approx(1.9)


def test_without_a_number_it_is_the_last_one_that_was_asked_to_its_end() -> None:
    last = asked(SESSION)
    assert last.turn.prompt == "and now"
    assert last.before == (Exchange("is it so", "is it so: yes."),)


def test_of_a_spoken_turn_it_is_the_sound_up_to_its_end() -> None:
    ended = ev.Endpoint(turn=1, time=5.7)
    late = ev.AudioFrame(turn=1, time=6.0, pcm=pcm(0, 9), rate=1000)
    final = ev.Transcript(turn=1, revision=1, time=6.1, stable="hello", unfinished=False, final=True)
    spoken = asked([*SPOKEN[:3], ended, late, final])
    assert spoken.pcm() == pcm(0, 900)
    assert spoken.seconds == pytest.approx(0.9)


@pytest.mark.parametrize(
    ("events", "number", "says"),
    [
        (SESSION, 3, "no turn 3 was asked to its end here. It has turns 1, 2."),
        ([*SESSION[:-2], *a_typed_turn(3, "x")], 7, "It has turns 1 to 3."),
        (SESSION[-2:], 0, "no turn to ask again. Nothing was asked in it."),
        ([], 0, "Nothing was asked in it."),
    ],
)
def test_what_there_is_not_is_told(events: list[ev.Event], number: int, says: str) -> None:
    with pytest.raises(PredtuiError) as refused:
        asked(events, number)
    assert says in str(refused.value)
