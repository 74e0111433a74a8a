"""Fixtures of the audio tests."""

from __future__ import annotations

import sys

import pytest

from tests.audio.fake_sounddevice import FakeSound


@pytest.fixture
def sound(monkeypatch: pytest.MonkeyPatch) -> FakeSound:
    fake = FakeSound()
    monkeypatch.setitem(sys.modules, "sounddevice", fake)
    return fake
