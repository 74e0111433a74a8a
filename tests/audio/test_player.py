"""The stage "player" on a virtual clock: playback, interruption, late chunks; and both stages without a device."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator

import pytest

from predtui.audio import mic, player
from predtui.audio.mic import MicrophoneStage
from predtui.audio.player import LOOK_SECONDS, PlayerStage
from predtui.clock import VirtualClock
from predtui.settings import AudioSettings
from predtui.state import events as ev
from predtui.state.stage import StageContext
from tests.audio.fake_sounddevice import FakeSound
from tests.audio.opened import NONE, lacking, of, opened, opening


def reply(turn: int, index: int, seconds: float, last: bool = False, rate: int = 16000) -> ev.SpeechChunk:
    return ev.SpeechChunk(turn=turn, index=index, pcm=b"\x10\x00" * int(seconds * rate), rate=rate, last=last)


def test_a_reply_from_start_to_end() -> None:
    stage = player.create(NONE)
    clock = opened(stage)
    assert list(stage.handle(reply(1, 0, 0.5))) == [ev.Playback(state="started", index=0, seconds=0.0)]
    assert not list(stage.handle(reply(1, 1, 0.5)))
    clock.advance(0.25)
    assert list(stage.idle()) == [ev.Playback(state="playing", index=0, seconds=0.25, within=0.25)]
    clock.advance(0.5)
    assert list(stage.idle()) == [ev.Playback(state="playing", index=1, seconds=0.75, within=0.25)]
    assert not list(stage.handle(ev.SpeechEnd(turn=1)))
    clock.advance(0.5)
    assert list(stage.idle()) == [ev.Playback(state="finished", index=1, seconds=1.0, within=0.5)]
    assert not list(stage.idle())


def test_how_long_a_sentence_lasts_is_told_once_all_of_it_is_there() -> None:
    stage = player.create(NONE)
    clock = opened(stage)
    list(stage.handle(reply(1, 0, 0.5)))
    list(stage.handle(reply(1, 0, 0.3)))
    clock.advance(0.25)
    assert list(stage.idle()) == [ev.Playback(state="playing", index=0, seconds=0.25, within=0.25)]
    list(stage.handle(ev.SpeechChunk(turn=1, index=0, rate=16000, last=True)))
    list(stage.handle(reply(1, 1, 0.4, last=True)))
    clock.advance(0.25)
    (told,) = stage.idle()
    assert told == ev.Playback(state="playing", index=0, seconds=0.5, within=0.5, of=0.8)
    clock.advance(0.4)
    (told,) = stage.idle()
    assert isinstance(told, ev.Playback)
    assert (told.index, told.within, told.of) == pytest.approx((1, 0.1, 0.4))


def test_a_gap_between_sentences_is_no_end() -> None:
    stage = player.create(NONE)
    clock = opened(stage)
    list(stage.handle(reply(1, 0, 0.5)))
    clock.advance(1.0)
    assert not list(stage.idle())
    assert not list(stage.handle(reply(1, 1, 0.5)))
    clock.advance(0.1)
    (playing,) = stage.idle()
    assert isinstance(playing, ev.Playback)
    assert playing.seconds == pytest.approx(0.6)


def test_interruption_and_late_chunks() -> None:
    stage = player.create(NONE)
    clock = opened(stage)
    list(stage.handle(reply(1, 0, 1.0)))
    clock.advance(0.5)
    assert list(stage.handle(ev.Interrupt(turn=1))) == [ev.Playback(state="stopped", index=0, seconds=0.5, within=0.5)]
    assert not list(stage.handle(ev.Interrupt(turn=1))), "claimed once"
    assert not list(stage.handle(reply(1, 1, 1.0)))
    assert not list(stage.handle(ev.SpeechEnd(turn=1)))
    assert not list(stage.idle())
    assert list(stage.handle(reply(2, 0, 1.0))) == [ev.Playback(state="started", index=0, seconds=0.0)]


def test_an_interrupt_stamped_with_the_next_turn_leaves_its_reply_alone() -> None:
    stage = player.create(NONE)
    opened(stage)
    list(stage.handle(ev.SpeechChunk(turn=1, revision=4, pcm=bytes(3200), rate=16000)))
    list(stage.handle(ev.Interrupt(turn=2)))
    assert not list(stage.handle(ev.SpeechChunk(turn=1, revision=5, pcm=bytes(3200), rate=16000)))
    assert list(stage.handle(ev.SpeechChunk(turn=2, revision=3, pcm=bytes(3200), rate=16000)))


def test_an_interrupt_before_the_first_chunk() -> None:
    stage = player.create(NONE)
    opened(stage)
    assert not list(stage.handle(ev.Interrupt(turn=1, revision=3)))
    assert not list(stage.handle(reply(1, 0, 1.0)))


def test_a_reply_without_sound_ends_too() -> None:
    stage = player.create(NONE)
    opened(stage)
    assert not list(stage.handle(ev.SpeechChunk(turn=1, last=True)))
    assert list(stage.handle(ev.SpeechEnd(turn=1))) == [ev.Playback(state="finished")]


def test_a_new_reply_stops_the_old_one() -> None:
    stage = player.create(NONE)
    clock = opened(stage)
    list(stage.handle(reply(1, 0, 1.0)))
    clock.advance(0.4)
    events = list(stage.handle(reply(2, 0, 1.0)))
    assert [event.state for event in events if isinstance(event, ev.Playback)] == ["stopped", "started"]


def test_started_waits_for_the_device(sound: FakeSound) -> None:
    """ "Started" is not said before PortAudio has taken a sample, which the clock's sleep stands for here."""
    stage = player.create(AudioSettings())

    class Clock(VirtualClock):
        def sleep(self, seconds: float) -> None:
            super().sleep(seconds)
            if self.now() > 0.01:
                sound.streams[0].take(64)

    clock = Clock()
    assert not list(stage.open(StageContext(clock, lambda: False, logging.getLogger("test"))))
    events: Iterator[ev.Event] = stage.handle(reply(1, 0, 0.5))
    assert isinstance(next(events), ev.Playback)
    assert 0.01 < clock.now() < 0.02


