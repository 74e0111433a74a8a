"""The stages "mic" and "player", opened on a virtual clock, and what they say."""

from __future__ import annotations

import logging
from collections.abc import Callable

from predtui.audio.mic import MicrophoneStage
from predtui.audio.player import PlayerStage
from predtui.clock import VirtualClock
from predtui.settings import AudioSettings
from predtui.state import events as ev
from predtui.state.stage import StageContext

NONE = AudioSettings(input="none", output="none")


def opened(stage: MicrophoneStage | PlayerStage, stale: Callable[[], bool] = lambda: False) -> VirtualClock:
    clock = VirtualClock()
    said = list(stage.open(StageContext(clock, stale, logging.getLogger("test"))))
    assert all(isinstance(event, ev.StageStatus) and "switched off" in event.message for event in said)
    return clock


def of(kind: type[ev.Event], events: list[ev.Event]) -> list[ev.Event]:
    return [event for event in events if isinstance(event, kind)]


def opening(stage: MicrophoneStage | PlayerStage) -> list[ev.Event]:
    return list(stage.open(StageContext(VirtualClock(), lambda: False, logging.getLogger("test"))))


def lacking(events: list[ev.Event]) -> list[str]:
    return [event.lacks for event in events if isinstance(event, ev.StageStatus)]
