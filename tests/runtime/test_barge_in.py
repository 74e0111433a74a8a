"""Talking over a reply: what it takes to end it, and that nothing else does."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predtui.clock import VirtualClock
from predtui.runtime.backchannels import BACKCHANNELS, COMMON, only_backchannels
from predtui.runtime.barge_in import AGAIN_S, COUGH_S, LONG_S, REAL_S, BargeIn, Judgement
from predtui.runtime.bus import Bus
from predtui.state import events as ev

FRAME_S = 0.02


class Room:
    """A hands-free reply that is playing, and who talks over it."""

    def __init__(self, language: str = "en") -> None:
        self.clock = VirtualClock()
        self.bus = Bus(self.clock)
        self.told: list[ev.Event] = []
        self.opened: list[float] = []
        self.bus.connect(lambda event, origin: None, BargeIn(self.bus, self.opened.append, language).react)
        self.bus.subscribe(self.told.append)
        self.bus.publish(ev.TurnStarted(source="voice"))
        self.bus.publish(ev.Playback(state="started"))
        self._speech = self._quiet = 0.0
        self._heard = False

    def hear(self, *stretches: tuple[bool, float]) -> None:
        """Speech (True) or quiet, each for so many seconds."""
        for speaking, seconds in stretches:
            for _ in range(round(seconds / FRAME_S)):
                self.clock.sleep(FRAME_S)
                self._speech += FRAME_S * speaking
                self._quiet = 0.0 if speaking else self._quiet + FRAME_S
                first, self._heard = not self._heard, True
                self.bus.publish(ev.Overheard(first=first, speech=self._speech, quiet=self._quiet))

    def words(self, text: str) -> None:
        self.bus.publish(ev.OverheardWords(text=text))

    @property
    def levels(self) -> list[ev.Loudness]:
        return [event.level for event in self.told if isinstance(event, ev.Duck)]


def test_the_microphone_is_opened_as_a_spoken_turns_reply_begins() -> None:
    assert [type(event) for event in Room().told][-1] is ev.Overhear


def test_a_typed_turns_reply_is_not_listened_over() -> None:
    room = Room()
    room.told.clear()
    room.bus.publish(ev.TurnStarted(source="typed"))
    room.bus.publish(ev.Playback(state="started"))
    assert not [event for event in room.told if isinstance(event, ev.Overhear)]


def test_a_cough_makes_it_soft_for_a_moment() -> None:
    room = Room()
    room.hear((True, REAL_S - 2 * FRAME_S), (False, COUGH_S + FRAME_S))
    assert room.levels == ["soft", "full"]
    assert not room.opened


@pytest.mark.parametrize("word", ["mm-hm", "yeah", "Okay.", "uh-huh", "I see", ""])
def test_who_only_listens_lets_it_go_on(word: str) -> None:
    room = Room()
    room.hear((True, 0.4))
    room.words(word)
    room.hear((True, 0.2), (False, AGAIN_S + FRAME_S))
    assert room.levels == ["soft", "held", "full"]
    assert not room.opened


@pytest.mark.parametrize("words", ["no wait", "what about spain", "stop"])
def test_who_says_something_ends_it(words: str) -> None:
    room = Room()
    room.hear((True, 0.4))
    room.words(words)
    room.hear((False, 0.3))
    assert room.levels == ["soft", "held"]
    assert len(room.opened) == 1


def test_long_speech_ends_it_whatever_its_words() -> None:
    room = Room()
    room.hear((True, LONG_S + 2 * FRAME_S))
    assert len(room.opened) == 1


def test_a_reply_stands_still_after_a_third_of_a_second_of_speech() -> None:
    room = Room()
    began = room.clock.now()
    room.hear((True, 0.5))
    soft, held = (event.time - began for event in room.told if isinstance(event, ev.Duck))
    assert soft == pytest.approx(FRAME_S)
    assert held == pytest.approx(REAL_S, abs=1.5 * FRAME_S)


@pytest.mark.parametrize("state", ["failed", "restarting", "silent"])
def test_it_goes_on_where_nobody_listens_any_more(state: ev.StageState) -> None:
    room = Room()
    room.hear((True, 0.5))
    room.bus.publish(ev.StageStatus(stage="mic", state=state))
    assert room.levels[-1] == "full"


@given(
    st.lists(st.tuples(st.booleans(), st.floats(0.02, 1.0)), max_size=6),
    st.lists(st.sampled_from(["", "mm", "yeah", "no", "no wait", "stop that"]), max_size=6),
)
def test_a_softer_reply_ends_or_goes_on(stretches: Sequence[tuple[bool, float]], words: Sequence[str]) -> None:
    """Whatever is said, once it is quiet: never left soft or standing, and never ended twice."""
    room = Room()
    for index, stretch in enumerate(stretches):
        room.hear(stretch)
        if index < len(words):
            room.words(words[index])
    room.hear((False, 1.0))
    assert len(room.opened) <= 1
    assert room.opened or not room.levels or room.levels[-1] == "full"
    assert all(one != other for one, other in zip(room.levels, room.levels[1:], strict=False))


@given(st.sampled_from(sorted(BACKCHANNELS)), st.data())
def test_backchannels_are_words_of_their_language(language: str, data: st.DataObject) -> None:
    words = data.draw(st.lists(st.sampled_from(sorted(COMMON | BACKCHANNELS[language])), max_size=4))
    assert only_backchannels(" ".join(words), f"{language}-x")
    assert not only_backchannels(" ".join([*words, "spain"]), language)


def test_what_has_interrupted_does_so_for_good() -> None:
    assert Judgement("held", True).after(0.0, 9.0, "", "en").interrupts
