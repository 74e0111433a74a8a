"""One synthesiser for many stages: each finds nothing in store, and silence takes what the profile says."""

from __future__ import annotations

import logging

import pytest

from predtui.clock import VirtualClock
from predtui.lab.bench.shared_synthesizer import SharedSynthesizer, SilentSynthesizer
from predtui.lab.profiles import HardwareProfile
from predtui.settings import TtsSettings
from predtui.state.events import ReplyCommitted, SpeechChunk
from predtui.state.stage import StageContext

PROFILE = HardwareProfile("toy", "", (1, 2), (0,), ((1.0, 1.0),), 1000.0, 50.0, 2.0)
SENTENCE = "The sun is a star, and it is very far away."


def test_silence_begins_after_the_first_sound_of_the_profile() -> None:
    clock = VirtualClock()
    stage = SilentSynthesizer(PROFILE).stage(clock)
    list(stage.open(StageContext(clock, lambda: False, logging.getLogger("test"))))
    start = clock.now()
    event = ReplyCommitted(turn=1, revision=1, text=SENTENCE, time=start)
    first = next(out for out in stage.handle(event) if isinstance(out, SpeechChunk) and out.pcm)
    assert not any(first.pcm)
    assert clock.now() - start == pytest.approx(0.05)
    stage.close()


def test_an_engine_is_loaded_once_and_counts_only_a_networks_work() -> None:
    shared = SharedSynthesizer(TtsSettings(engine="espeak"))
    assert shared.counters is None
    assert shared.stage(VirtualClock()) is not shared.stage(VirtualClock())
    assert SilentSynthesizer(PROFILE).counters is None
