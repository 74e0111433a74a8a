"""Which sound devices there are, and, where one is missing, the line that says how to get it.

The only module that imports sounddevice, and only when asked: without PortAudio that import fails.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from typing import Any, Literal

from predtui.errors import PredtuiError
from predtui.state.events import StageState, StageStatus

Kind = Literal["input", "output"]
NOUN: dict[Kind, str] = {"input": "microphone", "output": "loudspeaker"}
NO_DEVICE = "none"
"""The name of a device that is switched off."""
LONGEST_S = 10.0
"""That a list of devices is waited for."""


@dataclass(frozen=True, slots=True)
class Device:
    """One sound device: ``rate`` is its own samples per second, ``channels`` those of the direction asked for."""

    index: int
    name: str
    channels: int
    rate: int
    default: bool = False


def portaudio() -> Any:
    """The sounddevice module. Raises PredtuiError with the remedy where the package or its library is missing."""
    try:
        import sounddevice
    except ImportError as error:
        raise PredtuiError("no live sound: the package sounddevice is missing.", "pip install sounddevice") from error
    except OSError as error:
        raise PredtuiError(
            "no live sound: the PortAudio library is missing.",
            "Debian and Ubuntu: apt install libportaudio2; Fedora: dnf install portaudio.",
        ) from error
    return sounddevice


def devices(kind: Kind) -> list[Device]:
    """All devices that can do ``kind``; empty where there are none. Raises PredtuiError without PortAudio."""
    sound = portaudio()
    try:
        rows = list(sound.query_devices())
        chosen = sound.default.device[0 if kind == "input" else 1]
    except sound.PortAudioError as error:
        raise PredtuiError(f"the sound system does not answer: {error}.", "Is a sound server running?") from error
    field = f"max_{kind}_channels"
    return [
        Device(index, str(row["name"]), int(row[field]), int(row["default_samplerate"]), index == chosen)
        for index, row in enumerate(rows)
        if row[field] > 0
    ]


def find(kind: Kind, name: str = "") -> Device:
    """The device called ``name``: its index, its whole name, or a part of it in any case; "" for the default.

    Raises PredtuiError, naming what there is, where nothing or more than one thing matches.
    """
    found = devices(kind)
    if not found:
        raise PredtuiError(f"no {NOUN[kind]} found.", "Plug one in, or choose another in the system's sound settings.")
    if not name:
        return next((device for device in found if device.default), found[0])
    matches = _matching(found, name)
    if len(matches) == 1:
        return matches[0]
    problem = f"several {NOUN[kind]}s match {name!r}" if matches else f"no {NOUN[kind]} is called {name!r}"
    choice = ", ".join(f"{device.index} {device.name}" for device in matches or found)
    raise PredtuiError(f"{problem}.", f"Choose one of: {choice}.")


def _matching(found: list[Device], name: str) -> list[Device]:
    """The first device that is called exactly ``name``, else all whose name has it in it."""
    wanted = name.casefold()
    exact = [device for device in found if device.name.casefold() == wanted or str(device.index) == name]
    return exact[:1] or [device for device in found if wanted in device.name.casefold()]


def missing(kind: Kind, name: str = "") -> str:
    """One line that says what is missing and how to get it; "" when the device is there."""
    try:
        find(kind, name)
    except PredtuiError as error:
        return str(error)
    return ""


def supported_rate(kind: Kind, device: Device, wanted: int) -> int:
    """``wanted`` if the device takes 16-bit mono at that rate, else the device's own rate."""
    sound = portaudio()
    check = sound.check_input_settings if kind == "input" else sound.check_output_settings
    try:
        check(device=device.index, channels=1, dtype="int16", samplerate=wanted)
    except (sound.PortAudioError, ValueError):
        return device.rate
    return wanted


def rescan() -> None:
    """Look for devices again: PortAudio keeps the list it made at its start. Streams that are open are lost."""
    sound = portaudio()
    try:
        sound._terminate()
        sound._initialize()
    except sound.PortAudioError as error:
        raise PredtuiError(f"the sound system does not answer: {error}.", "Is a sound server running?") from error


def switched_off(kind: Kind) -> str:
    """The line for a device that was chosen to be none."""
    return (
        f"the {NOUN[kind]} is switched off. Name one in the setting audio.{kind}, or leave that empty for the default."
    )


def without(kind: Kind, problem: str, state: StageState = "ready") -> StageStatus:
    """The stage works on: without its device where there is a ``problem``, else with it."""
    return StageStatus(state=state, message=problem, lacks=NOUN[kind] if problem else "", progress=1.0)


def listing() -> dict[Kind, list[str]]:
    """The names of all devices. Raises PredtuiError without PortAudio.

    In a process of its own: sound libraries write to the terminal, and one that crashes takes its process along.
    """
    command = [sys.executable, "-c", "from predtui.audio.devices import tell; tell()"]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=LONGEST_S, check=False)
        told = json.loads(done.stdout)
    except (OSError, subprocess.TimeoutExpired, ValueError) as error:
        raise PredtuiError("the sound system does not answer.", "Is a sound server running?") from error
    if problem := told.get("problem"):
        raise PredtuiError(problem)
    return {"input": told["input"], "output": told["output"]}


def tell() -> None:
    """What ``listing`` reads."""
    try:
        told: dict[str, Any] = {kind: [device.name for device in devices(kind)] for kind in NOUN}
    except PredtuiError as error:
        told = {"problem": str(error)}
    print(json.dumps(told))