@pytest.mark.parametrize(("make", "device"), [(mic.create, "microphone"), (player.create, "loudspeaker")])
def test_a_device_that_is_missing_or_switched_off_is_told(
    sound: FakeSound, make: Callable[[AudioSettings], MicrophoneStage | PlayerStage], device: str
) -> None:
    assert opening(make(AudioSettings())) == []
    assert lacking(opening(make(NONE))) == [device]
    sound.rows = []
    (status,) = of(ev.StageStatus, opening(make(AudioSettings())))
    assert isinstance(status, ev.StageStatus)
    assert status.lacks == device
    assert "Plug one in" in status.message
    assert status.progress == 1.0, "the host repeats it"


def test_a_loudspeaker_that_comes_back_is_played_on_again(sound: FakeSound) -> None:
    stage, clock = player.create(AudioSettings()), VirtualClock()
    assert not list(stage.open(StageContext(clock, lambda: False, logging.getLogger("test"))))
    sound.streams[0].active, rows, sound.rows = False, sound.rows, []
    said = list(stage.handle(reply(1, 0, 0.5)))
    assert lacking(said) == ["loudspeaker"]
    list(stage.handle(ev.SpeechEnd(turn=1)))
    clock.advance(1.0)
    list(stage.idle())
    clock.advance(LOOK_SECONDS)
    assert not list(stage.idle()), "still gone"
    sound.rows = rows
    assert not list(stage.idle()), "it is not looked for all the time"
    clock.advance(LOOK_SECONDS)
    back = list(stage.idle())
    assert lacking(back) == [""]
    assert [event.text for event in back if isinstance(event, ev.Notice)] == [
        "There is a loudspeaker again: replies are heard."
    ]
    list(stage.handle(reply(2, 0, 0.5)))
    assert sound.streams[-1].take(100) == b"\x10\x00" * 100
    clock.advance(60)
    assert not lacking(list(stage.idle()))


def test_a_reply_that_ran_dry_is_told_of_with_the_next(sound: FakeSound) -> None:
    stage = player.create(AudioSettings())
    assert opening(stage) == []
    list(stage.handle(reply(1, 0, 0.5)))
    sound.streams[0].take(100, dry=True)
    notices = [event.text for event in stage.handle(reply(2, 0, 0.5)) if isinstance(event, ev.Notice)]
    assert notices == ["The loudspeaker ran dry 1 time: the machine is busy. It keeps more sound now."]


def test_a_reply_stands_still_while_somebody_talks_over_it() -> None:
    stage = player.create(NONE)
    clock = opened(stage)
    list(stage.handle(reply(1, 0, 1.0)))
    clock.advance(0.3)
    assert list(stage.handle(ev.Duck(turn=1, level="held"))) == [
        ev.Playback(state="playing", index=0, seconds=0.3, within=0.3)
    ]
    clock.advance(5.0)
    (told,) = stage.handle(ev.Duck(turn=1, level="full"))
    assert isinstance(told, ev.Playback)
    assert (told.state, told.seconds) == ("playing", pytest.approx(0.3))
    clock.advance(0.2)
    (stopped,) = stage.handle(ev.Interrupt(turn=1))
    assert isinstance(stopped, ev.Playback)
    assert stopped.seconds == pytest.approx(0.5)
    assert not list(stage.handle(ev.Duck(turn=1, level="soft"))), "nothing is playing"
    list(stage.handle(ev.Duck(turn=1, level="held")))
    assert list(stage.handle(reply(2, 0, 1.0))) == [ev.Playback(state="started", index=0, seconds=0.0)]
    clock.advance(0.4)
    (told,) = stage.idle()
    assert isinstance(told, ev.Playback)
    assert told.seconds == pytest.approx(0.4), "another reply is at full level"
