"""Devices by name, and the line for what is missing."""

from __future__ import annotations

import builtins
import sys
from typing import Any

import pytest

from predtui.audio import devices
from predtui.errors import PredtuiError
from tests.audio.fake_sounddevice import FakeSound


def test_default_is_the_systems(sound: FakeSound) -> None:
    assert devices.find("input").name == "USB Headset"
    assert devices.find("output").name == "Speakers"


@pytest.mark.parametrize("name", ["Built-in Mic", "built", "0"])
def test_by_name_part_or_index(sound: FakeSound, name: str) -> None:
    assert devices.find("input", name).index == 0


def test_an_output_is_no_input(sound: FakeSound) -> None:
    with pytest.raises(PredtuiError, match=r"no microphone is called 'Speakers'.*0 Built-in Mic, 1 USB Headset"):
        devices.find("input", "Speakers")


def test_ambiguous_name_is_refused_whole_name_is_not(sound: FakeSound) -> None:
    sound.rows.append(sound.row("USB Headset 2", 1, 0))
    with pytest.raises(PredtuiError, match="several microphones match 'usb'"):
        devices.find("input", "usb")
    assert devices.find("input", "usb headset").index == 1


def test_none_at_all(sound: FakeSound) -> None:
    sound.rows.clear()
    assert devices.missing("input").startswith("no microphone found.")


def test_rate_falls_back_to_the_devices_own(sound: FakeSound) -> None:
    device = devices.find("input")
    assert devices.supported_rate("input", device, 16000) == 16000
    sound.rates = (48000,)
    assert devices.supported_rate("input", device, 16000) == 48000


@pytest.mark.parametrize(("error", "remedy"), [(OSError, "libportaudio2"), (ImportError, "pip install sounddevice")])
def test_missing_library_names_its_remedy(monkeypatch: pytest.MonkeyPatch, error: type[Exception], remedy: str) -> None:
    real = builtins.__import__

    def refuse(name: str, *rest: Any, **options: Any) -> Any:
        if name == "sounddevice":
            raise error("PortAudio library not found")
        return real(name, *rest, **options)

    monkeypatch.delitem(sys.modules, "sounddevice", raising=False)
    monkeypatch.setattr(builtins, "__import__", refuse)
    assert remedy in devices.missing("output")
