"""The energy of a turn: from its beginning to the end of its reply, and not what comes after."""

from __future__ import annotations

from pathlib import Path

import pytest

from predtui.clock import VirtualClock
from predtui.runtime.bus import Bus
from predtui.runtime.energy import EnergyMeter
from predtui.state import events as ev
from predtui.system.energy import Rapl
from tests.system.test_energy import zone

VOICE = ev.StageStatus(stage="player", state="ready")


class Metered:
    """A bus on which a turn is played, and the counter that it is measured with."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._joules = folder, 0.0
        self.use(0.0)
        self.told: list[ev.Energy] = []
        self.bus = Bus(VirtualClock(10.0))
        self.bus.connect(lambda event, origin: None, EnergyMeter(self.bus, Rapl(folder)).react)
        self.bus.subscribe(lambda event: self.told.append(event) if isinstance(event, ev.Energy) else None)

    def use(self, joules: float) -> None:
        self._joules += joules
        zone(self._folder, "intel-rapl:0", self._joules)

    def play(self, *events: ev.Event) -> None:
        """Each of them costs a joule before it comes."""
        for event in events:
            self.use(1.0)
            self.bus.enter(event)


def answered(turn: int) -> list[ev.Event]:
    final = ev.Transcript(turn=turn, stable="hello", final=True)
    reply = ev.ReplyFinished(turn=turn, prompt="hello", text="Hi.", sentences=1)
    playing = [ev.Playback(turn=turn, state=state) for state in ("started", "finished")]
    return [final, ev.ReplyCommitted(turn=turn, text="Hi."), reply, *playing]


def test_a_reply_takes_what_is_used_until_it_has_been_heard(tmp_path: Path) -> None:
    metered = Metered(tmp_path)
    metered.use(100.0)
    for turn in (1, 2):
        metered.play(ev.TurnStarted(turn=turn), *answered(turn))
        assert not metered.bus.state.busy
        metered.play(VOICE)
        metered.use(1000.0)
        metered.play(VOICE)
        assert [(told.turn, told.joules) for told in metered.told] == [
            (one, pytest.approx(5.0)) for one in range(1, turn + 1)
        ]
        assert metered.bus.state.joules == pytest.approx(5.0)
    metered.play(ev.TurnStarted(turn=3))
    assert metered.bus.state.joules is None


def test_a_turn_without_a_reply_has_no_energy(tmp_path: Path) -> None:
    metered = Metered(tmp_path)
    metered.play(ev.TurnStarted(turn=1), ev.Interrupt(turn=1), VOICE)
    assert not metered.told


def test_without_counters_nothing_is_told(tmp_path: Path) -> None:
    metered = Metered(tmp_path)
    (tmp_path / "intel-rapl:0" / "energy_uj").write_text("")
    for event in (ev.TurnStarted(turn=1), *answered(1)):
        metered.bus.enter(event)
    assert metered.bus.state.reply
    assert not metered.told
