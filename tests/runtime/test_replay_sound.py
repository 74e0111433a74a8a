"""The sound of a replay follows its player: at its own speed only, from wherever one goes, and not without a device."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import cast

import pytest

from predtui.clock import VirtualClock
from predtui.runtime.build import loudspeaker
from predtui.runtime.hosts.base import Emit, Host
from predtui.runtime.replay_sound import ReplaySound
from predtui.settings import AudioSettings, Settings
from predtui.state import events as ev
from predtui.state.heard import Heard
from predtui.state.player import Player
from predtui.state.tape import Tape
from tests.state.test_heard import SPOKEN, pcm


class Spoken(Player):
    def __init__(self, clock: VirtualClock) -> None:
        super().__init__(Tape(events=[]), clock)
        self.heard = Heard()
        for event in [*SPOKEN, ev.Usage(time=20.0)]:
            self.heard.add(event, self.tape.add(event))


@dataclass
class Stage:
    """Plays nowhere; its sounds, and where they were stopped."""

    emit: Emit
    asked: list[ev.Event] = field(default_factory=list)

    def send(self, event: ev.Event) -> None:
        self.asked.append(event)

    def start(self) -> None: ...

    def stop(self) -> None: ...

    def now(self) -> list[bytes | str]:
        asked, self.asked = self.asked, []
        return [bytes(e.pcm) if isinstance(e, ev.SpeechChunk) else type(e).__name__ for e in asked]


def until(true: Callable[[], object]) -> None:
    limit = time.monotonic() + 60
    while not true():
        assert time.monotonic() < limit
        time.sleep(0.005)


def test_sound_follows_the_player() -> None:
    clock, stages = VirtualClock(), list[Stage]()
    player = Spoken(clock)

    def make(emit: Emit) -> Host:
        stages.append(Stage(emit))
        return cast(Host, stages[-1])

    sound = ReplaySound(player, make)
    (stage,) = stages

    def after(*acts: object) -> list[bytes | str]:
        sound.follow()
        return stage.now()

    assert after(player.seek(3.7)) == []
    assert after(player.toggle()) == [pcm(1500, 500), "SpeechEnd"]
    assert after(clock.advance(0.25)) == [], "it plays on by itself"
    assert after(player.toggle()) == ["Interrupt"]
    assert after(player.toggle()) == [pcm(1750, 250), "SpeechEnd"]
    assert after(player.seek(0.0)) == [pcm(300, 600), "SpeechEnd"]
    assert after(clock.advance(1.0)) == [], "what has ended is not cut off"
    assert after(clock.advance(1.25)) == [pcm(50, 1950), "SpeechEnd"], "the next begins by itself"
    assert after(player.change_speed(1)) == ["Interrupt"], "at another speed it would be another voice"
    assert after(clock.advance(0.1)) == []


@pytest.mark.parametrize(("output", "says"), [("none", "switched off"), ("no such thing", "The replay has no sound.")])
def test_no_loudspeaker_is_told_of_by_the_real_stage_and_no_more(output: str, says: str) -> None:
    settings, told = Settings(audio=AudioSettings(output=output)), list[str]()
    sound = ReplaySound(Spoken(VirtualClock()), lambda emit: loudspeaker(settings, emit))
    sound.start(told.append)
    until(lambda: told)
    sound.stop()
    assert sound.lacks == "no loudspeaker"
    assert says in told[0]


def test_mute_opens_nothing() -> None:
    sound = ReplaySound(Spoken(VirtualClock()), None)
    sound.start(print)
    sound.stop()
    assert sound.lacks == "mute"
